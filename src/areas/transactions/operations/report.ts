import type { EventName, EventTarget } from '../../../events/catalog.ts'
import type { Clock } from '../../../clocks.ts'
import { newId, timeOfId } from '../../../ids.ts'
import type { TimelineEntry, TransactionRow } from '../store/rows.ts'

type TransactionEvent = Extract<EventName, `transaction.${string}`>

/** What an event says of a transaction. */
export function transactionTarget(row: TransactionRow): EventTarget<'transaction.authorized'> {
  return {
    type: 'transaction',
    id: row.id,
    status: row.status,
    amount: row.amount,
    currency: row.currency,
    authorized_amount: row.authorized_amount,
    captured_amount: row.captured_amount,
    refunded_amount: row.refunded_amount,
    external_identifier: row.external_identifier,
    payment_method: row.method === null ? null : { id: row.payment_method_id, method: row.method },
    payment_service_transaction_id: row.payment_service_transaction_id,
    payment_link_id: null,
    pending_review: row.pending_review,
    error_code: row.error_code,
    metadata: row.metadata === null ? null : (JSON.parse(row.metadata) as Record<string, string>),
    created_at: row.created_at.toISOString(),
    updated_at: row.updated_at.toISOString(),
  }
}

/** An event as the statements take it that write it together with the change. Like all logs it goes by real time. */
export interface NewEvent {
  id: string
  transaction_id: string
  name: EventName
  resource_type: string
  resource_id: string
  target: string
  created_at: Date
}

export function newEvent<Name extends EventName>(
  transactionId: string,
  name: Name,
  target: EventTarget<Name> & { type: string; id: string },
): NewEvent {
  const id = newId()
  return {
    id,
    transaction_id: transactionId,
    name,
    resource_type: target.type,
    resource_id: target.id,
    target: JSON.stringify(target),
    created_at: timeOfId(id),
  }
}

export const transactionEvent = (name: TransactionEvent, row: TransactionRow): NewEvent =>
  newEvent(row.id, name, transactionTarget(row))

/** A line of the timeline. The context is for people who look into one payment: codes and amounts, never card data. */
export function timelineEntry(
  clock: Pick<Clock, 'newId'>,
  transactionId: string,
  name: string,
  context: Readonly<Record<string, unknown>>,
): TimelineEntry {
  const id = clock.newId()
  return { transaction_id: transactionId, id, name, context: JSON.stringify(context), created_at: timeOfId(id) }
}
