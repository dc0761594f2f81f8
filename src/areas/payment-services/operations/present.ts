import type { PaymentService } from '../schema.ts'
import type { PaymentServiceRow } from '../store.ts'
import { notificationUrl } from './routing.ts'

/** Secrets are not even in the row. */
export function present(row: PaymentServiceRow, baseUrl: string): PaymentService {
  return {
    type: 'payment-service',
    id: row.id,
    merchant_account_id: row.merchant_account_id,
    payment_service_definition_id: row.definition_id,
    active: row.active,
    // The definition's, which comes from the contract's list.
    method: row.method as PaymentService['method'],
    display_name: row.display_name,
    position: row.position,
    status: row.status,
    accepted_currencies: [...row.accepted_currencies],
    accepted_countries: [...row.accepted_countries],
    payment_method_tokenization_enabled: row.payment_method_tokenization_enabled,
    network_tokens_enabled: row.network_tokens_enabled,
    open_loop: row.open_loop,
    settlement_reporting_enabled: row.settlement_reporting_enabled,
    three_d_secure_enabled: row.three_d_secure_enabled,
    merchant_profile: row.merchant_profile,
    webhook_url: row.is_deleted ? null : notificationUrl(baseUrl, row.id),
    fields: presentFields(row.fields),
    reporting_fields: presentFields(row.reporting_fields),
    is_deleted: row.is_deleted,
    created_at: row.created_at.toISOString(),
    updated_at: row.updated_at.toISOString(),
  }
}

const presentFields = (values: Readonly<Record<string, string>>) =>
  Object.entries(values).map(([key, value]) => ({ key, value }))
