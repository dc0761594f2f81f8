import { type Db, read, write } from '../../../platform/postgres.ts'
import { type Sql, sql } from '../../../platform/sql.ts'
import type { Redirect } from '../../payment.ts'
import { type Kind, moves } from './moves.ts'
import type { Answer } from './rules.ts'

export interface OperationRow {
  reference: string
  id: string
  payment_id: string | null
  kind: Kind | 'never_arrived'
  amount: number
  lost: boolean
  /** Null only when it never arrived. */
  outcome: Answer | Redirect | null
  due_at: Date | null
}

const columns = sql`merchant_account_id, reference, id, payment_id, kind, amount, closes, lost, outcome, due_at`

/** The row that is there already, if there is one, at its newest: a plain `do nothing` would not tell what it says. */
const orTheOneThereIs = sql`on conflict (merchant_account_id, reference) do update set reference = excluded.reference`

export interface NewAuthorization {
  operation: {
    reference: string
    /** Also the payment's. */
    id: string
    kind: 'authorize' | 'sale' | 'late_sale'
    amount: number
    lost: boolean
    outcome: Answer | Redirect
    due_at: Date | null
    due_outcome: Answer | null
    decided_at: Date
  }
  payment: {
    id: string
    service_id: string
    currency: string
    state: 'pending' | 'authorized' | 'completed' | 'refused'
    authorized: number
    captured: number
    expires_at: Date
    forces: string | null
  }
}

/** Authorizations of one merchant account with their payments. A row whose id is not the given one was there before. */
export function insertAuthorizations(
  db: Db,
  account: string,
  authorizations: readonly NewAuthorization[],
): Promise<OperationRow[]> {
  const operations = authorizations.map(({ operation }) => operation)
  const payments = authorizations.map(({ payment }) => payment)
  return write(
    db,
    [account],
    (walls) => sql`
      insert into sandbox_card_operations (merchant_account_id, reference, id, payment_id, kind, amount, lost, outcome, due_at, due_outcome, decided_at)
      select ${account}, reference, id, id, kind, amount, lost, outcome, due_at, due_outcome, decided_at
      from ${walls}, json_to_recordset(${JSON.stringify(operations)}::json) as operation (
        reference text, id uuid, kind text, amount bigint, lost boolean, outcome jsonb, due_at timestamptz, due_outcome jsonb, decided_at timestamptz
      )
      order by reference
      ${orTheOneThereIs}
      returning ${columns}`,
    (changed) => sql`
      insert into sandbox_card_payments (merchant_account_id, id, service_id, currency, state, authorized, captured, refunded, expires_at, forces)
      select merchant_account_id, id, service_id, currency, state, authorized, captured, 0, expires_at, forces
      from ${changed} join json_to_recordset(${JSON.stringify(payments)}::json) as payment (
        id uuid, service_id text, currency text, state text, authorized bigint, captured bigint, expires_at timestamptz, forces text
      ) using (id)`,
  )
}

/** A call that waits for its buyer; should nobody decide, it falls due like any other. */
export interface WaitingCall {
  outcome: Redirect
  due_at: Date
  due_outcome: Answer
}

/** In a transaction. A row whose id is not the given one was there before. */
export async function insertEnrolment(
  db: Db,
  account: string,
  { id, reference, outcome, due_at, due_outcome }: WaitingCall & { id: string; reference: string },
): Promise<OperationRow | undefined> {
  const [row] = await db.run<OperationRow>(sql`
    insert into sandbox_card_operations (merchant_account_id, reference, id, kind, amount, outcome, due_at, due_outcome)
    values (${account}, ${reference}, ${id}, 'enrol', 0, ${JSON.stringify(outcome)}::jsonb, ${due_at}, ${JSON.stringify(due_outcome)}::jsonb)
    ${orTheOneThereIs}
    returning ${columns}`)
  return row
}

export interface FollowUp {
  reference: string
  id: string
  serviceId: string
  /** Null when what was sent cannot be one. */
  paymentId: string | null
  kind: Exclude<Kind, 'authorize' | 'sale' | 'late_sale' | 'enrol'>
  /** Null: that of the payment. */
  amount: number | null
  currency: string
  closes: boolean
  now: Date
  dueAt: Date
  /** How it is answered; null: as the card forces it. */
  delivery: 'now' | 'later' | 'lost' | null
  /** What cards force to answer it later, and to lose the answer. */
  later: readonly string[]
  lost: readonly string[]
  answers: {
    approved: Answer
    pending: Answer
    /** Instead of what the amount would have. */
    ruled: Answer | undefined
    /** By amount. */
    refused: Record<string, Answer>
    noSuchPayment: Answer
    otherCurrency: Answer
    notAllowed: Answer
    lapsed: Answer
    tooMuch: Answer
  }
}

/** A call about a payment: looks at it under a lock, decides, and moves the money. A row whose id is not the given one was there before. */
export async function insertFollowUp(db: Db, account: string, call: FollowUp): Promise<OperationRow | undefined> {
  const { allowed, lapsed, fits } = moves[call.kind]
  const answers = sql`${JSON.stringify(call.answers)}::jsonb`
  const [row] = await write<OperationRow>(
    db,
    [account],
    (walls) => sql`
      insert into sandbox_card_operations (merchant_account_id, reference, id, payment_id, kind, amount, closes, lost, outcome, due_at, due_outcome,
        decided_at)
      select ${account}, ${call.reference}, ${call.id}, payment.id, ${call.kind}, asked.amount, ${call.closes},
        coalesce(${call.delivery}::text = 'lost', payment.forces = any(${call.lost}::text[]), false),
        case when waits then answers -> 'pending' else verdict end,
        case when waits then ${call.dueAt}::timestamptz end,
        case when waits then verdict end,
        ${call.now}::timestamptz
      from ${walls}
        left join lateral (
          select * from sandbox_card_payments
          where walls.set_config is not null and merchant_account_id = ${account} and id = ${call.paymentId}::uuid and service_id = ${call.serviceId}
          for update
        ) as payment on true,
        lateral (select ${answers} as answers, coalesce(${call.amount}::bigint, payment.authorized, 0) as amount, ${call.now}::timestamptz as at) as asked,
        lateral (select coalesce(${call.delivery}::text = 'later', payment.forces = any(${call.later}::text[]), false) as waits) as manner,
        lateral (select case
          when payment.id is null then answers -> 'noSuchPayment'
          when payment.currency <> ${call.currency} then answers -> 'otherCurrency'
          when not (${allowed}) then answers -> 'notAllowed'
          when ${lapsed} then answers -> 'lapsed'
          when not (${fits}) then answers -> 'tooMuch'
          else coalesce(answers -> 'ruled', answers -> 'refused' -> asked.amount::text, answers -> 'approved')
        end as verdict) as decided
      ${orTheOneThereIs}
      returning ${columns}`,
    (changed) => movePayment(changed, call.kind, call.id),
  )
  return row
}

/** What is known about a reference. One that nobody knows is written down as never arrived, so that it cannot arrive any more. */
export async function findOrRefuse(
  db: Db,
  account: string,
  reference: string,
  id: string,
): Promise<OperationRow | undefined> {
  const [row] = await write<OperationRow>(
    db,
    [account],
    (walls) => sql`
      insert into sandbox_card_operations (merchant_account_id, reference, id, kind, amount)
      select ${account}, ${reference}, ${id}, 'never_arrived', 0 from ${walls}
      ${orTheOneThereIs}
      returning ${columns}`,
    (changed) => sql`select from ${changed}`,
  )
  return row
}

/**
 * Decides an operation whose time has come, or whose payment was canceled. Undefined when it is not time yet, or when somebody
 * else has just done it. The payment is locked before the operation, as in `insertFollowUp`.
 */
export async function settle(
  db: Db,
  account: string,
  { reference, id, kind }: { reference: string; id: string; kind: Kind },
  { now, notAllowed, tooMuch }: { now: Date; notAllowed: Answer; tooMuch: Answer },
): Promise<OperationRow | undefined> {
  const { allowed, fits } = moves[kind]
  const [row] = await write<OperationRow>(
    db,
    [account],
    (walls) => sql`
      insert into sandbox_card_operations (merchant_account_id, reference, id, payment_id, kind, amount, closes, lost, outcome, decided_at)
      select asked.merchant_account_id, asked.reference, asked.id, asked.payment_id, asked.kind, asked.amount, asked.closes, asked.lost,
        case
          when not (${allowed}) then ${JSON.stringify(notAllowed)}::jsonb
          when not (${fits}) then ${JSON.stringify(tooMuch)}::jsonb
          else asked.due_outcome
        end,
        ${now}::timestamptz
      from ${walls},
        lateral (
          select * from sandbox_card_operations
          where walls.set_config is not null and merchant_account_id = ${account} and reference = ${reference}
        ) as asked
        left join lateral (
          select * from sandbox_card_payments
          where merchant_account_id = asked.merchant_account_id and id = asked.payment_id
          for update
        ) as payment on true
      where asked.due_at <= ${now} or payment.state = 'canceled'
      on conflict (merchant_account_id, reference) do update set outcome = excluded.outcome, due_at = null, due_outcome = null, decided_at = excluded.decided_at
        where sandbox_card_operations.due_at is not null
      returning ${columns}`,
    (changed) => movePayment(changed, kind, id),
  )
  return row
}

/**
 * An `insert` that always finds its row there: an `update` would be free to look for the row before the accounts are set, and
 * then row level security hides it.
 */
function movePayment(changed: Sql, kind: Kind, id: string): Sql {
  const { applies, state, authorized, captured, refunded } = moves[kind]
  return sql`
    insert into sandbox_card_payments (merchant_account_id, id, service_id, currency, state, authorized, captured, refunded)
    select payment.merchant_account_id, payment.id, payment.service_id, payment.currency, ${state}, ${authorized}, ${captured}, ${refunded}
    from ${changed}, lateral (
      select * from sandbox_card_payments
      where merchant_account_id = changed.merchant_account_id and id = changed.payment_id
      for update
    ) as payment
    where changed.id = ${id} and changed.due_at is null and ${applies}
    on conflict (merchant_account_id, id) do update
      set state = excluded.state, authorized = excluded.authorized, captured = excluded.captured, refunded = excluded.refunded`
}

/** A call that moved money. */
export interface MoveRow {
  id: string
  reference: string
  kind: 'sale' | 'late_sale' | 'capture' | 'refund'
  amount: number
  decided_at: Date
  currency: string
  forces: string | null
}

/** What was charged and given back of a payment, oldest first. */
export function findMoves(
  db: Db,
  account: string,
  { paymentId, serviceId }: { paymentId: string; serviceId: string },
): Promise<MoveRow[]> {
  return read(
    db,
    [account],
    (visible) => sql`
      select operation.id, reference, kind, amount, decided_at, currency, forces
      from sandbox_card_payments as payment
        join sandbox_card_operations as operation
          on operation.merchant_account_id = payment.merchant_account_id and operation.payment_id = payment.id
      where ${visible(sql`payment.merchant_account_id`)} and ${visible(sql`operation.merchant_account_id`)}
        and payment.id = ${paymentId} and service_id = ${serviceId}
        and kind in ('sale', 'late_sale', 'capture', 'refund') and outcome ->> 'result' = 'approved'
      order by decided_at, operation.id`,
  )
}
