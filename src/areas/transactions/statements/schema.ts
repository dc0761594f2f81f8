import { type Static, type TObject, Type } from 'typebox'
import { Constant, DateTime, Nullable, Uuid } from '../../../schema.ts'

const Fee = (description: string) => Nullable(Type.Integer({ description }))

const fields = {
  id: Uuid(),
  merchant_account_id: Type.String({ example: 'default' }),
  transaction_id: Uuid(),
  created_at: DateTime(),
  updated_at: DateTime(),
  posted_at: DateTime({ description: "When it entered the provider's books." }),
  ingested_at: DateTime({ description: 'When we learned of it.' }),
  currency: Type.String({ pattern: '^[A-Z]{3}$', example: 'EUR' }),
  amount: Type.Integer({ description: 'Before fees.', example: 1299 }),
  exchange_rate: Nullable(Type.Number({ description: 'Null when nothing was exchanged.' })),
  commission: Type.Integer({ description: 'All fees together.', example: 43 }),
  interchange: Fee("The issuer's part of the commission."),
  markup: Fee("The provider's own part of the commission."),
  scheme_fee: Fee("The card scheme's part of the commission."),
  payment_service_report_id: Uuid({
    description: 'Of the report that it is in; the same for all lines of one report.',
  }),
  payment_service_report_file_ids: Type.Array(Uuid(), {
    description: 'Empty where the provider sends lines and no files.',
  }),
}

const line = <const Kind extends string, More extends Parameters<typeof Type.Object>[0]>(
  type: Kind,
  title: string,
  more: More,
) => Type.Object({ type: Constant(type), ...fields, ...more }, { title })

const listOf = <Line extends TObject>(item: Line, title: string) =>
  Type.Object({ items: Type.Array(item) }, { title, additionalProperties: false })

export const Settlement = line('settlement', 'Settlement', {})
export type Settlement = Static<typeof Settlement>
export const Settlements = listOf(Settlement, 'Settlements')

export const RefundSettlement = line('refund-settlement', 'RefundSettlement', {
  refund_id: Uuid({ description: 'The refund that was settled.' }),
})
export type RefundSettlement = Static<typeof RefundSettlement>
export const RefundSettlements = listOf(RefundSettlement, 'RefundSettlements')

const Chargeback = line('chargeback', 'Chargeback', {})
export type Chargeback = Static<typeof Chargeback>
export const Chargebacks = listOf(Chargeback, 'Chargebacks')

const ChargebackReversal = line('chargeback-reversal', 'ChargebackReversal', {})
export type ChargebackReversal = Static<typeof ChargebackReversal>
export const ChargebackReversals = listOf(ChargebackReversal, 'ChargebackReversals')

export const SettlementPath = Type.Object({
  transaction_id: Uuid({ description: 'Id of the transaction.' }),
  settlement_id: Uuid({ description: 'Id of the settlement.' }),
})
