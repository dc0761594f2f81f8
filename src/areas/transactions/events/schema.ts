import { type Static, Type } from 'typebox'
import { Collection, Constant, DateTime, PageQuery, Uuid } from '../../../schema.ts'

export const TransactionEvent = Type.Object(
  {
    type: Constant('transaction-event'),
    id: Uuid(),
    name: Type.String({ example: 'transaction-updated-status' }),
    created_at: DateTime(),
    context: Type.Unsafe<Record<string, unknown>>({
      type: 'object',
      additionalProperties: true,
      description: 'What happened, for people who look into it.',
    }),
  },
  { title: 'TransactionEvent' },
)
export type TransactionEvent = Static<typeof TransactionEvent>

export const TransactionEvents = Collection(TransactionEvent, { title: 'TransactionEvents' })

export const ListTransactionEventsQuery = Type.Object({
  ...PageQuery,
  limit: Type.Optional(Type.Integer({ minimum: 1, maximum: 100, default: 100, description: 'Items per page.' })),
})
