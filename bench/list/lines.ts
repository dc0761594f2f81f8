import { rendering } from '../../src/areas/transactions/operations/render.ts'
import type { Drawn } from './draw.ts'
import { detailsText, instrumentTypeOf, methodText, serviceText, summaryText, threeDSecureText } from './texts.ts'

/** Rows as lines of COPY. Nothing in them has to be escaped: the texts are ours. */

type Cell = string | number | boolean | null

interface Table {
  columns: readonly string[]
  /** Lines with their ends. */
  lines: (drawn: Drawn) => string
}

const cellText = (cell: Cell) => (cell === null ? '\\N' : String(cell))
const line = (cells: readonly Cell[]) => {
  let text = ''
  for (const cell of cells) text += text === '' ? cellText(cell) : `\t${cellText(cell)}`
  return `${text}\n`
}
const moment = (ms: number) => new Date(ms).toISOString()

/** A column and what stands in it. */
function tableOf(columns: Readonly<Record<string, (drawn: Drawn) => Cell>>): Table {
  const cells = Object.values(columns)
  return { columns: Object.keys(columns), lines: (drawn) => line(cells.map((cell) => cell(drawn))) }
}

const isAuthorized = ({ status }: Drawn) => /^(authorization_(succeeded|voided)|capture_)/.test(status)
const isCaptured = ({ status, isRefunded }: Drawn) => status === 'capture_succeeded' || isRefunded

const key = { merchant_account_id: ({ account }: Drawn) => account, id: ({ id }: Drawn) => id }

const transactions = tableOf({
  ...key,
  status: ({ status }) => status,
  intent: () => 'capture',
  intent_outcome: (drawn) => (isCaptured(drawn) ? 'succeeded' : 'failed'),
  amount: ({ amount }) => amount,
  currency: ({ currency }) => currency,
  country: ({ country }) => country,
  authorized_amount: (drawn) => (isAuthorized(drawn) ? drawn.amount : 0),
  captured_amount: (drawn) => (isCaptured(drawn) ? drawn.amount : 0),
  refunded_amount: ({ isRefunded, amount }) => (isRefunded ? amount : 0),
  external_identifier: ({ reference }) => reference,
  buyer_id: ({ buyer }) => buyer?.id ?? null,
  buyer_external_identifier: ({ buyer }) => buyer?.reference ?? null,
  payment_method_id: ({ card }) => card?.id ?? null,
  method: ({ method }) => method,
  instrument_type: instrumentTypeOf,
  payment_service_id: ({ serviceId }) => serviceId,
  payment_service_transaction_id: ({ providerReference }) => providerReference,
  payment_source: ({ source }) => source,
  merchant_initiated: ({ isMerchantInitiated }) => isMerchantInitiated,
  is_subsequent_payment: ({ isSubsequent }) => isSubsequent,
  error_code: ({ errorCode }) => errorCode,
  raw_response_code: ({ errorCode }) => (errorCode === null ? '00' : '51'),
  raw_response_description: ({ errorCode }) => (errorCode === null ? 'Approved' : 'Declined by the issuer'),
  auth_response_code: (drawn) => (isAuthorized(drawn) ? '123456' : null),
  avs_response_code: () => 'match',
  cvv_response_code: () => 'match',
  scheme_transaction_id: ({ card, providerReference }) => (card ? providerReference : null),
  pending_review: ({ isReviewed }) => isReviewed,
  disputed: ({ isDisputed }) => isDisputed,
  settled: ({ isSettled }) => isSettled,
  settled_amount: ({ isSettled, amount }) => (isSettled ? amount : 0),
  settled_currency: ({ isSettled, currency }) => (isSettled ? currency : null),
  authorized_at: (drawn) => (isAuthorized(drawn) ? moment(drawn.createdAt + 300) : null),
  captured_at: (drawn) => (isCaptured(drawn) ? moment(drawn.createdAt + 400) : null),
  metadata: ({ metadata }) => (metadata.length === 0 ? null : JSON.stringify(Object.fromEntries(metadata))),
  summary: summaryText,
  details: detailsText,
  payment_method: methodText,
  payment_service: serviceText,
  rendering: () => rendering,
  version: () => 2,
  created_at: ({ createdAt }) => moment(createdAt),
  updated_at: ({ updatedAt }) => moment(updatedAt),
  checkout_session_id: ({ sessionId }) => sessionId,
  three_d_secure: ({ isAuthenticated }) => (isAuthenticated ? threeDSecureText : null),
})

const facts = tableOf({
  ...key,
  amount: ({ amount }) => amount,
  currency: ({ currency }) => currency,
  country: ({ country }) => country,
  payment_source: ({ source }) => source,
  merchant_initiated: ({ isMerchantInitiated }) => isMerchantInitiated,
  is_subsequent_payment: ({ isSubsequent }) => isSubsequent,
  has_gift_card_redemptions: ({ giftCard }) => giftCard !== null,
  method: ({ method }) => method,
  payment_method_id: ({ card }) => card?.id ?? null,
  payment_method_label: ({ card }) => card?.label ?? null,
  payment_method_scheme: ({ card }) => card?.scheme ?? null,
  payment_method_country: ({ card, country }) => card?.country ?? country,
  payment_method_bin: ({ card }) => card?.bin ?? null,
  payment_method_fingerprint: ({ card }) => card?.fingerprint ?? null,
  checkout_session_id: ({ sessionId }) => sessionId,
  buyer_id: ({ buyer }) => buyer?.id ?? null,
  buyer_external_identifier: ({ buyer }) => buyer?.reference ?? null,
  buyer_email_address: ({ buyer }) => buyer?.email ?? null,
  external_identifier: ({ reference }) => reference,
})

const states = tableOf({
  ...key,
  status: ({ status }) => status,
  pending_review: ({ isReviewed }) => isReviewed,
  disputed: ({ isDisputed }) => isDisputed,
  has_refunds: ({ isRefunded }) => isRefunded,
  has_settlements: ({ isSettled }) => isSettled,
  used_3ds: ({ isAuthenticated }) => isAuthenticated,
  payment_service_id: ({ serviceId }) => serviceId,
  payment_service_transaction_id: ({ providerReference }) => providerReference,
  error_code: ({ errorCode }) => errorCode,
  updated_at: ({ updatedAt }) => moment(updatedAt),
})

const metadata: Table = {
  columns: ['merchant_account_id', 'name', 'value', 'id'],
  lines: ({ account, id, metadata }) => metadata.map(([name, value]) => line([account, name, value, id])).join(''),
}

const giftCards: Table = {
  columns: ['merchant_account_id', 'name', 'value', 'id'],
  lines: ({ account, id, giftCard }) =>
    Object.entries(giftCard ?? {})
      .map(([name, value]: [string, string]) => line([account, name, value, id]))
      .join(''),
}

export const tables: Readonly<Record<string, Table>> = {
  transactions,
  transaction_facts: facts,
  transaction_states: states,
  transaction_metadata: metadata,
  transaction_gift_cards: giftCards,
}
