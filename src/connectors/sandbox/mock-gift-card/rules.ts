import type { GiftCardErrorCode, GiftCardRefusal } from '../../gift-card.ts'
import { endings, type RefusingDigit, refundRefusal, refusalsByPin, refusingDigits } from './catalogue.ts'

/** Without a word of the provider's own. */
export const refusal = (errorCode: GiftCardErrorCode, rawMessage: string): GiftCardRefusal => ({
  result: 'failed',
  errorCode,
  rawCode: errorCode.toUpperCase(),
  rawMessage,
})

function refusalOf(digit: RefusingDigit, errorCode: GiftCardErrorCode): GiftCardRefusal {
  const { rawCode, rawMessage } = refusingDigits[digit]
  return { result: 'failed', errorCode, rawCode, rawMessage }
}

const isRefusing = (digit: string): digit is RefusingDigit => Object.hasOwn(refusingDigits, digit)

/** Longer ones would be more money than there is. */
const openingPin = /^0\d{0,11}$/
const refusingPin = /^([1-3])(\d{4})$/

/** What the PIN makes of a card: its first balance, or why it is refused. */
export function readPin(pin: string): { openingBalance: number } | GiftCardRefusal {
  if (openingPin.test(pin)) return { openingBalance: Number(pin) }
  const [, digit = '', code = ''] = refusingPin.exec(pin) ?? []
  if (isRefusing(digit)) return refusalOf(digit, refusalsByPin[code] ?? 'unknown_error')
  return refusal('invalid_gift_card', 'There is no such card')
}

/** Undefined: it is not refused for its amount. */
export function refundRefusalOf(amount: number): GiftCardRefusal | undefined {
  const digit = String(amount % 10)
  return isRefusing(digit) ? refusalOf(digit, refundRefusal) : undefined
}

const dayMs = 24 * 60 * 60 * 1000

/** Of a card that is seen for the first time. */
export const expiryOf = (number: string, now: Date): Date =>
  new Date(now.getTime() + (number.endsWith(endings.expired) ? -dayMs : 3 * 365 * dayMs))
