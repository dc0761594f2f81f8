/**
 * The fields that a transaction in a list has from columns of the same name, and how each is written: the one source for the text that PostgreSQL
 * makes (lists) and the text that is made here (single transactions).
 */
export const shownFields = {
  id: 'plain',
  merchant_account_id: 'plain',
  status: 'plain',
  authorized_amount: 'bare',
  captured_amount: 'bare',
  refunded_amount: 'bare',
  settled_currency: 'text',
  settled_amount: 'bare',
  settled: 'bare',
  external_identifier: 'text',
  error_code: 'text',
  raw_response_code: 'text',
  raw_response_description: 'text',
  payment_method: 'json',
  payment_service: 'json',
  gift_card_redemptions: 'list',
  pending_review: 'bare',
  disputed: 'bare',
  created_at: 'moment',
  updated_at: 'moment',
} as const satisfies Record<string, ShownAs>

/** `plain` needs no escaping, `bare` is a number or a boolean, `json` and `list` are JSON already; `text` and `json` may be null, no `list` is empty. */
export type ShownAs = 'plain' | 'bare' | 'text' | 'json' | 'list' | 'moment'

/** What comes before them; after them comes the text that never changes. */
export const shownFirst = '"type":"transaction"'
