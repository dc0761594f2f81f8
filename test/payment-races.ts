import { randomUUID } from 'node:crypto'
import type { Query } from './leak-scan.ts'
import { moneyProblems, recordsByReference, type TransactionRecord } from './payment-model/snapshot.ts'

/** Many requests about one payment at the same moment, and what must be true of it afterwards. */

export interface Answer {
  status: number
  text: string
}

/** Whoever runs the rounds says how a request is sent; callers share nothing but the API. */
export type Send = (method: string, path: string, options?: { body?: object; key?: string }) => Promise<Answer>

export interface Arena {
  send: Send
  /** As the superuser. */
  query: Query
  /** Requests at the same moment. */
  wide: number
  /** What the account may capture beyond an authorization. */
  allowance: number
}

/** The provider that all rounds use. */
export const serviceBody = {
  display_name: 'Races',
  payment_service_definition_id: 'mock-card',
  fields: [{ key: 'merchant_id', value: 'races' }],
  accepted_currencies: ['EUR'],
  accepted_countries: ['DE'],
}

export interface RoundResult {
  kind: string
  requests: number
  violations: string[]
}

const amount = 1000
const cards = {
  plain: '4111111111111111',
  pending: '4000000000002008',
  capture: '4000000000002016',
  refund: '4000000000002032',
}

interface Round {
  arena: Arena
  reference: string
  violations: string[]
  requests: number
}

/** Sends `wide` requests at once, and objects to answers that are never right. */
async function crowd(round: Round, request: (index: number) => Promise<Answer>): Promise<Answer[]> {
  const { wide } = round.arena
  const answers = await Promise.all(Array.from({ length: wide }, (_, index) => request(index)))
  round.requests += wide
  const strange = answers.filter(({ status }) => ![200, 201, 400, 409].includes(status))
  for (const { status, text } of strange) round.violations.push(`answered ${status}: ${text.slice(0, 200)}`)
  return answers
}

const good = (answers: readonly Answer[]) => answers.filter(({ status }) => status < 300)

function expectGood(round: Round, answers: readonly Answer[], least: number, most = least): void {
  const count = good(answers).length
  if (count < least || count > most) round.violations.push(`${count} requests succeeded, not ${least} to ${most}`)
}

const bodyOf = ({ text }: Answer) => JSON.parse(text) as { id: string; status: string; [field: string]: unknown }

const payment = (round: Round, change: object = {}, card: keyof typeof cards = 'plain') => ({
  amount,
  currency: 'EUR',
  country: 'DE',
  external_identifier: round.reference,
  payment_method: { method: 'card', number: cards[card], expiration_date: '12/49', security_code: '123' },
  ...change,
})

async function pay(round: Round, change?: object, card?: keyof typeof cards): Promise<string> {
  const answer = await round.arena.send('POST', '/transactions', { body: payment(round, change, card) })
  if (answer.status !== 201) throw new Error(`a payment was answered ${answer.status}: ${answer.text}`)
  return `/transactions/${bodyOf(answer).id}`
}

/** The same key again and again: one answer, byte for byte; whoever comes while it is made is told to wait. */
async function oneAnswer(round: Round, path: string, body: object, stored: string): Promise<void> {
  const { send, query } = round.arena
  const key = randomUUID()
  const ask = () => send('POST', path, { body, key })
  const answers = await crowd(round, ask)
  const texts = new Set(good(answers).map(({ text }) => text))
  // Whatever the crowd was told, whoever asks now gets the answer.
  const again = await ask()
  round.requests += 1
  texts.add(again.text)
  if (again.status >= 300) round.violations.push(`the key was answered ${again.status} afterwards`)
  if (texts.size !== 1) round.violations.push(`one key was given ${texts.size} different answers`)
  const others = answers.filter(({ status }) => status >= 300 && status !== 409)
  if (others.length > 0) round.violations.push(`one key was answered ${others.map(({ status }) => status).join(', ')}`)
  const rows = await query('select body from idempotency_keys where operation = $1 and key = $2', [stored, key])
  if (rows.length !== 1 || rows[0]?.['body'] !== again.text)
    round.violations.push('the stored answer is not the given one')
}

/** What takes time is due now, as if it had passed. */
const letTimePass = ({ arena: { query } }: Round) =>
  query("update sandbox_card_operations set due_at = now() - interval '1 second' where due_at is not null")

type Kind = (round: Round) => Promise<{ captured?: number; refunded?: number; captures?: number; refunds?: number }>

const kinds: Record<string, Kind> = {
  'capture and void': async (round) => {
    const { send } = round.arena
    const path = await pay(round)
    expectGood(round, await crowd(round, (index) => send('POST', `${path}/${index % 2 ? 'void' : 'capture'}`)), 1)
    return {}
  },
  'captures of everything': async (round) => {
    const { send, wide } = round.arena
    const path = await pay(round)
    // From two to all of them: few at once meet at other places than many.
    const body = { amount, final: true }
    const few = [2, 5, 20, wide][round.reference.charCodeAt(0) % 4] ?? wide
    const narrow = { ...round, arena: { ...round.arena, wide: Math.min(few, wide) } }
    expectGood(round, await crowd(narrow, () => send('POST', `${path}/capture`, { body })), 1)
    round.requests = narrow.requests
    return { captured: amount, captures: 1 }
  },
  'captures of parts': async (round) => {
    const { send, allowance } = round.arena
    const path = await pay(round)
    const part = 450
    const answers = await crowd(round, () => send('POST', `${path}/capture`, { body: { amount: part, final: false } }))
    expectGood(round, answers, 1, Math.floor((amount + allowance) / part))
    const captures = good(answers).length
    return { captured: captures * part, captures }
  },
  refunds: async (round) => {
    const { send, wide } = round.arena
    const path = await pay(round, { intent: 'capture' })
    const part = 150
    const answers = await crowd(round, () => send('POST', `${path}/refunds`, { body: { amount: part } }))
    const most = Math.min(wide, Math.floor(amount / part))
    expectGood(round, answers, most)
    return { captured: amount, refunded: most * part, refunds: most }
  },
  'refunds of everything': async (round) => {
    const { send } = round.arena
    const path = await pay(round, { intent: 'capture' })
    expectGood(round, await crowd(round, () => send('POST', `${path}/refunds/all`)), 1)
    return { captured: amount, refunded: amount, refunds: 1 }
  },
  // The one raises what the other may give back.
  'captures and refunds': async (round) => {
    const { send } = round.arena
    const path = await pay(round)
    await send('POST', `${path}/capture`, { body: { amount: 300, final: false } })
    const answers = await crowd(round, (index) =>
      index % 2
        ? send('POST', `${path}/refunds`, { body: { amount: 70 } })
        : send('POST', `${path}/capture`, { body: { amount: 100, final: false } }),
    )
    const captures = 1 + good(answers.filter((_, index) => index % 2 === 0)).length
    const refunds = good(answers.filter((_, index) => index % 2 === 1)).length
    return { captured: 200 + captures * 100, captures, refunded: refunds * 70, refunds }
  },
  'one key, payments': async (round) => {
    await oneAnswer(round, '/transactions', payment(round, { intent: 'capture' }), 'createTransaction')
    return { captured: amount, captures: 1 }
  },
  'one key, captures': async (round) => {
    const path = await pay(round)
    await oneAnswer(round, `${path}/capture`, { amount: 400, final: false }, 'captureTransaction')
    return { captured: 400, captures: 1 }
  },
  'one key, refunds': async (round) => {
    const path = await pay(round, { intent: 'capture' })
    await oneAnswer(round, `${path}/refunds`, { amount: 150 }, 'createRefund')
    return { captured: amount, refunded: 150, refunds: 1 }
  },
  'cancel and sync': async (round) => {
    const { send } = round.arena
    const path = await pay(round, { intent: 'capture' }, 'pending')
    await crowd(round, (index) => send('POST', `${path}/${index % 2 ? 'cancel' : 'sync'}`))
    await letTimePass(round)
    await send('POST', `${path}/sync`)
    return {}
  },
  'cancel and sync when it is due': async (round) => {
    const { send } = round.arena
    const path = await pay(round, { intent: 'capture' }, 'pending')
    await letTimePass(round)
    await crowd(round, (index) => send('POST', `${path}/${index % 2 ? 'cancel' : 'sync'}`))
    await send('POST', `${path}/sync`)
    return {}
  },
  'sync of a pending capture': async (round) => {
    const { send } = round.arena
    const path = await pay(round, {}, 'capture')
    await send('POST', `${path}/capture`)
    await letTimePass(round)
    await crowd(round, (index) => send('POST', `${path}/${index % 3 ? 'sync' : 'capture'}`))
    return { captured: amount, captures: 1 }
  },
  'sync of pending refunds': async (round) => {
    const { send } = round.arena
    const path = await pay(round, { intent: 'capture' }, 'refund')
    await send('POST', `${path}/refunds`, { body: { amount: 600 } })
    await letTimePass(round)
    await crowd(round, (index) =>
      index % 3 ? send('POST', `${path}/sync`) : send('POST', `${path}/refunds`, { body: { amount: 400 } }),
    )
    await letTimePass(round)
    await send('POST', `${path}/sync`)
    return { captured: amount, refunded: amount, refunds: 2 }
  },
}

export const kindNames = Object.keys(kinds)

export async function runRound(arena: Arena, name: string): Promise<RoundResult> {
  const round: Round = { arena, reference: randomUUID(), violations: [], requests: 0 }
  const kind = kinds[name]
  if (!kind) throw new Error(`there is no kind of round called ${name}`)
  const expected = await kind(round)
  const records = (await arena.query(recordsByReference, [round.reference])) as unknown as TransactionRecord[]
  round.violations.push(...(await recordProblems(arena, records, expected)), ...(await eventProblems(arena, records)))
  return { kind: name, requests: round.requests, violations: round.violations.map((problem) => `${name}: ${problem}`) }
}

/** Through the API, in our tables and in the provider's books. */
async function recordProblems(
  { send, allowance }: Arena,
  [record, ...others]: readonly TransactionRecord[],
  expected: Awaited<ReturnType<Kind>>,
): Promise<string[]> {
  if (!record) return ['there is no transaction']
  const problems = moneyProblems(record)
  if (others.length > 0) problems.push(`${others.length + 1} transactions instead of one`)
  const succeeded = (movements: readonly { status: string }[]) =>
    movements.filter(({ status }) => status === 'succeeded').length
  const found = {
    captured: record.captured,
    refunded: record.refunded,
    captures: succeeded(record.captures),
    refunds: succeeded(record.refunds),
  }
  for (const [field, value] of Object.entries(expected)) {
    const actual = found[field as keyof typeof found]
    if (actual !== value) problems.push(`${field} is ${actual}, not ${value}`)
  }
  if (record.captured > record.authorized + allowance) problems.push('more is captured than was allowed')
  const voids = record.attempts.filter(({ action, result }) => action === 'void' && result === 'approved').length
  if (voids > 0 && found.captures > 0) problems.push('captured and voided')
  const told = bodyOf(await send('GET', `/transactions/${record.id}`))
  const { status, captured_amount: captured, refunded_amount: refunded } = told
  if (status !== record.status || captured !== record.captured || refunded !== record.refunded) {
    problems.push('the API tells another story than the database')
  }
  return problems
}

/** Every change is told once: an event's number is the resource's version. */
async function eventProblems({ query }: Arena, records: readonly TransactionRecord[]): Promise<string[]> {
  const repeated = await query<{ name: string; times: number }>(
    `select min(name) as name, count(*)::int as times from events
    where resource_type = 'transaction' and resource_id = any($1) group by resource_id, sequence having count(*) > 1`,
    [records.map(({ id }) => id)],
  )
  return repeated.map(({ name, times }) => `${name} was told ${times} times`)
}
