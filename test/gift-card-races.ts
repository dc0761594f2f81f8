import { randomUUID } from 'node:crypto'
import { type GiftCard, giftCard } from './gift-cards.ts'
import type { Query } from './leak-scan.ts'
import { type Answer, type Send, serviceBody } from './payment-races.ts'

/** Many payments with one gift card that can pay for one of them, and many refunds of what it paid. */

export interface GiftCardArena {
  send: Send
  /** As the superuser. */
  query: Query
  /** Requests at the same moment. */
  wide: number
}

export interface GiftCardRound {
  kind: string
  requests: number
  violations: string[]
}

interface Round {
  arena: GiftCardArena
  reference: string
  gift: GiftCard
  violations: string[]
}

const amount = 500
const rest = 1000

/** Who takes the payments of all rounds. */
export async function serveRaces(send: Send): Promise<void> {
  const make = async (path: string, body: object) => {
    const { status, text } = await send('POST', path, { body })
    if (status !== 201) throw new Error(`${path} was answered ${status}: ${text}`)
  }
  await make('/payment-services', serviceBody)
  await make('/gift-card-services', {
    display_name: 'Races',
    gift_card_service_definition_id: 'mock-gift-card',
    fields: [{ key: 'api_key', value: 'races' }],
  })
}

interface Told {
  id: string
  status: string
  error_code: string | null
  gift_card_redemptions: readonly { id: string }[]
}
const told = ({ text }: Answer) => JSON.parse(text) as Told
const isPaid = ({ status }: Pick<Told, 'status'>) =>
  status === 'authorization_succeeded' || status === 'capture_succeeded'

const card = { method: 'card', number: '4111111111111111', expiration_date: '12/49', security_code: '123' }

type Paying = { isMixed: boolean; isStored: boolean; keys: 'none' | 'in pairs'; intent: 'authorize' | 'capture' }

async function payment({ arena, reference, gift }: Round, { isMixed, isStored, intent }: Paying): Promise<object> {
  const stored = isStored ? told(await arena.send('POST', '/gift-cards', { body: gift })) : undefined
  return {
    amount: isMixed ? amount + rest : amount,
    currency: 'EUR',
    country: 'DE',
    intent,
    external_identifier: reference,
    payment_method: isMixed ? card : null,
    gift_cards: [{ ...(stored ? { id: stored.id } : gift), amount }],
  }
}

/** One of them is paid; all others hear that the card has too little, and have their money back. */
async function payAtOnce(round: Round, paying: Paying): Promise<number> {
  const { send, wide } = round.arena
  const body = await payment(round, paying)
  const keys = paying.keys === 'none' ? [] : Array.from({ length: Math.ceil(wide / 2) }, () => randomUUID())
  const keyOf = (index: number) => keys[Math.floor(index / 2)]
  const answers = await Promise.all(
    Array.from({ length: wide }, async (_, index) => {
      const key = keyOf(index)
      return { key, ...(await send('POST', '/transactions', { body, ...(key && { key }) })) }
    }),
  )
  // Whoever came while the first with its key was at work is told to wait.
  const strange = answers.filter(({ status, key }) => status !== 201 && !(key && status === 409))
  for (const { status, text } of strange) round.violations.push(`answered ${status}: ${text.slice(0, 200)}`)
  const made = answers.filter(({ status }) => status === 201)
  const distinct = new Map(made.map((answer) => [told(answer).id, told(answer)]))
  const expected = keys.length || wide
  if (distinct.size !== expected) round.violations.push(`${distinct.size} payments were answered, not ${expected}`)
  for (const [key, same] of Map.groupBy(made, ({ key }) => key)) {
    const texts = new Set(same.map(({ text }) => text))
    if (key && texts.size > 1) round.violations.push('one key was given different answers')
  }
  complain(round, 'answers', [...distinct.values()])
  const records = await round.arena.query<Pick<Told, 'status' | 'error_code'>>(
    `with ${ofRound} select status, error_code from transactions join payment using (merchant_account_id, id)`,
    [round.reference],
  )
  if (records.length !== expected) round.violations.push(`${records.length} payments on record, not ${expected}`)
  complain(round, 'records', records)
  await checkBooks(round, { balance: 0, reservations: paying.isMixed ? 1 : 0 })
  return wide
}

function complain(round: Round, where: string, payments: readonly Pick<Told, 'status' | 'error_code'>[]): void {
  const paid = payments.filter(isPaid).length
  if (paid !== 1) round.violations.push(`${where}: ${paid} payments succeeded, not 1`)
  const others = payments.filter(
    (one) => !isPaid(one) && !(one.status === 'authorization_failed' && one.error_code === 'insufficient_funds'),
  )
  const counts = Map.groupBy(others, ({ status, error_code }) => `${status} (${error_code})`)
  for (const [what, some] of counts) round.violations.push(`${where}: ${some.length} are ${what}`)
}

/** The payments of a round, by the index there is: one reading of the whole table a round would take longer than the round. */
const ofRound = `payment as materialized (
  select merchant_account_id, id from transaction_facts where merchant_account_id = 'default' and external_identifier = $1)`

/** What the gift card has, how often it was charged, and what the card processor has kept. */
async function checkBooks(
  { arena: { query }, reference, violations }: Round,
  expected: { balance: number; reservations: number },
): Promise<void> {
  const [found] = await query<{ balance: string | null; charges: number; reservations: number }>(
    `with ${ofRound},
      redemption as materialized (
        select redemption.merchant_account_id, redemption.id::text as reference, fingerprint
        from payment join gift_card_redemptions as redemption
          on redemption.merchant_account_id = payment.merchant_account_id and redemption.transaction_id = payment.id
      ),
      attempt as materialized (
        select attempt.merchant_account_id, attempt.id::text as reference
        from payment join attempts as attempt
          on attempt.merchant_account_id = payment.merchant_account_id and attempt.transaction_id = payment.id
        where attempt.action = 'authorize'
      )
    select
      (select balance from sandbox_gift_cards join (select distinct merchant_account_id, fingerprint from redemption) as card
        using (merchant_account_id, fingerprint)) as balance,
      (select count(*)::int from redemption join sandbox_gift_card_operations using (merchant_account_id, reference) where state = 'done') as charges,
      (
        select count(*)::int from attempt join sandbox_card_operations as operation using (merchant_account_id, reference)
          join sandbox_card_payments as theirs
            on theirs.merchant_account_id = operation.merchant_account_id and theirs.id = operation.payment_id
        where theirs.state in ('authorized', 'completed')
      ) as reservations`,
    [reference],
  )
  const balance = found?.balance === undefined ? null : Number(found.balance)
  if (balance !== expected.balance) violations.push(`the gift card has ${balance}, not ${expected.balance}`)
  if (found?.charges !== 1) violations.push(`the gift card was charged ${found?.charges} times`)
  if (found?.reservations !== expected.reservations) {
    violations.push(`the card processor keeps ${found?.reservations} payments, not ${expected.reservations}`)
  }
}

/** Each wants half of what the gift card paid: there are two halves. */
async function refundHalves(round: Round, isMixed: boolean): Promise<number> {
  const { send, query, wide } = round.arena
  const paid = await send('POST', '/transactions', {
    body: await payment(round, { isMixed, isStored: false, keys: 'none', intent: 'capture' }),
  })
  const { id, gift_card_redemptions: redemptions } = told(paid)
  const body = { target_type: 'gift-card-redemption', target_id: redemptions[0]?.id, amount: amount / 2 }
  const answers = await Promise.all(
    Array.from({ length: wide }, () => send('POST', `/transactions/${id}/refunds`, { body })),
  )
  const strange = answers.filter(({ status }) => status !== 201 && status !== 400)
  for (const { status, text } of strange) round.violations.push(`answered ${status}: ${text.slice(0, 200)}`)
  const given = answers.filter((answer) => answer.status === 201)
  if (given.length !== 2) round.violations.push(`${given.length} refunds were begun, not 2`)
  const succeeded = given.filter((answer) => told(answer).status === 'succeeded').length
  if (succeeded !== 2) round.violations.push(`${succeeded} refunds succeeded, not 2`)
  const [record] = await query<{ refunded: number }>(
    `select refunded_amount::int as refunded from transactions where merchant_account_id = 'default' and id = $1`,
    [id],
  )
  if (record?.refunded !== amount) round.violations.push(`${record?.refunded} is refunded, not ${amount}`)
  await checkBooks(round, { balance: amount, reservations: isMixed ? 1 : 0 })
  return wide + 1
}

const paying = (change: Partial<Paying>) => (round: Round) =>
  payAtOnce(round, { isMixed: false, isStored: false, keys: 'none', intent: 'authorize', ...change })

/** Half of the rounds with another method beside the gift card. */
const kinds: Record<string, (round: Round) => Promise<number>> = {
  alone: paying({ intent: 'capture' }),
  mixed: paying({ isMixed: true, intent: 'capture' }),
  'alone, keys in pairs': paying({ keys: 'in pairs' }),
  'mixed, keys in pairs': paying({ isMixed: true, keys: 'in pairs', intent: 'capture' }),
  'alone, stored': paying({ isStored: true }),
  'mixed, stored': paying({ isMixed: true, isStored: true }),
}
export const raceKinds = Object.keys(kinds)

const refundKinds: Record<string, (round: Round) => Promise<number>> = {
  'refunds, alone': (round) => refundHalves(round, false),
  'refunds, mixed': (round) => refundHalves(round, true),
}
export const refundRaceKinds = Object.keys(refundKinds)

export async function runGiftCardRound(arena: GiftCardArena, kind: string): Promise<GiftCardRound> {
  const round: Round = { arena, reference: randomUUID(), gift: giftCard(amount), violations: [] }
  const run = kinds[kind] ?? refundKinds[kind]
  if (!run) throw new Error(`there is no kind of round called ${kind}`)
  const requests = await run(round)
  return { kind, requests, violations: round.violations.map((violation) => `${kind}: ${violation}`) }
}
