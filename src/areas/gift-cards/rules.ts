import type { ErrorDetail } from '../../errors.ts'

/** What may be shown of a number. */
export interface NumberParts {
  bin: string
  sub_bin: string
  last4: string
}

export const partsOf = (number: string): NumberParts => ({
  bin: number.slice(0, 6),
  sub_bin: number.slice(6, 9),
  last4: number.slice(-4),
})

/** Stored cards that one buyer may have. */
export const mostOfABuyer = 10

/** Whether a card is of no use to its buyer any more. */
export const isSpent = ({ balance, expiresAt }: { balance: number; expiresAt: Date | null }, now: Date): boolean =>
  balance === 0 || (expiresAt !== null && expiresAt <= now)

export const problem = (pointer: string, type: string, message: string): ErrorDetail => ({
  location: 'body',
  pointer,
  message,
  type: `value_error.${type}`,
})

interface Activation {
  pin?: string | null | undefined
  amount?: number | null | undefined
  currency?: string | null | undefined
  store?: boolean | undefined
  buyer_id?: string | null | undefined
  buyer_external_identifier?: string | null | undefined
}

/** What an activation says that does not go together. */
export function activationProblems(input: Activation): ErrorDetail[] {
  const problems: ErrorDetail[] = []
  const { amount, currency } = input
  if ((amount ?? null) === null && currency) problems.push(problem('/amount', 'missing', 'Goes with a currency'))
  if ((amount ?? null) !== null && !currency) problems.push(problem('/currency', 'missing', 'Goes with an amount'))
  if (input.store) {
    if (!input.pin) problems.push(problem('/pin', 'missing', 'Needed for storing the card'))
    return problems
  }
  for (const name of ['buyer_id', 'buyer_external_identifier'] as const) {
    if (input[name]) problems.push(problem(`/${name}`, 'conflict', 'Only a card that is stored has a buyer'))
  }
  return problems
}
