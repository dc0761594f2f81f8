import type { ThreeDSecureOutcome } from '../../../connectors/payment.ts'
import type { EventName } from '../../../events/catalog.ts'
import { statusEvents } from '../rules.ts'
import type { TransactionRow } from '../store/rows.ts'
import type { Settlement } from '../store/settle.ts'
import { newEvent, timelineEntry, transactionEvent } from './report.ts'
import type { AuthorizationOutcome, SettlementInput } from './settlement.ts'

/** What is told of an outcome: lines of the timeline, and events. Pure, but for new ids. */

export const plainErrors: Partial<Record<AuthorizationOutcome['result'], string>> = {
  canceled: 'canceled',
  expired: 'incomplete_buyer_approval',
  never_arrived: 'service_network_error',
}

export function timelineOf(
  { row, attempt, outcome, newId, rejected }: SettlementInput,
  after: TransactionRow,
  moves: boolean,
  capture: Settlement['capture'],
) {
  const codes = {
    status: outcome.result,
    payment_service_id: row.payment_service_id,
    attempt_id: attempt.id,
    error_code: 'errorCode' in outcome ? outcome.errorCode : (plainErrors[outcome.result] ?? null),
    raw_response_code: 'rawCode' in outcome ? outcome.rawCode : null,
    raw_response_description: 'rawDescription' in outcome ? outcome.rawDescription : null,
  }
  // The charge comes after gift cards have paid.
  const isOnlyReserved = row.gift_card_redemptions !== null && attempt.subject_id === null
  const isOnlyCapture = capture?.status === 'declined' || capture?.status === 'failed'
  const name = isOnlyCapture
    ? `${prefix}-capture-${capture.status}`
    : responseNames[outcome.result]?.[isOnlyReserved ? 'authorize' : row.intent]
  const authentication =
    after.three_d_secure !== row.three_d_secure && 'threeDSecure' in outcome ? outcome.threeDSecure : undefined
  return [
    ...(authentication
      ? [
          timelineEntry({ newId }, row.id, authenticationName(authentication), {
            ...authentication,
            response_data: undefined,
          }),
        ]
      : []),
    ...(rejected ?? (name ? [timelineEntry({ newId }, row.id, name, codes)] : [])),
    ...(moves
      ? [timelineEntry({ newId }, row.id, 'transaction-updated-status', { from: row.status, to: after.status })]
      : []),
  ]
}

const authenticationName = ({ status }: ThreeDSecureOutcome) => authenticationNames[status ?? 'asked']
const authenticationNames = {
  asked: 'three-d-secure-authentication-request',
  complete: 'three-d-secure-success',
  declined: 'three-d-secure-result-request',
  cancelled: 'three-d-secure-result-request',
  error: 'three-d-secure-request-error',
  setup_error: 'three-d-secure-request-error',
}

const same = (name: string) => ({ authorize: name, capture: name })
const prefix = 'payment-connector-response-transaction'
const responseNames: Partial<Record<AuthorizationOutcome['result'], { authorize: string; capture: string }>> = {
  approved: { authorize: `${prefix}-authorization-succeeded`, capture: `${prefix}-capture-succeeded` },
  declined: same(`${prefix}-declined`),
  failed: same(`${prefix}-authorization-failed`),
  never_arrived: same(`${prefix}-authorization-failed`),
  canceled: same(`${prefix}-cancel-succeeded`),
  expired: same(`${prefix}-authorization-failed`),
}

export function eventsOf(after: TransactionRow, moves: boolean, capture: Settlement['capture']) {
  if (!moves) return []
  const isRefused = capture?.status === 'declined' || capture?.status === 'failed'
  const name = isRefused ? 'transaction.capture-failed' : statusEvents[after.status]
  const captureName: EventName | undefined = capture ? `capture.${capture.status}` : undefined
  return [
    ...(name ? [transactionEvent(name, after)] : []),
    ...(capture && captureName
      ? [
          newEvent(after.id, captureName, {
            type: 'capture',
            id: capture.id,
            merchant_account_id: after.merchant_account_id,
            transaction_id: after.id,
            xid: after.payment_service_transaction_id,
            currency: after.currency,
            amount: capture.amount,
            status: capture.status,
            final: true,
            external_identifier: null,
            error_code: capture.error_code,
            iso_response_code: null,
            raw_response_code: after.raw_response_code,
            raw_response_description: after.raw_response_description,
            transaction_external_identifier: after.external_identifier,
            cart_items: null,
            captured_at: capture.captured_at?.toISOString() ?? null,
            created_at: after.updated_at.toISOString(),
            updated_at: after.updated_at.toISOString(),
          }),
        ]
      : []),
  ]
}
