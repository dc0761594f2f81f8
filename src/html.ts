// A JSON document cannot carry a symbol, so nothing read from one can pass for finished markup.
const markup = Symbol('markup')

export interface Html {
  readonly [markup]: string
}

export type Part = string | number | Html | readonly Part[] | undefined | null | false

const entities: Record<string, string> = { '&': '&amp;', '<': '&lt;', '>': '&gt;', '"': '&quot;', "'": '&#39;' }

const escape = (text: string): string => text.replace(/[&<>"']/g, (character) => entities[character] ?? character)

const isMarkup = (part: Part): part is Html => typeof part === 'object' && part !== null && markup in part

const write = (part: Part): string => {
  if (part === undefined || part === null || part === false) return ''
  if (isMarkup(part)) return part[markup]
  if (Array.isArray(part)) return part.map(write).join('')
  // Only a malformed document has another object here; it is shown, escaped, rather than trusted.
  return escape(typeof part === 'object' ? JSON.stringify(part) : String(part))
}

/** Escapes every value put into the template. Line breaks of the template itself are dropped to keep pages small. */
export const html = (strings: TemplateStringsArray, ...parts: Part[]): Html => ({
  [markup]: strings.map((text, index) => text.replace(/\n\s*/g, '') + write(parts[index])).join(''),
})

export const render = (part: Part): string => write(part)

export const join = (parts: readonly Part[], separator: Part): Part[] =>
  parts.flatMap((part, index) => (index === 0 ? [part] : [separator, part]))

/** The address of an element of this page. */
export const anchor = (id: string): string => `#${encodeURIComponent(id)}`
