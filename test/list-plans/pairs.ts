import type { Subject } from './values.ts'

/** The pairs of filters that people use together: each reads bounded rows, but for what `reasonFor` in cases.ts names. */

/** With a bound on the time of creation, which is one on the id. */
export const withEverything: Subject = 'created_at'

export const pairs: readonly (readonly [Subject, readonly Subject[]])[] = [
  [
    'status',
    [
      'currency',
      'payment_service_id',
      'method',
      'has_refunds',
      'has_settlements',
      'pending_review',
      'amount',
      'error_code',
      'updated_at',
      'buyer_id',
      'payment_method_id',
      'external_identifier',
      'metadata',
      'has_gift_card_redemptions',
      'gift_card_id',
      'gift_card_last4',
    ],
  ],
  ['currency', ['amount', 'payment_service_id', 'country', 'buyer_id', 'has_gift_card_redemptions']],
  ['gift_card_last4', ['gift_card_id', 'amount', 'has_refunds', 'buyer_id']],
]
