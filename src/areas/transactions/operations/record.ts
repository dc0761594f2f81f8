import type { Context } from '../../../context.ts'
import { ApiError } from '../../../errors.ts'
import { KeyTaken } from '../../../idempotency/keys.ts'
import { findKey, type NewKey, storeAnswer } from '../../../idempotency/store.ts'
import { emit } from '../../../events/outbox.ts'
import { gathering } from '../../../gathering.ts'
import { failpoint } from '../../../platform/failpoint.ts'
import { transact } from '../../../platform/postgres.ts'
import { type AuditEntry, auditing } from '../../audit-logs/operations.ts'
import { claimSession, type OpenedSession } from '../../checkout/operations/pay.ts'
import { forgetNumber } from '../../payment-methods/operations/change.ts'
import { insertStoring, type Storing } from '../../payment-methods/operations/store-with-payment.ts'
import { countUses } from '../../gift-cards/operations/cards.ts'
import { insertRedemptions, type RedemptionRow } from '../redemptions/store.ts'
import { insertApproval } from '../store/approvals.ts'
import { type Intention, recordPayments } from '../store/record.ts'
import type { TransactionRow } from '../store/rows.ts'
import { insertTimeline } from '../store/transactions.ts'
import type { PlannedApproval } from './approval.ts'
import { renderTransaction } from './render.ts'
import { timelineEntry, transactionTarget } from './report.ts'

export interface Recording {
  intention: Intention
  entry: AuditEntry
}

/** Payments that arrive together are written down together. False when the key is taken. */
const record = gathering<Recording, boolean>(
  async (db, accounts, recordings) => {
    const recorded = await recordPayments(
      db,
      accounts,
      recordings.map(({ intention }) => intention),
      auditing(recordings.map(({ entry }) => entry)),
    )
    return recordings.map(({ intention }) => recorded.has(intention.transaction.id))
  },
  { keyOf: ({ intention: { key, transaction } }) => key?.key ?? transaction.id },
)

class SessionUsed extends Error {}

/**
 * Writes down what is about to be tried: the payment, the card that is kept should it succeed, the checkout session that becomes its own, and
 * where its buyer would come back to.
 * All of it or nothing.
 */
export async function recordIntent(
  ctx: Context,
  recording: Recording,
  {
    storing,
    session,
    approval,
    redemptions,
  }: {
    storing: Storing | undefined
    session: OpenedSession | undefined
    approval: PlannedApproval | undefined
    redemptions: readonly RedemptionRow[]
  },
): Promise<'recorded' | 'key taken' | 'session used'> {
  const { attempt, key, transaction } = recording.intention
  const isAlone = !storing && !session && !approval && redemptions.length === 0
  if (!attempt || isAlone) {
    const isRecorded = await (attempt
      ? record(ctx.db, ctx.accounts, recording)
      : recordFailed(ctx, recording, redemptions))
    return isRecorded ? 'recorded' : 'key taken'
  }
  try {
    await transact(ctx, async (ctx) => {
      if (storing) await insertStoring(ctx, storing)
      if (!(await record(ctx.db, ctx.accounts, recording))) throw new KeyTaken()
      await recordRedemptions(ctx, transaction, redemptions)
      if (session && !(await claimSession(ctx, session, transaction.id))) throw new SessionUsed()
      if (approval) {
        const { id, merchant_account_id, created_at } = transaction
        const row = { merchant_account_id, transaction_id: id, id: approval.id, redirect_url: approval.redirectUrl }
        await insertApproval(ctx.db, row, created_at)
      }
      await failpoint('create: intent not yet committed')
    })
    return 'recorded'
  } catch (error) {
    // Not of a commit that nobody knows the end of: what it needs must not go, and what it does not need is swept.
    if (!(error instanceof KeyTaken || error instanceof SessionUsed || error instanceof ApiError)) throw error
    if (storing) await forgetNumber(ctx, storing.merchant_account_id, storing.id)
    if (error instanceof KeyTaken || (await isKeyHeld(ctx, key))) return 'key taken'
    if (error instanceof SessionUsed) return 'session used'
    throw error
  }
}

/** The card that is there already, or the session that is used, may be that of the first request with this key. */
async function isKeyHeld(ctx: Context, key: NewKey | null): Promise<boolean> {
  const row = key && (await findKey(ctx.db, ctx.accounts, key))
  return !!row && row.created_at >= key.forgotten_before
}

/** The gift cards that are to pay, and that the stored ones were used. */
async function recordRedemptions(
  ctx: Context,
  { id, created_at, merchant_initiated }: TransactionRow,
  redemptions: readonly RedemptionRow[],
): Promise<void> {
  if (redemptions.length === 0) return
  await insertRedemptions(
    ctx.db,
    redemptions.map((redemption) => ({ ...redemption, transaction_id: id })),
    created_at,
  )
  const used = redemptions.flatMap(({ gift_card_id }) => gift_card_id ?? [])
  if (used.length > 0) await countUses(ctx, used, { at: created_at, isMerchants: merchant_initiated })
}

/** Nobody takes this payment: it is over before it began. */
async function recordFailed(
  ctx: Context,
  recording: Recording,
  redemptions: readonly RedemptionRow[],
): Promise<boolean> {
  const { transaction: row, key } = recording.intention
  return await transact(ctx, async (ctx) => {
    if (!(await record(ctx.db, ctx.accounts, recording))) return false
    await recordRedemptions(
      ctx,
      row,
      redemptions.map((redemption) => ({ ...redemption, status: 'skipped' })),
    )
    await insertTimeline(ctx.db, row.merchant_account_id, [
      timelineEntry(ctx, row.id, 'transaction-updated-status', { to: row.status, error_code: row.error_code }),
    ])
    await emit(ctx, 'transaction.failed', {
      target: transactionTarget(row),
      merchantAccountId: row.merchant_account_id,
      sequence: row.version,
    })
    if (key) await storeAnswer(ctx.db, ctx.accounts, key, { status: 201, body: renderTransaction(row) })
    return true
  })
}
