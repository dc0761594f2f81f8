import { v5, v7 } from 'uuid'

/** A new id. Ids of one process ascend, and the millisecond inside is the row's `created_at`. */
export const newId = (): string => v7()

/** The same id, made this much later. */
export function laterBy(id: string, ms: number): string {
  if (ms === 0) return id
  const time = (timeOfId(id).getTime() + ms).toString(16).padStart(12, '0')
  return `${time.slice(0, 8)}-${time.slice(8)}${id.slice(13)}`
}

/** The id of something that others call by a name: always the same for the same name within `namespace`, an id. */
export const namedId = (name: string, namespace: string): string => v5(name, namespace)

export function timeOfId(id: string): Date {
  return new Date(Number.parseInt(id.slice(0, 8) + id.slice(9, 13), 16))
}

/** The smallest id of a millisecond. */
export const firstIdOf = (ms: number): string => idOf(Math.max(0, ms), '0')

/** The largest id of a millisecond; of one before 1970, which no id has, the one before all. */
export const lastIdOf = (ms: number): string => (ms < 0 ? idOf(0, '0') : idOf(ms, 'f'))

function idOf(ms: number, filling: '0' | 'f'): string {
  const [time, rest] = [ms.toString(16).padStart(12, '0'), filling.repeat(4)]
  return `${time.slice(0, 8)}-${time.slice(8)}-${rest}-${rest}-${filling.repeat(12)}`
}

const digits = '0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz'
const base = 62n
const largest = 2n ** 128n - 1n
/** As many digits as a number holds exactly: the rest is done without big integers, which are ten times as slow. */
const chunkLength = 8
const chunk = base ** BigInt(chunkLength)

/** The short spelling of an id, in base 62: at most 22 characters, 21 for any of ours, which therefore sort as their ids do. */
export function reconciliationIdOf(id: string): string {
  const value = BigInt(`0x${id.replaceAll('-', '')}`)
  const text = [value / chunk / chunk, (value / chunk) % chunk, value % chunk]
    .map((part) => inBase62(Number(part)))
    .join('')
  return text.replace(/^0+(?=.)/, '')
}

function inBase62(number: number): string {
  let [text, rest] = ['', number]
  for (let place = 0; place < chunkLength; place += 1) {
    text = digits.charAt(rest % 62) + text
    rest = Math.floor(rest / 62)
  }
  return text
}

/** The id that has this short spelling; undefined when none has. */
export function idOfReconciliationId(text: string): string | undefined {
  if (!/^(0|[1-9A-Za-z][0-9A-Za-z]{0,21})$/.test(text)) return undefined
  const value = Array.from(text).reduce((sum, digit) => sum * base + BigInt(digits.indexOf(digit)), 0n)
  if (value > largest) return undefined
  const hex = value.toString(16).padStart(32, '0')
  return [hex.slice(0, 8), hex.slice(8, 12), hex.slice(12, 16), hex.slice(16, 20), hex.slice(20)].join('-')
}

/** In the one spelling that is taken: lower case, with dashes. */
export const isUuid = (text: string) => /^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/.test(text)
