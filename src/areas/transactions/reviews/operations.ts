import type { Context } from '../../../context.ts'
import { notFound } from '../../../errors.ts'
import { emit } from '../../../events/outbox.ts'
import { transact } from '../../../platform/postgres.ts'
import { Rendered } from '../../../rendered.ts'
import { audit } from '../../audit-logs/operations.ts'
import { auditedAs } from '../operations/capture.ts'
import { renderTransaction } from '../operations/render.ts'
import { timelineEntry, transactionTarget } from '../operations/report.ts'
import { reviewMs } from '../operations/screen.ts'
import type { TransactionRow } from '../store/rows.ts'
import { insertTimeline, lockTransactionRow } from '../store/transactions.ts'
import type { ReviewInput } from './schema.ts'
import { deleteReview, endReview, findDueReviews, postponeReview } from './store.ts'

type Reviewing = Pick<Context, 'db' | 'accounts' | 'now' | 'newId'>

const batchSize = 100

/** What the people at the provider say, played by a caller. */
export async function reviewTransaction(ctx: Context, id: string, { decision }: ReviewInput): Promise<Rendered> {
  if (![...ctx.antiFraud.values()].some(({ isSimulated }) => isSimulated)) throw notFound()
  return await transact(ctx, async (ctx) => {
    const row = await lockTransactionRow(ctx.db, ctx.accounts, id)
    if (!row) throw notFound()
    await audit(ctx, 'updated', auditedAs(row))
    return new Rendered(renderTransaction((await release(ctx, row, decision)) ?? row))
  })
}

/** Payments that nobody has looked at in time are accepted. Returns how many. */
export async function acceptDueReviews(ctx: Reviewing, signal: AbortSignal): Promise<number> {
  let accepted = 0
  while (!signal.aborted) {
    const due = await findDueReviews(ctx.db, ctx.accounts, ctx.now(), batchSize)
    for (const { merchant_account_id, transaction_id } of due) {
      const isReleased = await transact({ ...ctx, accounts: [merchant_account_id] }, (ctx) =>
        endDue(ctx, transaction_id),
      )
      if (isReleased) accepted += 1
    }
    if (due.length < batchSize) break
  }
  return accepted
}

async function endDue(ctx: Reviewing, id: string): Promise<boolean> {
  const row = await lockTransactionRow(ctx.db, ctx.accounts, id)
  if (!row) throw new Error('a review without a transaction')
  // Its provider has not decided yet, so there is nothing to look at.
  if (row.status === 'processing' || row.status === 'buyer_approval_pending') {
    await postponeReview(ctx.db, ctx.accounts, id, new Date(ctx.now().getTime() + reviewMs))
    return false
  }
  if (await release(ctx, row, 'accept')) return true
  await deleteReview(ctx.db, ctx.accounts, id)
  return false
}

/** Undefined when there is no review to end: it was ended before, or there never was one. */
async function release(
  ctx: Reviewing,
  { id }: TransactionRow,
  decision: ReviewInput['decision'],
): Promise<TransactionRow | undefined> {
  const row = await endReview(ctx.db, ctx.accounts, id, ctx.now())
  if (!row) return undefined
  await deleteReview(ctx.db, ctx.accounts, id)
  await insertTimeline(ctx.db, row.merchant_account_id, [
    timelineEntry(ctx, id, 'anti-fraud-decision-update', { decision }),
  ])
  if (decision === 'accept') {
    await emit(ctx, 'transaction.review-accepted', {
      target: transactionTarget(row),
      merchantAccountId: row.merchant_account_id,
      sequence: row.version,
    })
  }
  return row
}
