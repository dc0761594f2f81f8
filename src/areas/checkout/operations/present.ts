import type { CheckoutSession } from '../schema.ts'
import type { SessionRow } from '../store.ts'

type Shown = Omit<CheckoutSession, 'type' | 'id' | 'expires_at' | 'payment_method'>

export function present(row: SessionRow): CheckoutSession {
  return {
    type: 'checkout-session',
    id: row.id,
    amount: row.amount,
    currency: row.currency,
    payment_service_id: row.payment_service_id,
    ...parsed(row),
    payment_method: row.fields_sent_at && {
      type: 'payment-method',
      id: row.payment_method_id,
      method: 'card',
      label: row.label,
      // Passed the same list on its way in.
      scheme: row.scheme as NonNullable<CheckoutSession['payment_method']>['scheme'],
      fingerprint: row.fingerprint,
      details: {
        bin: row.bin,
        card_country: row.issuer_country,
        card_type: row.card_type,
        card_issuer_name: row.card_issuer_name,
      },
    },
    expires_at: row.expires_at.toISOString(),
  }
}

/** The columns that are JSON, which the schema has seen when they were written. */
export function parsed(row: SessionRow): Pick<Shown, 'buyer' | 'cart_items' | 'metadata' | 'airline'> {
  const parse = <Value>(text: string | null) => (text === null ? null : (JSON.parse(text) as Value))
  return {
    buyer: parse<Shown['buyer']>(row.buyer),
    cart_items: parse<Shown['cart_items']>(row.cart_items),
    metadata: parse<Shown['metadata']>(row.metadata),
    airline: parse<Shown['airline']>(row.airline),
  }
}
