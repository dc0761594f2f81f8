import { nameOf } from './cases.ts'
import { refusedAmount } from './gift-card-cases.ts'
import type { CutCase } from './run.ts'
import type { Stage } from './stage.ts'

/** Whether everything is paid as the status says, or everybody has their money back. */

const paidStatuses = ['authorization_succeeded', 'capture_succeeded']

interface Books {
  /** What the provider has on each card, by fingerprint. */
  balances: ReadonlyMap<string, number>
  /** Our payments, by what they are called. */
  payments: ReadonlyMap<string, Payment>
}

interface Payment {
  order: string
  status: string
  /** Succeeded refunds, by position. */
  refunded: Readonly<Record<string, number>>
  /** The processor's, by the names of our calls. */
  theirs: readonly { state: string; authorized: number; captured: number; refunded: number }[]
}

export async function halfPaid(stage: Stage, account: string, cut: readonly CutCase[]): Promise<string[]> {
  const books = await readBooks(stage, account)
  const problems: string[] = []
  for (const one of cut.filter(({ giftCards }) => giftCards.length > 0)) {
    for (const problem of await problemsOf(stage, one, books)) problems.push(`${nameOf(one)}: ${problem}`)
  }
  // What was reserved and cannot be charged has no amount of its own to be known by.
  const kept = await stage.query<{ id: string }>(
    `select id from sandbox_card_payments where merchant_account_id = $1 and authorized = $2 and state = 'authorized'`,
    [account, refusedAmount],
  )
  return [...problems, ...kept.map(({ id }) => `${id} at the processor is reserved for nothing`)]
}

async function readBooks({ query }: Stage, account: string): Promise<Books> {
  const cards = await query<{ fingerprint: string; balance: string }>(
    'select fingerprint, balance from sandbox_gift_cards where merchant_account_id = $1',
    [account],
  )
  const payments = await query<Payment>(
    `select external_identifier as order, status,
      (select coalesce(jsonb_object_agg(instrument, refunded), '{}') from (
        select instrument, sum(amount) as refunded from refunds
        where merchant_account_id = payment.merchant_account_id and transaction_id = payment.id and status = 'succeeded' group by 1
      ) as refund) as refunded,
      (select coalesce(jsonb_agg(jsonb_build_object('state', theirs.state, 'authorized', authorized, 'captured', captured, 'refunded', refunded)), '[]')
        from attempts as attempt
          join sandbox_card_operations as operation
            on operation.merchant_account_id = attempt.merchant_account_id and operation.reference = attempt.id::text
          join sandbox_card_payments as theirs
            on theirs.merchant_account_id = operation.merchant_account_id and theirs.id = operation.payment_id
        where attempt.merchant_account_id = payment.merchant_account_id and attempt.transaction_id = payment.id
          and attempt.action = 'authorize') as theirs
    from transactions as payment where merchant_account_id = $1`,
    [account],
  )
  return {
    balances: new Map(cards.map(({ fingerprint, balance }) => [fingerprint, Number(balance)])),
    payments: new Map(payments.map((payment) => [payment.order, payment])),
  }
}

async function problemsOf({ vault }: Stage, one: CutCase, { balances, payments }: Books): Promise<string[]> {
  const payment = payments.get(one.order)
  const isPaid = payment !== undefined && paidStatuses.includes(payment.status)
  const status = payment?.status ?? 'not there'
  const problems: string[] = []
  for (const [index, card] of one.giftCards.entries()) {
    const balance = balances.get(await vault.fingerprintGiftCard(card.number)) ?? card.opening
    const taken = card.opening - balance
    const expected = isPaid ? card.amount - (payment.refunded[index + 1] ?? 0) : 0
    if (taken !== expected)
      problems.push(`the payment is ${status}, and gift card ${index + 1} paid ${taken}, not ${expected}`)
  }
  const theirs = payment?.theirs ?? []
  if (!isPaid) {
    const isKept = ({ state, captured, refunded }: (typeof theirs)[number]) =>
      state === 'authorized' || captured > refunded
    return theirs.some(isKept) ? [...problems, `the payment is ${status}, and the processor keeps its part`] : problems
  }
  const captured = payment.status === 'capture_succeeded' ? one.amount : 0
  const paid = theirs.filter((their) => their.authorized === one.amount && their.captured === captured)
  if (paid.length !== (one.amount > 0 ? 1 : 0)) {
    problems.push(`the payment is ${status}, and the processor has ${JSON.stringify(theirs)}`)
  }
  return problems
}
