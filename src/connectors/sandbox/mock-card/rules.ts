import { hash } from 'node:crypto'
import { isExpired } from '../../../cards/expiration.ts'
import { type Force, isTestNumber } from '../../../cards/test-numbers.ts'
import { scrub } from '../../../platform/log.ts'
import type { Approved, AuthorizeCall, CardToCharge, Pending, Refused } from '../../payment.ts'
import type { Refusal } from './amounts.ts'
import {
  type CatalogueEntry,
  findAvs,
  findCardNumber,
  findCvv,
  houseRules,
  pendingMs,
  refusalsOf,
} from './catalogue.ts'

/** What the processor keeps of an answer; the amount has a column of its own. */
export type Answer = Omit<Approved, 'amount'> | Refused | Pending

export interface Decision {
  answer: Answer
  /**
   * `later`: not at once. `charged later`: reserved at once. `lost`: at once, but nobody hears it. `never`: the call does not reach
   * the processor.
   */
  delivery: 'now' | 'later' | 'charged later' | 'lost' | 'never'
  forces: Force | null
}

const authorizeRefusals = refusalsOf('authorize')
const saleRefusals = refusalsOf('sale')

/** A payment with a card, which is all this processor makes. */
export type CardCall = AuthorizeCall & { card: CardToCharge }

/** What becomes of an authorization: the card and the amount choose the answer, and the card how it comes. */
export function decideAuthorization(call: CardCall, id: string, now: Date): Decision {
  const { card, amount, intent, asyncCapture } = call
  if (!isTestNumber(card.number)) {
    return { answer: answerTo(call, id, houseRules.notATestNumber), delivery: 'now', forces: null }
  }

  const entry = findCardNumber(card.number)
  const forces = entry?.forces ?? null
  const delivery = deliveryOf(entry)
  const refusal =
    (isExpired(card.expirationDate, now) ? houseRules.expired : undefined) ??
    refusalIn(entry) ??
    authorizeRefusals.get(amount)
  if (refusal) return { answer: answerTo(call, id, refusal), delivery, forces }

  const isSale = intent === 'capture'
  return {
    answer: answerTo(call, id, isSale ? saleRefusals.get(amount) : undefined),
    delivery: delivery === 'now' && isSale && asyncCapture ? 'charged later' : delivery,
    forces,
  }
}

/** Without a refusal it is approved. */
export const answerTo = (call: CardCall, id: string, refusal: Refusal | undefined): Answer =>
  refusal ? refusedAuthorization(call, id, refusal) : approvedAuthorization(call, id)

/** The same without a card: the amount chooses. */
export function decideByAmount({ amount, intent }: AuthorizeCall, id: string): Decision {
  const refusal = authorizeRefusals.get(amount) ?? (intent === 'capture' ? saleRefusals.get(amount) : undefined)
  return { answer: refusal ? refused(id, refusal) : approved(id), delivery: 'now', forces: null }
}

function deliveryOf(entry: CatalogueEntry | undefined): Decision['delivery'] {
  if (!entry?.applies_to.includes('authorize')) return 'now'
  if (entry.outcome === 'pending') return 'later'
  if (entry.outcome !== 'unknown') return 'now'
  return entry.later === 'never_arrived' ? 'never' : 'lost'
}

function refusalIn(entry: CatalogueEntry | undefined): Refusal | undefined {
  if (entry?.outcome !== 'declined' && entry?.outcome !== 'failed') return undefined
  const { outcome, error_code, retriable, raw_code, description } = entry
  return error_code && raw_code ? { outcome, error_code, retriable, raw_code, description } : undefined
}

function approvedAuthorization({ reference, buyer, card }: CardCall, id: string): Answer {
  return {
    ...approved(id),
    authorizationCode: digitsOf(`authorization ${reference}`, 6),
    avs: findAvs(buyer.postalCode),
    cvv: findCvv(card.securityCode),
    schemeTransactionId: schemeTransactionIdOf(reference),
  }
}

/** An issuer that declines has looked at address and code; what failed did not get that far. */
function refusedAuthorization({ buyer, card, options }: CardCall, id: string, refusal: Refusal): Answer {
  return {
    ...refused(id, refusal),
    ...(options['skip_retry'] === true && { retriable: false }),
    ...(refusal.outcome === 'declined' && { avs: findAvs(buyer.postalCode), cvv: findCvv(card.securityCode) }),
    merchantAdviceCode: adviceIn(options, card.number),
  }
}

/** Few characters, so that nothing a caller sends can bring a card number into the processor's tables. */
function adviceIn(options: AuthorizeCall['options'], number: string): string | null {
  const advice = options['merchant_advice_code']
  if (typeof advice !== 'object' || advice === null || !('result' in advice)) return null
  if ('account_number' in advice && advice.account_number !== number) return null
  return typeof advice.result === 'string' && /^[A-Za-z0-9]{1,4}$/.test(advice.result) ? advice.result : null
}

export const approved = (id: string): Omit<Approved, 'amount'> => ({
  result: 'approved',
  providerReference: id,
  rawCode: '00',
  rawDescription: 'approved',
  authorizationCode: null,
  avs: null,
  cvv: null,
  schemeTransactionId: null,
})

export const refused = (
  id: string | null,
  { outcome, error_code, retriable, raw_code, description }: Refusal,
): Refused => ({
  result: outcome,
  errorCode: error_code,
  retriable,
  providerReference: id,
  rawCode: raw_code,
  rawDescription: description,
})

export const pending = (id: string, askAfterMs = pendingMs): Pending => ({
  result: 'pending',
  providerReference: id,
  rawCode: '09',
  rawDescription: 'in progress',
  askAfterMs,
})

/** The same for the same reference, and never what could be a card number, which the log would mask. */
function schemeTransactionIdOf(reference: string): string {
  for (let attempt = 0; ; attempt += 1) {
    const digits = digitsOf(`scheme ${attempt} ${reference}`, 15)
    if (scrub(digits) === digits) return digits
  }
}

function digitsOf(text: string, length: number): string {
  const number = BigInt(`0x${hash('sha256', text)}`) % 10n ** BigInt(length)
  return number.toString().padStart(length, '0')
}
