import { deepStrictEqual } from 'node:assert'
import type { Keys } from './keys.ts'
import type { Model } from './model.ts'
import type { Attempt, Movement, Transaction } from './records.ts'
import type { World } from './world.ts'

/** Everything that is on record, at Florin and at the provider, in a form that both the database and the model can be brought into. */

interface AttemptRecord {
  action: string
  service: number
  amount: number
  state: string
  result: string | null
  error: string | null
  checks: number
  next_check: number | null
  /** The provider's books. */
  operation: { kind: string; result: string | null } | null
  /** What has become of the question to the buyer. */
  question: string | null
  payment: { state: string; authorized: number; captured: number; refunded: number } | null
}

export interface TransactionRecord {
  id: string
  status: string
  intent_outcome: string
  error: string | null
  authorized: number
  captured: number
  refunded: number
  external_identifier: string | null
  is_canceled: boolean
  is_timed_out: boolean
  approval_expires: number | null
  service: number
  instrument: {
    authorized: number
    capture_limit: number
    capturing: number
    captured: number
    refunding: number
    refunded: number
    capturable: boolean
  }
  captures: { amount: number; status: string; final: boolean; error: string | null }[]
  refunds: { amount: number; status: string; error: string | null }[]
  attempts: AttemptRecord[]
}

interface Snapshot {
  transactions: TransactionRecord[]
  /** Calls and payments at the provider that no attempt knows of. */
  strays: number
  keys: { name: string; answered: boolean; lease: number }[]
}

const transactionsWhere = (condition: string) => `
  select t.id, t.status, t.intent_outcome, t.error_code as error, t.authorized_amount as authorized, t.captured_amount as captured,
    t.refunded_amount as refunded, t.external_identifier, t.canceled_at is not null as is_canceled, t.payment_service_id as service,
    t.buyer_approval_timedout_at is not null as is_timed_out, extract(epoch from t.approval_expires_at) * 1000 as approval_expires,
    json_build_object('authorized', i.authorized_amount, 'capture_limit', i.capture_limit, 'capturing', i.capturing_amount,
      'captured', i.captured_amount, 'refunding', i.refunding_amount, 'refunded', i.refunded_amount, 'capturable', i.capturable) as instrument,
    (select coalesce(json_agg(json_build_object('amount', c.amount, 'status', c.status, 'final', c.final, 'error', c.error_code) order by c.id), '[]')
      from captures c where c.merchant_account_id = t.merchant_account_id and c.transaction_id = t.id) as captures,
    (select coalesce(json_agg(json_build_object('amount', r.amount, 'status', r.status, 'error', r.error_code) order by r.id), '[]')
      from refunds r where r.merchant_account_id = t.merchant_account_id and r.transaction_id = t.id) as refunds,
    (select coalesce(json_agg(json_build_object('action', a.action, 'service', a.payment_service_id, 'amount', a.amount, 'state', a.state,
        'result', a.result, 'error', a.error_code, 'checks', a.checks, 'next_check', extract(epoch from a.next_check_at) * 1000,
        'operation', case when o.id is not null then json_build_object('kind', o.kind, 'result', o.outcome ->> 'result') end,
        'question', q.state,
        'payment', case when p.id = o.id then json_build_object('state', p.state, 'authorized', p.authorized, 'captured', p.captured,
          'refunded', p.refunded) end) order by a.id), '[]')
      from attempts a
        left join sandbox_card_operations o on o.merchant_account_id = a.merchant_account_id and o.reference = a.id::text
        left join sandbox_card_payments p on p.merchant_account_id = o.merchant_account_id and p.id = o.payment_id
        left join sandbox_approvals q on q.merchant_account_id = o.merchant_account_id and q.reference = o.reference
      where a.merchant_account_id = t.merchant_account_id and a.transaction_id = t.id) as attempts
  from transactions t
    left join transaction_instruments i on i.merchant_account_id = t.merchant_account_id and i.transaction_id = t.id
  where ${condition}`

const statement = `
  select
    (select coalesce(json_agg(found order by found.id), '[]') from (${transactionsWhere('true')}) as found) as transactions,
    (select count(*) from sandbox_card_operations o where not exists (
      select from attempts a where a.id::text = o.reference or a.id::text || '-cancel' = o.reference))::int
      + (select count(*) from sandbox_card_payments p where not exists (select from sandbox_card_operations o where o.id = p.id))::int as strays,
    (select coalesce(json_agg(json_build_object('name', merchant_account_id || ' ' || operation || ' ' || key, 'answered', status is not null,
      'lease', extract(epoch from lease_until) * 1000) order by merchant_account_id, operation, key), '[]') from idempotency_keys) as keys`

/** The records of transactions by their reference. */
export const recordsByReference = transactionsWhere('t.external_identifier = $1')

type Raw<Service> = Omit<TransactionRecord, 'service' | 'attempts'> & {
  service: Service
  attempts: (Omit<AttemptRecord, 'service'> & { service: Service })[]
}

export async function readSnapshot({ admin, services }: World): Promise<Snapshot> {
  const { rows } = await admin.query<Omit<Snapshot, 'transactions'> & { transactions: Raw<string | null>[] }>({
    // Planned once: it is asked after every step.
    name: 'snapshot',
    text: statement,
  })
  const [row] = rows
  if (!row) throw new Error('the database gave no snapshot')
  const indexOf = (id: string | null) => (id === null ? 0 : (services.get(id) ?? -1))
  return {
    ...row,
    keys: row.keys.toSorted(byName),
    transactions: row.transactions.map((transaction) => ({
      ...transaction,
      service: indexOf(transaction.service),
      attempts: transaction.attempts.map((attempt) => ({ ...attempt, service: indexOf(attempt.service) })),
    })),
  }
}

const byName = (left: { name: string }, right: { name: string }) => (left.name < right.name ? -1 : 1)

export function predictSnapshot(model: Model, keys: Keys): Snapshot {
  return {
    transactions: model.transactions.map((transaction) => predictTransaction(model, transaction)),
    strays: 0,
    keys: [...keys.rows]
      .map(([name, { answer, lease }]) => ({ name, answered: answer !== undefined, lease }))
      .toSorted(byName),
  }
}

function predictTransaction(model: Model, transaction: Transaction): TransactionRecord {
  const { authorized, captured, refunded, limit, capturing, refunding, isCapturable } = transaction
  return {
    id: transaction.id,
    status: transaction.status,
    intent_outcome: transaction.intentOutcome,
    error: transaction.error,
    authorized,
    captured,
    refunded,
    external_identifier: transaction.externalIdentifier,
    is_canceled: transaction.error === 'canceled',
    is_timed_out: transaction.error === 'incomplete_buyer_approval',
    approval_expires: transaction.approvalExpiresAt ?? null,
    service: transaction.service,
    instrument: {
      authorized,
      capture_limit: limit,
      capturing,
      captured,
      refunding,
      refunded,
      capturable: isCapturable,
    },
    captures: transaction.captures.map(({ amount, status, final, error }) => ({ amount, status, final, error })),
    refunds: transaction.refunds.map(({ amount, status, error }: Movement) => ({ amount, status, error })),
    attempts: transaction.attempts.map((attempt) => predictAttempt(model, attempt)),
  }
}

function predictAttempt(model: Model, attempt: Attempt): AttemptRecord {
  const { action, service, amount, state, result, error, checks, nextCheck } = attempt
  const found = model.provider.find(attempt.reference)
  const isPayment = found !== undefined && ['authorize', 'sale', 'late_sale'].includes(found.kind)
  const payment = isPayment ? found.payment : undefined
  return {
    action,
    service,
    amount,
    state,
    result,
    error,
    checks,
    next_check: nextCheck,
    operation: found
      ? { kind: found.kind, result: found.kind === 'never_arrived' ? null : found.outcome.result }
      : null,
    question: found?.question?.state ?? null,
    payment: payment
      ? {
          state: payment.state,
          authorized: payment.authorized,
          captured: payment.captured,
          refunded: payment.refunded,
        }
      : null,
  }
}

/** Throws with the difference. */
export async function compareSnapshots(world: World, model: Model, keys: Keys): Promise<Snapshot> {
  const found = await readSnapshot(world)
  deepStrictEqual(found, predictSnapshot(model, keys))
  return found
}

/** What must hold whatever the model thinks: our sums are the provider's, and nobody was charged twice. */
export function moneyProblems({ status, authorized, captured, refunded, ...record }: TransactionRecord): string[] {
  const payments = record.attempts.flatMap(({ payment }) => payment ?? [])
  const sum = (field: 'authorized' | 'captured' | 'refunded') =>
    payments.reduce((total, payment) => total + payment[field], 0)
  const of = (movements: readonly { amount: number; status: string }[]) =>
    movements.reduce((total, { amount, status }) => total + (status === 'succeeded' ? amount : 0), 0)
  const live = payments.filter(({ state }) => state === 'authorized' || state === 'completed').length
  const isOver = /^authorization_(failed|declined|voided)$/.test(status)
  const checks: [problem: string, isWrong: boolean][] = [
    ['captured is not what the provider captured', captured !== sum('captured')],
    ['refunded is not what the provider refunded', refunded !== sum('refunded')],
    ['captured is not the sum of the captures', captured !== of(record.captures)],
    ['refunded is not the sum of the refunds', refunded !== of(record.refunds)],
    ['more is refunded than captured', refunded > captured],
    ['several payments are alive at providers', live > 1],
    ['a payment is alive at a provider and over here', isOver && live > 0],
    ['a payment is over at the provider and alive here', !isOver && live === 0],
    ['authorized is not what the provider authorized', !isOver && authorized !== sum('authorized')],
    ['a call is left open', record.attempts.some(({ state }) => state !== 'done')],
    ['an amount is still promised', record.instrument.capturing + record.instrument.refunding !== 0],
  ]
  return checks.filter(([, isWrong]) => isWrong).map(([problem]) => `${record.id}: ${problem}`)
}

/** Events that were told twice: the number of an event is the version of its resource. */
export async function repeatedEvents({ admin }: World): Promise<unknown[]> {
  const { rows } = await admin.query(`
    select resource_type, resource_id, sequence, array_agg(name order by name) as names from events
    group by 1, 2, 3 having count(*) > 1`)
  return rows
}
