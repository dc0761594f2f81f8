import type { Context } from '../../../../context.ts'
import { notFound } from '../../../../errors.ts'
import type { Chargeback, ChargebackReversal, RefundSettlement, Settlement } from '../schema.ts'
import { listLineRows, type LineRow } from '../store.ts'

interface Lines {
  settlement: Settlement
  'refund-settlement': RefundSettlement
  chargeback: Chargeback
  'chargeback-reversal': ChargebackReversal
}

/** All of a kind, newest first. A transaction has few. */
export async function listLines<Kind extends keyof Lines>(
  ctx: Pick<Context, 'db' | 'accounts'>,
  transactionId: string,
  kind: Kind,
): Promise<{ items: Lines[Kind][] }> {
  const rows = await listLineRows(ctx.db, ctx.accounts, transactionId)
  if (!rows) throw notFound()
  const wanted = rows.filter((row) => row.kind === kind).toReversed()
  // The kind is what makes a line one of these.
  return { items: wanted.map((row) => present(row) as unknown as Lines[Kind]) }
}

export async function getLine<Kind extends keyof Lines>(
  ctx: Pick<Context, 'db' | 'accounts'>,
  { transaction_id, settlement_id }: { transaction_id: string; settlement_id: string },
  kind: Kind,
): Promise<Lines[Kind]> {
  const { items } = await listLines(ctx, transaction_id, kind)
  const found = items.find(({ id }) => id === settlement_id)
  if (!found) throw notFound()
  return found
}

function present(row: LineRow) {
  return {
    type: row.kind,
    id: row.id,
    merchant_account_id: row.merchant_account_id,
    transaction_id: row.transaction_id,
    created_at: row.created_at.toISOString(),
    updated_at: row.created_at.toISOString(),
    posted_at: row.posted_at.toISOString(),
    ingested_at: row.created_at.toISOString(),
    currency: row.currency,
    amount: row.amount,
    exchange_rate: row.exchange_rate,
    commission: row.commission,
    interchange: row.interchange,
    markup: row.markup,
    scheme_fee: row.scheme_fee,
    payment_service_report_id: row.payment_service_report_id,
    payment_service_report_file_ids: [],
    ...(row.refund_id !== null && { refund_id: row.refund_id }),
  }
}
