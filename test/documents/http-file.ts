/** A request of an HTTP file, as an editor would send it. */
export interface FileRequest {
  name: string
  method: string
  /** With its variables put in. */
  url: string
  /** Without them. */
  path: string
  headers: Record<string, string>
  body: string | undefined
  /** Ids of what must be there first. */
  needs: string[]
}

/** Reads the format: variables `@name = value`, requests behind `###`, a request line, headers, an empty line, a body. */
export function readHttpFile(text: string, variable: (name: string, isInBody: boolean) => string): FileRequest[] {
  const [head = '', ...parts] = text.split(/^### /m)
  const declared = new Set([...head.matchAll(/^@(\w+) =/gm)].map(([, name]) => name))
  const filled = (template: string, isInBody = false) =>
    template.replace(/\{\{(\$?\w+)\}\}/g, (_whole, name: string) => {
      if (!name.startsWith('$') && !declared.has(name)) throw new Error(`${name} is not declared`)
      return variable(name, isInBody)
    })
  return parts.map((part) => {
    const [top = '', ...body] = part.split('\n\n')
    const [name = '', line = '', ...headers] = top.split('\n')
    const [method = '', path = ''] = line.split(' ')
    return {
      name,
      method,
      url: filled(path),
      path: path.replace('{{baseUrl}}', ''),
      headers: Object.fromEntries(headers.map((header) => filled(header).split(': ', 2) as [string, string])),
      body: filled(body.join('\n\n'), true).trim() || undefined,
      needs: [...part.matchAll(/\{\{(\w+_id)\}\}/g)].map(([, needed = '']) => needed),
    }
  })
}
