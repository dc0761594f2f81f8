import { type Answer } from '../api.ts'
import { makePayments } from '../every-state.ts'
import { createRandom, goodMessage, makeMessage, type Message, signedAgain, type Target } from './messages.ts'

/** An api that runs, and what the storm may ask its database. */
export interface Ground {
  url: string
  /** As the owner of everything, for one account. */
  request(account: string, method: string, path: string, options?: { body?: unknown }): Promise<Answer>
  query<Row>(text: string, values?: unknown[]): Promise<Row[]>
  /** What `florin verify` finds. */
  differences(): Promise<readonly unknown[]>
}

export interface Report {
  messages: number
  requests: number
  taken: number
  refused: number
  payments: number
  settled: number
  kinds: Record<string, number>
  violations: string[]
}

/** Everything that is on record of a payment and must not be there twice; what the time or a new id makes different is left out. */
interface Shape {
  row: unknown
  captures: unknown
  refunds: unknown
  /** None where nobody was asked. */
  attempts: { state: string }[] | null
  timeline: string[]
  events: string[]
  provider: unknown
}
interface Seen extends Shape {
  id: string
  /** Messages that the timeline tells of. */
  processed: number
}

const shapes = `
  select t.id,
    json_build_array(status, intent_outcome, amount, authorized_amount, captured_amount, refunded_amount, error_code, version) as row,
    (select coalesce(json_agg(json_build_array(amount, status, version) order by amount, status), '[]') from captures c where c.transaction_id = t.id) as captures,
    (select coalesce(json_agg(json_build_array(amount, status, version) order by amount, status), '[]') from refunds r where r.transaction_id = t.id) as refunds,
    (select json_agg(json_build_object('action', action, 'state', state, 'result', result, 'amount', amount) order by action, amount)
      from attempts a where a.transaction_id = t.id) as attempts,
    (select coalesce(array_agg(name order by name), '{}') from transaction_events e
      where e.transaction_id = t.id and name not like '%webhook-processed') as timeline,
    (select count(*)::int from transaction_events e where e.transaction_id = t.id and name like '%webhook-processed') as processed,
    (select coalesce(array_agg(name || ' ' || sequence order by name, sequence), '{}') from events v
      where v.resource_id = t.id::text or v.resource_id in (select id::text from captures c where c.transaction_id = t.id
        union select id::text from refunds r where r.transaction_id = t.id)) as events,
    (select json_agg(json_build_array(p.state, p.authorized, p.captured, p.refunded) order by p.state) from sandbox_card_payments p
      where p.id in (select payment_id from sandbox_card_operations o join attempts a on a.id::text = o.reference where a.transaction_id = t.id)) as provider
  from transactions t`

async function look(ground: Ground): Promise<Map<string, Seen>> {
  const rows = await ground.query<Seen>(shapes)
  return new Map(rows.map((row) => [row.id, row]))
}

const shapeOf = ({ id: _id, processed: _processed, ...shape }: Seen) => JSON.stringify(shape)

interface Party {
  account: string
  services: { id: string; secret: string }[]
  payments: Record<string, string>[]
}

/**
 * Messages of every sort, good and forged, about payments in every state. One account is the measure: there each open payment gets one good
 * message. Afterwards payments that good messages were about look as theirs, all others as before, and the same messages once more change nothing.
 */
export async function runStorm(
  ground: Ground,
  {
    messages: count,
    seed,
    rounds,
    atOnce = 16,
    note = () => undefined,
  }: {
    messages: number
    seed: number
    /** Sets of payments an account. */
    rounds: number
    atOnce?: number
    note?: (line: string) => void
  },
): Promise<Report> {
  const random = createRandom(seed)
  const violations: string[] = []
  const measure = await prepare(ground, 'measure', 1)
  const parties = [await prepare(ground, 'storm-a', rounds), await prepare(ground, 'storm-b', rounds)]
  await ground.query("update sandbox_card_operations set due_at = due_at - interval '1 hour'")
  // In every other set the provider decides much later, and what is pending stays so.
  const isLate = (name: string, round: number) => round % 2 === 1 && /pending|captured later/.test(name)
  for (const { payments } of parties) {
    for (const [round, set] of payments.entries()) {
      const late = Object.entries(set).flatMap(([name, id]) => (isLate(name, round) ? [id] : []))
      await ground.query(
        `update sandbox_card_operations set due_at = now() + interval '1 day' where due_at is not null
         and reference in (select id::text from attempts where transaction_id = any($1::uuid[]))`,
        [late],
      )
    }
  }

  const attempts = await ground.query<{
    id: string
    transaction_id: string
    payment_service_id: string
    state: string
  }>('select id, transaction_id, payment_service_id, state from attempts')
  const before = await look(ground)
  const sentOnce = await measureOnce(ground, measure, attempts)
  const expectedOf = await look(ground)

  // In each set every third payment is left to the forgers.
  const isTouched = new Set(
    parties.flatMap(({ payments }) =>
      payments.flatMap((set) => Object.values(set).filter((_id, index) => index % 3 !== 2)),
    ),
  )
  const targets = parties
    .flatMap(({ account, services }) =>
      services.map(({ id, secret }): Target => {
        const own = attempts.filter(({ payment_service_id }) => payment_service_id === id)
        const open = own.filter(({ state }) => state !== 'done')
        return {
          account,
          service: id,
          secret,
          touched: open.filter(({ transaction_id }) => isTouched.has(transaction_id)).map((attempt) => attempt.id),
          untouched: open.filter(({ transaction_id }) => !isTouched.has(transaction_id)).map((attempt) => attempt.id),
          done: own.filter(({ state }) => state === 'done').map((attempt) => attempt.id),
        }
      }),
    )
    .filter(({ touched, untouched, done }) => touched.length > 0 && untouched.length > 0 && done.length > 0)
  if (targets.length < 2) throw new Error('the payments left too little to send messages about')

  const taken: Message[] = []
  const kinds: Record<string, number> = {}
  const tally = { requests: 0, taken: 0, refused: 0 }
  const deliver = async (message: Message) => {
    const statuses = await Promise.all(Array.from({ length: message.times }, () => post(ground, message)))
    for (const status of statuses) {
      tally.requests += 1
      if (status === 200) tally.taken += 1
      else tally.refused += 1
      if (status !== message.expected && !(message.isOld && status === 404)) {
        violations.push(`${message.kind}: answered ${status} instead of ${message.expected}`)
      }
    }
  }
  let made = 0
  const work = async () => {
    while (made < count) {
      made += 1
      const message = makeMessage(random, targets, taken, new Date())
      kinds[message.kind] = (kinds[message.kind] ?? 0) + 1
      if (made % 1_000 === 0) note(`${made} of ${count} messages`)
      await deliver(message)
    }
  }
  await Promise.all(Array.from({ length: atOnce }, work))
  // Whatever chance left out.
  for (const target of targets) {
    for (const reference of target.touched) {
      const message = goodMessage(target, { id: `last ${reference}`, reference }, new Date())
      taken.push(message)
      await deliver(message)
    }
  }

  const after = await look(ground)
  let settled = 0
  const transactionOf = new Map(attempts.map(({ id, transaction_id }) => [id, transaction_id]))
  const idsOf = new Map<string, Set<string>>()
  for (const { reference = '', id = '' } of taken) {
    const transaction = transactionOf.get(reference) ?? ''
    idsOf.set(transaction, (idsOf.get(transaction) ?? new Set()).add(id))
  }
  for (const { payments } of parties) {
    for (const [round, set] of payments.entries()) {
      for (const [name, id] of Object.entries(set)) {
        const [was, is, like] = [before.get(id), after.get(id), expectedOf.get(measure.payments[0]?.[name] ?? '')]
        if (!was || !is || !like) throw new Error(`${name} is not on record`)
        const isMoved =
          isTouched.has(id) && !isLate(name, round) && was.attempts?.some(({ state }) => state !== 'done') === true
        if (isMoved) settled += 1
        const wanted = shapeOf(isMoved ? like : was)
        if (shapeOf(is) !== wanted) violations.push(`${name} (${id}): ${shapeOf(is)} instead of ${wanted}`)
        if (isMoved && is.processed === 0) violations.push(`${name} (${id}): no message on record`)
        const most = idsOf.get(id)?.size ?? 0
        if (is.processed - was.processed > most)
          violations.push(`${name} (${id}): ${is.processed} messages on record of ${most}`)
      }
    }
  }
  const strange = [...after.keys()].filter((id) => !before.has(id))
  if (strange.length > 0) violations.push(`${strange.length} transactions that nobody made`)

  // All of them once more, with new signatures: now nothing at all may change.
  const again = taken.toReversed()
  const repeat = async () => {
    for (let message = again.pop(); message; message = again.pop()) {
      await deliver({ ...signedAgain(message, targets, new Date()), kind: 'sent a second time', times: 1 })
    }
  }
  await Promise.all(Array.from({ length: atOnce }, repeat))
  const last = await look(ground)
  for (const [id, seen] of after) {
    if (JSON.stringify(last.get(id)) !== JSON.stringify(seen))
      violations.push(`${id}: changed by messages that were known`)
  }
  for (const difference of await ground.differences()) violations.push(`verify: ${JSON.stringify(difference)}`)
  return { messages: count + sentOnce, ...tally, payments: before.size, settled, kinds, violations }
}

async function prepare(ground: Ground, account: string, rounds: number): Promise<Party> {
  const request = (method: string, path: string, options?: { body?: unknown }) =>
    ground.request(account, method, path, options)
  const services: Party['services'] = []
  for (const name of ['first', 'second']) {
    const secret = `the secret of the ${name} service of ${account}`
    const { status, body, text } = await request('POST', '/payment-services', {
      body: {
        display_name: name,
        payment_service_definition_id: 'mock-card',
        fields: [
          { key: 'merchant_id', value: 'x' },
          { key: 'webhook_secret', value: secret },
        ],
        accepted_currencies: ['EUR', 'USD'],
        accepted_countries: ['DE', 'US'],
      },
    })
    if (status !== 201) throw new Error(text)
    services.push({ id: String(body['id']), secret })
  }
  const payments: Party['payments'] = []
  for (let round = 0; round < rounds; round += 1) payments.push(await makePayments(request))
  return { account, services, payments }
}

/** One good message about each call that is open. */
async function measureOnce(
  ground: Ground,
  { services, payments }: Party,
  attempts: readonly { id: string; transaction_id: string; payment_service_id: string; state: string }[],
): Promise<number> {
  const own = new Set(payments.flatMap((set) => Object.values(set)))
  let sent = 0
  for (const { id, transaction_id, payment_service_id, state } of attempts) {
    const service = services.find((one) => one.id === payment_service_id)
    if (!service || state === 'done' || !own.has(transaction_id)) continue
    const status = await post(
      ground,
      goodMessage({ service: service.id, secret: service.secret }, { id, reference: id }, new Date()),
    )
    if (status !== 200) throw new Error(`a good message was answered with ${status}`)
    sent += 1
  }
  return sent
}

async function post({ url }: Ground, { service, headers, body }: Message): Promise<number> {
  const response = await fetch(`${url}/payment-services/${service}/notifications`, {
    method: 'POST',
    headers: { ...headers, 'content-type': 'application/json' },
    body: new Uint8Array(body),
  })
  await response.text()
  return response.status
}
