import type { GiftCardRefusal, GiftCardToCharge } from '../../../../connectors/gift-card.ts'
import { failpoint } from '../../../../platform/failpoint.ts'
import { askGiftCards, findGiftCardService } from '../../../gift-card-services/operations/routing.ts'
import { readGiftCard } from '../../../gift-cards/operations/cards.ts'
import type { System } from '../../operations/follow-up.ts'
import { orStillOpen } from '../../operations/providers.ts'
import { timelineEntry } from '../../operations/report.ts'
import type { TimelineEntry, TransactionRow } from '../../store/rows.ts'
import {
  findRedemptions,
  promiseGiftCards,
  type RedemptionResult,
  type RedemptionRow,
  settleRedemptions,
} from '../store.ts'
import { captureRest } from './capture-rest.ts'
import { reversePayment } from './reverse.ts'
import {
  type AnswerKey,
  endStep,
  finishPaid,
  forgetStored,
  givingBack,
  goOn,
  nextAttempt,
  type Step,
  storedWith,
} from './step.ts'

/** Where the number and the PIN of a card are: in the request that brought them, in the vault, or nowhere any more. */
export type CardOf = (redemption: RedemptionRow) => Promise<GiftCardToCharge | undefined>

export interface Redeeming {
  row: TransactionRow
  /** Of the step that is open. */
  attemptId: string
  cardOf: CardOf
  key: AnswerKey
}

/** Charges the gift cards of a payment whose main method has said yes, and goes on from there. Returns the transaction as it is then. */
export async function redeem(ctx: System, { row, attemptId, cardOf, key }: Redeeming): Promise<TransactionRow> {
  const accounts = [row.merchant_account_id]
  const redemptions = await findRedemptions(ctx.db, accounts, row.id)
  await failpoint('redeem: begun')
  const results = await Promise.all(redemptions.map((redemption) => redeemOne(ctx, row, redemption, cardOf)))
  await failpoint('redeem: providers answered')
  const storedMethodId = await storedWith({ ...ctx, accounts }, row)
  const step = await orStillOpen(ctx, { row, next: null }, () =>
    settleRedeemed(ctx, { row, attemptId, results, storedMethodId, key }),
  )
  await failpoint('redeem: outcome recorded')
  await forgetStored(ctx, step.row, storedMethodId)
  return proceed(ctx, step, key)
}

/** The call that the end of a step has promised. */
export async function proceed(ctx: System, { row, next }: Step, key: AnswerKey): Promise<TransactionRow> {
  if (next?.action === 'capture') {
    const step = await captureRest(ctx, row, next, key)
    return proceed(ctx, step, key)
  }
  return next?.action === 'reverse' ? reversePayment(ctx, row, { ...next, checks: 0 }, key) : row
}

const gone = { errorCode: 'operation_canceled', rawCode: null, rawMessage: null } as const

async function redeemOne(
  ctx: System,
  { currency }: TransactionRow,
  redemption: RedemptionRow,
  cardOf: CardOf,
): Promise<RedemptionResult | undefined> {
  const { id, merchant_account_id: merchantAccountId, gift_card_service_id, amount } = redemption
  const [service, card] = await Promise.all([
    findGiftCardService(ctx, { merchantAccountId, id: gift_card_service_id }),
    cardOf(redemption),
  ])
  if (!service || !card) return failed(id, gone)
  const outcome = await askGiftCards(ctx, service, (connector, signal) =>
    connector.redeem({ service: service.access, signal, card, reference: id, amount, currency }),
  )
  await failpoint('redeem: one provider answered')
  // It may have been charged: it is given back like those that were.
  if (outcome.result === 'unknown') return undefined
  if (outcome.result === 'failed') return failed(id, outcome)
  return { ...blank, id, status: 'succeeded', gift_card_service_redemption_id: outcome.providerReference }
}

const blank = {
  gift_card_service_redemption_id: null,
  error_code: null,
  raw_error_code: null,
  raw_error_message: null,
} as const

const failed = (id: string, refusal: Omit<GiftCardRefusal, 'result'>): RedemptionResult => ({
  ...blank,
  id,
  status: 'failed',
  error_code: refusal.errorCode,
  raw_error_code: refusal.rawCode,
  raw_error_message: refusal.rawMessage,
})

async function settleRedeemed(
  system: System,
  {
    row: { id, merchant_account_id },
    attemptId,
    results,
    storedMethodId,
    key,
  }: Pick<Redeeming, 'row' | 'attemptId' | 'key'> & {
    results: readonly (RedemptionResult | undefined)[]
    storedMethodId: string | null
  },
): Promise<Step> {
  return await endStep(system, { id, merchant_account_id }, attemptId, async (ctx, { row, main }) => {
    const known = results.filter((result) => result !== undefined)
    await settleRedemptions(ctx.db, ctx.accounts, id, known, ctx.now())
    await failpoint('redeem: outcome not yet committed')
    const timeline = known.map((result) => lineOf(ctx, id, result))
    const end = { row, main, attemptId, result: 'approved' as const, timeline }
    const refused = known.find(({ status }) => status === 'failed')
    if (refused || known.length < results.length) {
      const errorCode = refused?.error_code ?? 'service_network_error'
      return goOn(ctx, { ...end, result: 'failed', errorCode }, givingBack(ctx, row, main.authorized_amount), {
        change: { error_code: errorCode },
      })
    }
    if (row.intent === 'capture' && main.capturable) {
      const { authorized_amount: amount } = main
      const subject_id = ctx.newId()
      await promiseGiftCards(ctx.db, ctx.accounts, id, true)
      const next = nextAttempt(ctx, 'capture', { amount, subject_id, payment_service_id: row.payment_service_id })
      const capture = {
        id: subject_id,
        amount: row.amount,
        status: 'pending',
        error_code: null,
        captured_at: null,
      } as const
      return goOn(ctx, end, next, { capture })
    }
    return finishPaid(ctx, end, { key, storedMethodId, captureId: ctx.newId() })
  })
}

function lineOf(
  ctx: Parameters<typeof timelineEntry>[0],
  transactionId: string,
  { id, status, ...result }: RedemptionResult,
): TimelineEntry {
  return timelineEntry(ctx, transactionId, `gift-card-redemption-${status}`, { redemption_id: id, ...result })
}

/** The request that charged the gift cards is gone, and so are the cards that it brought: what may have been paid is given back. */
export async function giveUp(system: System, given: TransactionRow, attemptId: string): Promise<TransactionRow> {
  const step = await endStep(system, given, attemptId, async (ctx, { row, main }) => {
    const errorCode = 'service_network_error'
    const end = { row, main, attemptId, result: 'failed' as const, errorCode, timeline: [] }
    const next = givingBack(ctx, row, main.authorized_amount)
    const step = await goOn(ctx, end, next, { change: { error_code: errorCode } })
    await failpoint('give up: not yet committed')
    return step
  })
  await failpoint('give up: recorded')
  return proceed(system, step, null)
}

/** After the request that brought the cards is gone: stored ones are in the vault, others only where they wait for a buyer. */
export const cardsFromVault =
  (ctx: System): CardOf =>
  async ({ merchant_account_id, id, gift_card_id, fingerprint }) => {
    if (gift_card_id) return readGiftCard(ctx, { merchant_account_id, id: gift_card_id, fingerprint })
    const merchantAccountId = merchant_account_id
    const waiting = await ctx.vault.takeWaiting({ merchantAccountId, id }, ['gift_card_number', 'gift_card_pin'])
    const { gift_card_number: number, gift_card_pin: pin } = waiting
    return number && pin ? { number, pin, fingerprint } : undefined
  }
