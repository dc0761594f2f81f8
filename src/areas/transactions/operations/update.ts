import type { Context } from '../../../context.ts'
import { notFound } from '../../../errors.ts'
import { emit } from '../../../events/outbox.ts'
import { transact } from '../../../platform/postgres.ts'
import { Rendered } from '../../../rendered.ts'
import { audit } from '../../audit-logs/operations.ts'
import type { TransactionUpdate } from '../schema/create.ts'
import { findTransaction, insertTimeline, replaceMetadata, updateTransactionRow } from '../store/transactions.ts'
import { ingestStatement } from '../statements/operations/ingest.ts'
import { auditedAs } from './capture.ts'
import { keptOptions } from './new-row.ts'
import { renderTransaction } from './render.ts'
import { timelineEntry, transactionTarget } from './report.ts'
import { resolveTransaction } from './resolve.ts'

/** Changes what is the merchant's own: reference, metadata, options. */
export async function updateTransaction(ctx: Context, id: string, input: TransactionUpdate): Promise<Rendered> {
  return await transact(ctx, async (ctx) => {
    const change = {
      ...(input.external_identifier !== undefined && { external_identifier: input.external_identifier }),
      ...(input.metadata !== undefined && { metadata: input.metadata && JSON.stringify(input.metadata) }),
      ...(input.connection_options !== undefined && {
        connection_options: keptOptions(input.connection_options) ?? null,
      }),
    }
    const row = await updateTransactionRow(ctx.db, ctx.accounts, id, change, ctx.now())
    if (!row) throw notFound()
    if ('metadata' in change) await replaceMetadata(ctx.db, ctx.accounts, row)
    await audit(ctx, 'updated', auditedAs(row))
    await insertTimeline(ctx.db, row.merchant_account_id, [
      timelineEntry(ctx, id, 'transaction-modified-event', { fields: Object.keys(change) }),
    ])
    await emit(ctx, 'transaction.modified', {
      target: transactionTarget(row),
      merchantAccountId: row.merchant_account_id,
      sequence: row.version,
    })
    return new Rendered(renderTransaction(row))
  })
}

/** Asks the provider for the latest, now. */
export async function syncTransaction(ctx: Context, id: string): Promise<Rendered> {
  await resolveTransaction(ctx, id)
  await ingestStatement(ctx, id)
  const row = await findTransaction(ctx.db, ctx.accounts, id)
  if (!row) throw notFound()
  await transact(ctx, (ctx) =>
    insertTimeline(ctx.db, row.merchant_account_id, [
      timelineEntry(ctx, id, 'transaction-sync-event', { status: row.status }),
    ]),
  )
  return new Rendered(renderTransaction(row))
}
