import { type Static, Type } from 'typebox'
import { methods } from '../../../methods.ts'
import { DateTime, Enum, optional, PageQuery, Uuid } from '../../../schema.ts'
import { paymentSources, transactionStatuses } from '../rules.ts'

/** More would be a list of one's own rows, and the statement grows with each. */
const maxItems = 100

const several = <Schema extends Parameters<typeof Type.Array>[0]>(schema: Schema, description: string) =>
  Type.Array(schema, { maxItems, description: `${description} Repeat the parameter for several: any of them.` })
const Text = (description: string, options: object = {}) =>
  Type.String({ minLength: 1, maxLength: 500, description, ...options })
const Amount = (description: string) => Type.Integer({ minimum: 0, maximum: 2_147_483_647, description })
const Flag = (description: string) => Type.Boolean({ description })
const Moment = (description: string) =>
  DateTime({ description: `${description}, this moment included. With a time zone, URL encoded.` })

const filters = {
  id: Uuid({ description: 'The transaction with this id.' }),
  reconciliation_id: Text('The transaction with this short id.'),
  external_identifier: Text('Your own reference.'),
  search: Text(
    'Exactly the id, the `external_identifier`, the `payment_service_transaction_id`, the buyer’s id or the buyer’s external identifier.',
  ),
  created_at_gte: Moment('Created after'),
  created_at_lte: Moment('Created before'),
  updated_at_gte: Moment('Last changed after'),
  updated_at_lte: Moment('Last changed before'),
  status: several(Enum(transactionStatuses), 'In this state.'),
  amount_eq: Amount('Exactly this amount.'),
  amount_gte: Amount('At least this amount.'),
  amount_lte: Amount('At most this amount.'),
  currency: several(Type.String({ pattern: '^[A-Z]{3}$', example: 'EUR' }), 'In this currency.'),
  country: several(Text('Country', { example: 'DE' }), 'Of this country.'),
  metadata: several(
    Type.String({ minLength: 2, maxLength: 4_000, example: '{"order":"4711"}' }),
    'A JSON object of texts, URL encoded: the transaction’s metadata holds all of them; of a key given twice the last counts.',
  ),
  buyer_id: Text('Of the buyer with this id.'),
  buyer_external_identifier: Text('Of the buyer with this reference of yours.'),
  buyer_email_address: Text('Of a buyer with this address, in any case.'),
  buyer_search: several(
    Text('Buyer'),
    'Of a buyer with exactly this id, external identifier or (in any case) email address.',
  ),
  ip_address: Text('Of a buyer at this address. No payment says one yet.'),
  method: several(Enum(methods), 'Paid by this method.'),
  payment_method_id: Uuid({ description: 'Paid with this stored method.' }),
  payment_method_label: Text('Exactly this label, of a card its last four digits.', { example: '1111' }),
  payment_method_scheme: several(Text('Scheme', { example: 'visa' }), 'Paid with a card of this scheme.'),
  payment_method_country: Text('Paid with a method of this country.'),
  payment_method_bin: Text('The first digits of the card, as a transaction shows them.', { example: '41111111' }),
  payment_method_fingerprint: Text('Paid with the card of this fingerprint.'),
  payment_service_id: several(Uuid(), 'Processed by this payment service.'),
  payment_service_transaction_id: Text('The payment service’s own id.'),
  error_code: several(Text('Code'), 'Declined or failed for this reason.'),
  payment_source: several(Enum(paymentSources), 'From this source.'),
  merchant_initiated: Flag('Whether the merchant began it.'),
  is_subsequent_payment: Flag('Whether it follows an earlier payment.'),
  checkout_session_id: Uuid({ description: 'Paid in this checkout session.' }),
  payment_link_id: Uuid({ description: 'Paid by this payment link. There are none yet.' }),
  pending_review: Flag('Whether somebody must look at it first.'),
  disputed: Flag('Whether the buyer disputes it.'),
  used_3ds: Flag('Whether 3-D Secure took part.'),
  has_refunds: Flag('Whether any of it was given back.'),
  has_settlements: Flag('Whether any of it was paid out.'),
  has_gift_card_redemptions: Flag('Whether a gift card was to pay any of it, whatever became of that.'),
  gift_card_id: Uuid({ description: 'With a redemption of this stored gift card, whatever became of it.' }),
  gift_card_last4: Type.String({
    minLength: 4,
    maxLength: 4,
    description: 'With a redemption of a gift card of these last digits, whatever became of it.',
  }),
  reauthorized_from_transaction_id: Uuid({ description: 'Authorized again in place of this one. None is yet.' }),
}

export const ListTransactionsQuery = Type.Object({
  ...PageQuery,
  limit: Type.Optional(Type.Integer({ minimum: 1, maximum: 500, default: 20, description: 'Items per page.' })),
  ...optional(filters),
})
export type TransactionFilters = Omit<Static<typeof ListTransactionsQuery>, 'cursor' | 'limit'>
