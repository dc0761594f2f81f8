import type { Context } from '../../../context.ts'
import { notFound } from '../../../errors.ts'
import type { Collection } from '../../../schema.ts'
import { findTransaction } from '../store/transactions.ts'
import type { Capture } from './schema.ts'
import { type CaptureRow, findCapture, listCaptureRows } from './store.ts'

const most = 100

export async function listCaptures(ctx: Context, transactionId: string): Promise<Collection<Capture>> {
  const transaction = await findTransaction(ctx.db, ctx.accounts, transactionId)
  if (!transaction) throw notFound()
  const rows = await listCaptureRows(ctx.db, ctx.accounts, transactionId, most)
  return {
    items: rows.map((row) => presentCapture(row, transaction.external_identifier)),
    limit: most,
    next_cursor: null,
    previous_cursor: null,
  }
}

export async function getCapture(
  ctx: Context,
  { transaction_id, capture_id }: { transaction_id: string; capture_id: string },
): Promise<Capture> {
  const [transaction, row] = await Promise.all([
    findTransaction(ctx.db, ctx.accounts, transaction_id),
    findCapture(ctx.db, ctx.accounts, { transactionId: transaction_id, id: capture_id }),
  ])
  if (!transaction || !row) throw notFound()
  return presentCapture(row, transaction.external_identifier)
}

export function presentCapture(row: CaptureRow, transactionExternalIdentifier: string | null): Capture {
  return {
    type: 'capture',
    id: row.id,
    merchant_account_id: row.merchant_account_id,
    transaction_id: row.transaction_id,
    xid: row.payment_service_capture_id,
    currency: row.currency,
    amount: row.amount,
    status: row.status,
    final: row.final,
    external_identifier: row.external_identifier,
    error_code: row.error_code,
    iso_response_code: null,
    raw_response_code: row.raw_response_code,
    raw_response_description: row.raw_response_description,
    transaction_external_identifier: transactionExternalIdentifier,
    cart_items: row.cart_items === null ? null : (JSON.parse(row.cart_items) as Capture['cart_items']),
    captured_at: row.captured_at?.toISOString() ?? null,
    created_at: row.created_at.toISOString(),
    updated_at: row.updated_at.toISOString(),
  }
}
