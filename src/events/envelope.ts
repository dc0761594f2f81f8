import { Type } from 'typebox'
import { Constant, DateTime, Enum, Nullable, Uuid } from '../schema.ts'
import { type EventName, eventCatalog } from './catalog.ts'

/** The instance that an event comes from. */
export interface EventSource {
  instance: string
  environment: 'sandbox' | 'production'
}

export interface EventRow {
  id: string
  merchant_account_id: string | null
  name: string
  target: object
  created_at: Date
}

/** Around every target. */
export const envelopeFields = {
  id: Uuid({ description: 'The same in every delivery of the event.' }),
  created_at: DateTime(),
  merchant_account_id: Nullable(
    Type.String({ description: 'Null when the event concerns the whole instance.', example: 'default' }),
  ),
  instance_id: Type.String({ description: 'The name of the instance.', example: 'acme' }),
  environment: Enum(['sandbox', 'production']),
}

/** The event of one name, as it is sent. */
export const eventSchema = (name: EventName) =>
  Type.Object(
    { type: Constant('event'), name: Constant(name), ...envelopeFields, target: eventCatalog[name] },
    { additionalProperties: false },
  )

/** The text of an event: what is signed, sent and answered, the same each time. */
export const renderEvent = (row: EventRow, { instance, environment }: EventSource): string =>
  JSON.stringify({
    type: 'event',
    id: row.id,
    name: row.name,
    created_at: row.created_at.toISOString(),
    merchant_account_id: row.merchant_account_id,
    instance_id: instance,
    environment,
    target: row.target,
  })
