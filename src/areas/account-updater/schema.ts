import { type Static, Type } from 'typebox'
import { Body, Constant, DateTime, Uuid } from '../../schema.ts'

const AccountUpdaterInquirySummary = Type.Object(
  { type: Constant('account-updater-inquiry'), id: Uuid(), payment_method_id: Uuid() },
  { title: 'AccountUpdaterInquirySummary' },
)

export const AccountUpdaterJob = Type.Object(
  {
    type: Constant('account-updater-job'),
    id: Uuid(),
    merchant_account_id: Type.String({ example: 'default' }),
    inquiries: Type.Array(AccountUpdaterInquirySummary),
    created_at: DateTime(),
    updated_at: DateTime(),
  },
  { title: 'AccountUpdaterJob' },
)
export type AccountUpdaterJob = Static<typeof AccountUpdaterJob>

export const NewAccountUpdaterJob = Body(
  {
    payment_method_ids: Type.Array(Uuid(), {
      minItems: 1,
      maxItems: 100,
      uniqueItems: true,
      description: 'The cards to ask about.',
    }),
  },
  { title: 'AccountUpdaterJobCreate' },
)
export type NewAccountUpdaterJob = Static<typeof NewAccountUpdaterJob>
