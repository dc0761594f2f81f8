import { minorDigits } from '../../currencies.ts'
import { printable } from './terminal-text.ts'

/** Values of an answer as people read them. */

export type Json = Record<string, unknown>

/** The text of what is at a place like `payment_method.label`. */
export function textAt(item: Json, path: string): string {
  const names = path.split('.')
  const last = names.pop() ?? ''
  const node = names.reduce<unknown>((value, name) => (isObject(value) ? value[name] : undefined), item)
  return isObject(node) ? textOf(last, node) : ''
}

/** The text of a field. An amount is shown with the currency beside it, a moment without its fractions. */
export function textOf(name: string, node: Json): string {
  const value = node[name]
  if (value === null || value === undefined) return ''
  if (typeof value === 'string') return printable(isMoment(value) ? `${value.slice(0, 19)}Z` : value)
  if (typeof value === 'number') return amountText(name, value, node) ?? String(value)
  if (typeof value === 'boolean') return value ? 'yes' : 'no'
  if (Array.isArray(value) && value.every((entry) => typeof entry === 'string')) return printable(value.join(', '))
  return printable(JSON.stringify(value))
}

/** How long ago a moment was, in four characters. An account of a sandbox may be ahead of us. */
export function ageOf(moment: unknown, now: number): string {
  const seconds = Math.floor((now - Date.parse(String(moment))) / 1000)
  if (Number.isNaN(seconds)) return ''
  const sign = seconds < 0 ? '-' : ''
  const [size, unit] = ages.find(([least]) => Math.abs(seconds) >= least) ?? [1, 's']
  return `${sign}${Math.floor(Math.abs(seconds) / size)}${unit}`
}

const ages: readonly [seconds: number, unit: string][] = [
  [365 * 86_400, 'y'],
  [86_400, 'd'],
  [3_600, 'h'],
  [60, 'm'],
]

const isMoment = (text: string): boolean => /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(\.\d+)?Z$/.test(text)

function amountText(name: string, value: number, node: Json): string | undefined {
  const [isAmount, kind] = /^(?:(.+)_)?(?:amount|balance)$/.exec(name) ?? []
  if (isAmount === undefined || !Number.isSafeInteger(value)) return undefined
  const currency = node[`${kind}_currency`] ?? node['currency']
  return typeof currency === 'string' ? `${decimal(value, minorDigits(currency))} ${printable(currency)}` : undefined
}

function decimal(amount: number, digits: number): string {
  const text = String(Math.abs(amount)).padStart(digits + 1, '0')
  const whole = text.slice(0, text.length - digits)
  return `${amount < 0 ? '-' : ''}${whole}${digits === 0 ? '' : `.${text.slice(-digits)}`}`
}

export const isObject = (value: unknown): value is Json =>
  typeof value === 'object' && value !== null && !Array.isArray(value)
