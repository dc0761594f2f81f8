/** A code block of a Markdown file. */
export interface Block {
  language: string
  /** What stands behind the language: `expect=400`, `schema=Error`, `until=Ctrl-C`. */
  expect: number | undefined
  schema: string | undefined
  /** A terminal of its own, left open when it has printed this. */
  until: string | undefined
  text: string
  /** Where it begins in the file. */
  line: number
}

const fence = /^( *)(`{3,})(\S*)[ \t]*(.*)\n([\s\S]*?)^ *\2[ \t]*$/gm

export function blocksOf(markdown: string): Block[] {
  return [...markdown.matchAll(fence)].map(
    ({ index, 1: indent = '', 3: language = '', 4: info = '', 5: text = '' }) => ({
      language,
      expect: Number(/\bexpect=(\d{3})\b/.exec(info)?.[1]) || undefined,
      schema: /\bschema=(\w+)/.exec(info)?.[1],
      until: /\buntil=(\S+)/.exec(info)?.[1],
      text: text.replaceAll(new RegExp(`^${indent}`, 'gm'), ''),
      line: markdown.slice(0, index).split('\n').length,
    }),
  )
}

/** Values that are different every time: written as what they look like, so only the kind of value is compared. */
const kinds = [
  /^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/,
  /^\d{4}-\d\d-\d\dT[\d:.]+Z$/,
  /^whsec_[\w+/=]+$/,
  /^https?:\/\/127\.0\.0\.1:\d+\//,
]
const randomNames = /(^|_)(id|identifier|secret|thumbprint|cursor|fingerprint|token|key|jti|kid|reference|code)$/

const isPlaceholder = (name: string, said: unknown, given: unknown) =>
  typeof said === 'string' &&
  typeof given === 'string' &&
  (kinds.some((kind) => kind.test(said) && kind.test(given)) ||
    (randomNames.test(name) && !/(error|response)_code$/.test(name) && name !== 'code'))

/** What a document says that is not so: each field that it shows must be there, with the same value. */
export function differences(said: unknown, given: unknown, path = ''): string[] {
  if (typeof said !== 'object' || said === null) {
    if (said === given || isPlaceholder(path.split('/').at(-1) ?? '', said, given)) return []
    return [`${path} is ${JSON.stringify(given)}, not ${JSON.stringify(said)}`]
  }
  if (typeof given !== 'object' || given === null || Array.isArray(said) !== Array.isArray(given))
    return [`${path} is ${JSON.stringify(given)}, not ${JSON.stringify(said)}`]
  const fields = given as Record<string, unknown>
  return Object.entries(said).flatMap(([name, value]) =>
    name in fields ? differences(value, fields[name], `${path}/${name}`) : [`${path}/${name} is not there`],
  )
}

/** The JSON that a command printed: all of its output, or else the last line that is JSON. */
export function printedJson(output: string): unknown {
  for (const text of [output, ...output.trimEnd().split('\n').reverse()]) {
    try {
      return JSON.parse(text)
    } catch {
      // the next one may be
    }
  }
  return undefined
}
