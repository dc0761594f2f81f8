import { type Difference, verifyTransactions } from '../../src/areas/transactions/operations/verify.ts'
import { nameOf } from './cases.ts'
import { isOfGiftCards, refusedAmount } from './gift-card-cases.ts'
import { halfPaid } from './judge-gift-cards.ts'
import type { CutCase } from './run.ts'
import type { Stage } from './stage.ts'

export interface Findings {
  /** Transactions, refunds, attempts and methods that nobody knows the end of. */
  unknown_left: number
  /** What `florin verify` reports, the provider's books included. */
  books_differ: number
  double_charges: number
  /** Payments whose gift cards or processor paid other than the status says. */
  half_paid: number
  /** Clients with a key that got no answer, or one about something else. */
  lost_answers: number
  /** Numbers in the vault without a method, and methods without their number. */
  orphan_numbers: number
  /** Final states that were told not once. */
  events_wrong: number
  details: string[]
}

interface TransactionState {
  id: string
  order: string
  giftCards: readonly { status: string }[] | null
  status: string
  captured: number
  refunded: number
}

interface ProviderState {
  amount: number
  state: string
  authorized: number
  captured: number
  refunded: number
}

/** What is left after everybody came back and the janitor went round. */
export async function judge(stage: Stage, account: string, cut: readonly CutCase[]): Promise<Findings> {
  const details: string[] = []
  const count = (name: string, found: readonly string[]) => {
    details.push(...found.map((line) => `${name}: ${line}`))
    return found.length
  }
  return {
    unknown_left: count('unknown', await unknownLeft(stage, account)),
    books_differ: count('books differ', await booksDiffer(stage, account)),
    ...(await judgeCases(stage, account, cut, count)),
    half_paid: count('half paid', await halfPaid(stage, account, cut)),
    orphan_numbers: count('number', await orphanNumbers(stage, account)),
    events_wrong: count('event', await wrongEvents(stage, account)),
    details,
  }
}

async function unknownLeft({ query }: Stage, account: string): Promise<string[]> {
  const rows = await query<{ line: string }>(
    `select 'transaction ' || id || ' is ' || status as line from transactions
      where merchant_account_id = $1 and status in ('processing', 'buyer_approval_pending', 'capture_pending', 'authorization_void_pending')
    union all select 'refund ' || id || ' is ' || status from refunds where merchant_account_id = $1 and status = 'processing'
    union all select 'capture ' || id || ' is ' || status from captures where merchant_account_id = $1 and status = 'pending'
    union all select 'redemption ' || id || ' is ' || status from gift_card_redemptions where merchant_account_id = $1 and status = 'created'
    union all select action || ' attempt ' || id || ' is ' || state from attempts where merchant_account_id = $1 and state <> 'done'
    union all select 'method ' || id || ' is ' || status from payment_methods where merchant_account_id = $1 and status = 'processing'`,
    [account],
  )
  return rows.map(({ line }) => line)
}

async function booksDiffer({ worker }: Stage, account: string): Promise<string[]> {
  const lines: string[] = []
  const onDifference = ({ id, what, expected, found }: Difference) =>
    void lines.push(`${id} ${what}: expected ${expected}, found ${found}`)
  await verifyTransactions({ db: worker, accounts: [account] }, { onDifference })
  return lines
}

async function judgeCases(
  { query }: Stage,
  account: string,
  cut: readonly CutCase[],
  count: (name: string, found: readonly string[]) => number,
): Promise<Pick<Findings, 'double_charges' | 'lost_answers'>> {
  const ours = await query<TransactionState>(
    `select id, external_identifier as order, gift_card_redemptions::json as "giftCards", status, captured_amount as captured,
      refunded_amount as refunded
    from transactions where merchant_account_id = $1`,
    [account],
  )
  const theirs = await query<ProviderState>(
    `select operation.amount, payment.state, payment.authorized, payment.captured, payment.refunded
     from sandbox_card_payments as payment join sandbox_card_operations as operation
       on operation.merchant_account_id = payment.merchant_account_id and operation.id = payment.id
     where payment.merchant_account_id = $1`,
    [account],
  )
  const refunds = await query<{ transaction_id: string; id: string; status: string }>(
    'select transaction_id, id, status from refunds where merchant_account_id = $1 order by id',
    [account],
  )
  const oursOf = Map.groupBy(ours, ({ order }) => order)
  const theirsOf = Map.groupBy(theirs, ({ amount }) => amount)
  const refundsOf = Map.groupBy(refunds, ({ transaction_id }) => transaction_id)
  const doubles: string[] = []
  const lost: string[] = []
  for (const one of cut) {
    const name = nameOf(one)
    const transactions = oursOf.get(one.order) ?? []
    // Many payments have the amount that cannot be charged; they are judged by the names of the calls.
    const payments = one.amount === refusedAmount ? [] : (theirsOf.get(one.amount) ?? [])
    const charged = payments.filter(({ authorized, captured }) => authorized + captured > 0)
    const [payment] = charged
    if (charged.length > 1) doubles.push(`${name}: ${charged.length} payments at the provider`)
    if (transactions.length > 1) doubles.push(`${name}: ${transactions.length} transactions`)
    if (one.operation === 'capture' && (payment?.captured ?? 0) > one.part) doubles.push(`${name}: captured twice`)
    if (one.operation === 'refund' && (payment?.refunded ?? 0) > one.part) doubles.push(`${name}: refunded twice`)
    const [transaction] = transactions
    if (!transaction) {
      if (one.key !== undefined || payments.length > 0) lost.push(`${name}: there is no transaction`)
      continue
    }
    const problem = answerProblem(one, transaction, refundsOf.get(transaction.id) ?? [])
    if (problem) lost.push(`${name}: ${problem}`)
  }
  return { double_charges: count('double', doubles), lost_answers: count('lost', lost) }
}

/** Whether the answer is about what is on record now. */
function answerProblem(
  { operation, key, answer }: CutCase,
  transaction: TransactionState,
  refunds: readonly { id: string; status: string }[],
): string | undefined {
  if (refunds.length > (operation === 'refund all' ? 3 : 1)) return `${refunds.length} refunds`
  if (key === undefined && !answer) return undefined
  if (!answer) return 'no answer'
  if (operation === 'refund all') return answerAllProblem(answer.body['items'], refunds)
  const isRefund = operation === 'refund' || operation === 'refund to a gift card'
  const { id, status } = answer.body
  const subject = isRefund ? refunds[0] : transaction
  if (id !== subject?.id) return `the answer is about ${String(id)}, on record is ${String(subject?.id)}`
  if (status !== subject?.status) return `the answer says ${String(status)}, on record is ${String(subject?.status)}`
  if (isRefund) return undefined
  if (answer.body['captured_amount'] !== transaction.captured) return 'the answer says another captured amount'
  if (!isOfGiftCards(operation)) return undefined
  const told = JSON.stringify(answer.body['gift_card_redemptions'])
  return told === JSON.stringify(transaction.giftCards) ? undefined : `the answer says of the gift cards ${told}`
}

function answerAllProblem(items: unknown, refunds: readonly { id: string; status: string }[]): string | undefined {
  const listed = (items as readonly { id: string; status: string }[]).map(({ id, status }) => `${id} ${status}`)
  const found = refunds.map(({ id, status }) => `${id} ${status}`)
  return listed.toSorted().join() === found.join() ? undefined : `the answer has ${listed.join()}, not ${found.join()}`
}

async function orphanNumbers({ query }: Stage, account: string): Promise<string[]> {
  const rows = await query<{ line: string }>(
    `select 'without a method: ' || id as line from vault.secrets as secret where merchant_account_id = $1 and not exists (
      select from payment_methods as method
      where method.merchant_account_id = secret.merchant_account_id and method.id = secret.id and method.status <> 'failed'
      union all select from gift_cards as card
      where card.merchant_account_id = secret.merchant_account_id and card.id = secret.id
      union all select from gift_card_services as service
      where service.merchant_account_id = secret.merchant_account_id and service.id = secret.id)
    union all select 'missing for the method ' || id from payment_methods as method
    where merchant_account_id = $1 and status = 'succeeded' and not exists (
      select from vault.secrets as secret where secret.merchant_account_id = method.merchant_account_id and secret.id = method.id)`,
    [account],
  )
  return rows.map(({ line }) => line)
}

/** Each final state is told once: not lost with the process that died, and not told again by whoever found out. */
async function wrongEvents({ query }: Stage, account: string): Promise<string[]> {
  const rows = await query<{ line: string }>(
    `select transaction.id || ' is ' || status || ', told ' || told.count || ' times' as line
     from transactions as transaction, lateral (
       select count(*) from events
       where events.merchant_account_id = transaction.merchant_account_id and resource_id = transaction.id::text and name = case status
         when 'authorization_succeeded' then 'transaction.authorized' when 'authorization_declined' then 'transaction.declined'
         when 'authorization_failed' then 'transaction.failed' when 'authorization_voided' then 'transaction.voided'
         when 'capture_succeeded' then 'transaction.captured' end
     ) as told
     where transaction.merchant_account_id = $1 and status !~ 'processing|pending' and told.count <> 1`,
    [account],
  )
  return rows.map(({ line }) => line)
}
