import type { WholeAttempt, WholeTransaction } from '../store/verify.ts'
import { renderRedemptions } from './render.ts'
import type { Checks } from './verify-checks.ts'

const isOpen = ({ state }: WholeAttempt) => state !== 'done'

/** Our books against those of the sandbox's processor. While a call is open it may know more than we do. */
export function checkSandbox({ same, holds }: Checks, whole: WholeTransaction): void {
  const { row, attempts, instruments } = whole
  const asked = attempts.filter(({ is_sandbox }) => is_sandbox)
  if (asked.length === 0 || asked.some(isOpen)) return
  // Payments of which the main method had to let go, because gift cards did not pay.
  const reversals = asked.filter(({ action }) => action === 'reverse')
  for (const { id, action, amount, result, operation, payment } of asked) {
    const what = `sandbox operation ${id} (${action})`
    const found = operation && (operation.result ?? operation.kind)
    if (result === 'approved') {
      same(what, 'approved', found)
      same(`${what} amount`, amount, operation?.amount ?? null)
    } else {
      const isCanceled = payment?.state === 'canceled'
      holds(what, found !== 'approved' && (!operation?.is_due || isCanceled), 'not approved', found)
    }
  }
  const payments = asked.flatMap(({ payment }) => payment ?? [])
  for (const { currency } of payments) same('sandbox currency', row.currency, currency)
  const isVoided = payments.some(({ state }) => state === 'voided')
  if (reversals.length > 0) {
    const isLetGo = reversals.some(({ result }) => result === 'declined') || isVoided || payments.every(isRefunded)
    return holds('sandbox let go', isLetGo, true, isLetGo)
  }
  const main = instruments.filter(({ kind }) => kind === 'payment-method')
  for (const name of ['authorized', 'captured', 'refunded'] as const) {
    same(
      `sandbox ${name}`,
      total(main, (instrument) => instrument[`${name}_amount`]),
      total(payments, (payment) => payment[name]),
    )
  }
  const isLetGo = row.status === 'authorization_voided' || (row.status === 'authorization_void_pending' && isVoided)
  same('sandbox voided', isLetGo, isVoided)
}

const isRefunded = ({ captured, refunded }: { captured: number; refunded: number }) =>
  captured > 0 && captured === refunded

/** Gift cards against what they paid, and our books against those of the sandbox's provider of them. */
export function checkGiftCards({ same, holds }: Checks, whole: WholeTransaction): void {
  const { row, instruments, redemptions, refunds } = whole
  const cards = instruments.filter(({ kind }) => kind === 'gift-card')
  same('gift card instruments', redemptions.length, cards.length)
  same('has gift cards', redemptions.length > 0, row.gift_card_redemptions !== null)
  const text = redemptions.length > 0 ? renderRedemptions(redemptions) : null
  holds('gift_card_redemptions', text === row.gift_card_redemptions, 'as the rows', 'otherwise')
  const isOver = row.status === 'authorization_failed' || row.status === 'authorization_declined'
  for (const { id, position, amount, status, reversed, operation } of redemptions) {
    const what = `redemption ${id}`
    const instrument = cards.find((card) => card.position === position)
    same(`${what} amount`, amount, instrument?.amount ?? null)
    if (status === 'succeeded') holds(`${what} pays`, !isOver, 'a payment that succeeded', row.status)
    if (!operation || whole.attempts.some((attempt) => attempt.state !== 'done')) continue
    // What nobody has taken back is there, and what was taken back is not.
    same(`${what} at the sandbox`, status === 'succeeded', operation.state === 'done')
    holds(`${what} was given back`, !reversed || operation.state !== 'done', 'reversed', operation.state)
    if (status !== 'succeeded') continue
    same(`${what} sandbox amount`, amount, operation.amount)
    const refunded = refunds.filter((refund) => refund.instrument === position && refund.status === 'succeeded')
    same(
      `${what} sandbox refunded`,
      total(refunded, (refund) => refund.amount),
      operation.refunded_amount,
    )
  }
  for (const { id, position, status } of redemptions) {
    if (status !== 'succeeded') continue
    const held = cards.find((card) => card.position === position)
    same(`redemption ${id} held`, held?.amount ?? null, held?.authorized_amount ?? null)
  }
}

const total = <Item>(items: readonly Item[], amountOf: (item: Item) => number) =>
  items.reduce((sum, item) => sum + amountOf(item), 0)
