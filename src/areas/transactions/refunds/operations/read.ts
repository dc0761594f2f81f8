import { presentCreator } from '../../../../creator.ts'
import type { Context } from '../../../../context.ts'
import { notFound } from '../../../../errors.ts'
import { reconciliationIdOf } from '../../../../ids.ts'
import type { Collection } from '../../../../schema.ts'
import type { TransactionRow } from '../../store/rows.ts'
import { findTransaction } from '../../store/transactions.ts'
import type { Refund } from '../schema.ts'
import { findRefund, listRefundRows, type RefundRow } from '../store.ts'

const most = 100

export async function listRefunds(ctx: Context, transactionId: string): Promise<Collection<Refund>> {
  const transaction = await findTransaction(ctx.db, ctx.accounts, transactionId)
  if (!transaction) throw notFound()
  const rows = await listRefundRows(ctx.db, ctx.accounts, transactionId, most)
  return collection(rows.map((row) => presentRefund(row, transaction)))
}

export const collection = (items: Refund[]): Collection<Refund> => ({
  items,
  limit: most,
  next_cursor: null,
  previous_cursor: null,
})

/** By its own id, or as one of a transaction's. */
export async function getRefund(ctx: Context, id: string, transactionId?: string): Promise<Refund> {
  const row = await findRefund(ctx.db, ctx.accounts, id)
  if (!row || (transactionId !== undefined && row.transaction_id !== transactionId)) throw notFound()
  const transaction = await findTransaction(ctx.db, ctx.accounts, row.transaction_id)
  if (!transaction) throw notFound()
  return presentRefund(row, transaction)
}

export function presentRefund(row: RefundRow, transaction: TransactionRow): Refund {
  return {
    type: 'refund',
    id: row.id,
    transaction_id: row.transaction_id,
    payment_service_refund_id: row.payment_service_refund_id,
    status: row.status,
    currency: row.currency,
    amount: row.amount,
    reason: row.reason,
    target_type: row.gift_card_redemption_id ? 'gift-card-redemption' : 'payment-method',
    target_id: row.gift_card_redemption_id ?? transaction.payment_method_id,
    reconciliation_id: reconciliationIdOf(row.id),
    external_identifier: row.external_identifier,
    transaction_reconciliation_id: reconciliationIdOf(row.transaction_id),
    transaction_external_identifier: transaction.external_identifier,
    created_at: row.created_at.toISOString(),
    updated_at: row.updated_at.toISOString(),
    creator: presentCreator(row),
    error_code: row.error_code,
    raw_response_code: row.raw_response_code,
    raw_response_description: row.raw_response_description,
    settled_currency: row.settled_currency,
    settled_amount: row.settled_amount,
    settled: row.settled,
  }
}
