import type { Context } from '../../../context.ts'
import { getBuyersByIds } from '../../buyers/operations.ts'
import type { Buyer } from '../../buyers/schema.ts'
import type { PaymentMethod, PaymentMethodSummary } from '../schema.ts'
import type { PaymentMethodRow } from '../store.ts'

/** Looks up the buyers of the rows, once for all of them. */
export async function presenter(
  ctx: Pick<Context, 'db' | 'accounts'>,
  rows: readonly PaymentMethodRow[],
): Promise<(row: PaymentMethodRow) => PaymentMethod> {
  const ids = [...new Set(rows.flatMap(({ buyer_id }) => buyer_id ?? []))]
  const buyers = ids.length === 0 ? new Map<string, Buyer>() : await getBuyersByIds(ctx, ids)
  return (row) => present(row, row.buyer_id === null ? null : (buyers.get(row.buyer_id) ?? null))
}

export const present = (row: PaymentMethodRow, buyer: Buyer | null): PaymentMethod => ({ ...summarize(row), buyer })

export function summarize(row: PaymentMethodRow): PaymentMethodSummary {
  // Schemes passed the same list on their way in.
  type Scheme = PaymentMethodSummary['scheme']
  return {
    type: 'payment-method',
    id: row.id,
    merchant_account_id: row.merchant_account_id,
    method: row.method,
    mode: row.mode,
    status: row.status,
    label: row.label,
    scheme: row.scheme as Scheme,
    additional_schemes: row.additional_schemes as PaymentMethodSummary['additional_schemes'],
    details:
      row.method === 'card' ? { bin: row.bin, card_type: row.card_type, card_issuer_name: row.card_issuer_name } : null,
    expiration_date: row.expiration_date,
    fingerprint: row.fingerprint,
    country: row.country,
    currency: row.currency,
    approval_url: row.approval_url,
    approval_target: row.approval_target,
    external_identifier: row.external_identifier,
    has_replacement: row.replacement !== null,
    last_replaced_at: row.last_replaced_at?.toISOString() ?? null,
    last_used_at: row.last_used_at?.toISOString() ?? null,
    usage_count: row.usage_count,
    cit_last_used_at: row.cit_last_used_at?.toISOString() ?? null,
    cit_usage_count: row.cit_usage_count,
    scheme_transaction_id: row.scheme_transaction_id,
    scheme_transaction_id_scheme: row.scheme_transaction_id_scheme as Scheme,
    transaction_link_id: row.transaction_link_id,
    created_at: row.created_at.toISOString(),
    updated_at: row.updated_at.toISOString(),
  }
}
