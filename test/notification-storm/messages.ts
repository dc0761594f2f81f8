import { signNotification } from '../../src/connectors/sandbox/mock-card/notification.ts'

/** A service that messages are sent to, and the attempts that went to it. */
export interface Target {
  account: string
  service: string
  secret: string
  /** Attempts that good messages may be about. */
  touched: readonly string[]
  /** Attempts that only forged messages are about. */
  untouched: readonly string[]
  /** Attempts that were over before the storm. */
  done: readonly string[]
}

export interface Message {
  kind: string
  service: string
  headers: Record<string, string>
  body: Buffer
  /** How many times at once. */
  times: number
  expected: number
  /** Of a message that is taken: what it is about, and its id. */
  reference?: string
  id?: string
  /** Whether it may be so old by now that it is refused. */
  isOld?: true
}

/** Small, fast, and the same for the same seed. */
export function createRandom(seed: number) {
  let state = seed >>> 0
  const next = () => {
    state = (state + 0x6d2b79f5) >>> 0
    let mixed = Math.imul(state ^ (state >>> 15), 1 | state)
    mixed = (mixed + Math.imul(mixed ^ (mixed >>> 7), 61 | mixed)) ^ mixed
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32
  }
  const below = (limit: number) => Math.floor(next() * limit)
  return {
    below,
    pick: <Item>(items: readonly Item[]): Item => items[below(items.length)] as Item,
    hex: (length: number) => Array.from({ length }, () => below(16).toString(16)).join(''),
  }
}
type Random = ReturnType<typeof createRandom>

const uuidOf = (random: Random) =>
  `${random.hex(8)}-${random.hex(4)}-7${random.hex(3)}-8${random.hex(3)}-${random.hex(12)}`

const headersOf = (secret: string, body: Buffer, at: Date): Record<string, string> =>
  signNotification({ secret, body, now: at })

/** As the provider would send it. */
export function goodMessage(
  { service, secret }: Pick<Target, 'service' | 'secret'>,
  { id, reference, ...more }: { id: string; reference: string } & Record<string, unknown>,
  at: Date,
): Message {
  const body = Buffer.from(JSON.stringify({ id, reference, ...more }))
  return { kind: 'good', service, headers: headersOf(secret, body, at), body, times: 1, expected: 200, reference, id }
}

/** The same message at a later time. */
export const signedAgain = (message: Message, targets: readonly Target[], now: Date): Message => {
  const secret = targets.find(({ service }) => service === message.service)?.secret ?? ''
  return { ...message, headers: headersOf(secret, message.body, now) }
}

/** What a liar would say. Nobody is to believe it. */
const lies = (random: Random) => ({
  status: random.pick(['approved', 'captured', 'refunded', 'failed']),
  amount: random.below(100_000_000),
  result: 'approved',
  merchant_account_id: 'other',
})

/** One message, of any sort. Good ones are remembered in `taken`, for those who send them again. */
export function makeMessage(random: Random, targets: readonly Target[], taken: Message[], now: Date): Message {
  const target = random.pick(targets)
  const { service, secret } = target
  const other = random.pick(targets.filter((one) => one.service !== service))
  const anyAttempt = (of = target) => random.pick([...of.touched, ...of.untouched, ...of.done])
  const id = `m-${random.hex(20)}`
  const minutes = (count: number) => new Date(now.getTime() + count * 60_000)
  const text = (value: unknown) => Buffer.from(JSON.stringify(value))

  const signed = (
    kind: string,
    body: Buffer,
    expected: number,
    change: Partial<Message> & { at?: Date; with?: string } = {},
  ): Message => {
    const { at = now, with: key = secret, ...rest } = change
    return { kind, service, headers: headersOf(key, body, at), body, times: 1, expected, ...rest }
  }
  const good = (kind: string, reference: string, { at = now, times = 1 } = {}, more: object = {}): Message => {
    const message = { ...goodMessage(target, { id, reference, ...more }, at), kind, times }
    taken.push(message)
    return message
  }
  const again = (kind: string, change: (message: Message) => Partial<Message>): Message => {
    if (taken.length === 0) return good('good', random.pick(target.touched))
    const message = random.pick(taken)
    return { ...message, kind, times: 1, ...change(message) }
  }
  const forged = (kind: string, change: Parameters<typeof signed>[3] = {}) =>
    signed(kind, text({ id, reference: anyAttempt() }), 404, change)

  const sorts: (() => Message)[] = [
    () => good('good', random.pick(target.touched)),
    () => good('good', random.pick(target.touched)),
    () => good('lying', random.pick(target.touched), {}, lies(random)),
    () => good('duplicated at once', random.pick(target.touched), { times: 2 + random.below(4) }),
    () => good('late but good', random.pick(target.touched), { at: minutes(-4) }),
    () => good('early but good', random.pick(target.touched), { at: minutes(4) }),
    () => good('about what is over', random.pick(target.done)),
    () => good('a report', random.pick(target.touched), {}, { kind: 'report' }),
    () => again('replayed', () => ({ isOld: true })),
    () => again('replayed at once', () => ({ isOld: true, times: 3 })),
    () => again('sent again with a new signature', (message) => signedAgain(message, targets, now)),
    // Signed as it should be, about what is none of its business: taken, and nothing happens.
    () => signed('about another service', text({ id, reference: anyAttempt(other) }), 200),
    () => signed('about nothing', text({ id, reference: uuidOf(random) }), 200),
    () =>
      signed(
        'about something odd',
        text({ id, reference: random.pick(['x', "' or true --", '../..', '0', '%00', '💶']) }),
        200,
      ),
    () => forged('too late', { at: minutes(-6 - random.below(100_000)) }),
    () => forged('from the future', { at: minutes(6 + random.below(100_000)) }),
    () => forged('signed with a guess', { with: random.hex(24) }),
    () => forged("signed with another service's secret", { with: other.secret }),
    () => forged('signed with nothing', { with: '' }),
    () => forged('for a service that is not there', { service: uuidOf(random) }),
    () => forged('for another service', { service: other.service }),
    () => {
      const message = forged('changed on the way')
      const body = Buffer.from(message.body)
      const at = random.below(body.length)
      body[at] = (body[at] ?? 0) ^ (1 << random.below(8))
      return { ...message, body }
    },
    () => {
      const message = forged('about another attempt than was signed')
      return {
        ...message,
        body: text({ id, reference: random.pick(target.untouched) }),
        headers: headersOf(secret, text({ id, reference: uuidOf(random) }), now),
      }
    },
    () => {
      const message = forged('with a broken signature')
      const signature = message.headers['x-sandbox-signature'] ?? ''
      const at = random.below(signature.length)
      const flipped = ((Number.parseInt(signature.charAt(at), 16) + 1 + random.below(15)) % 16).toString(16)
      return {
        ...message,
        headers: {
          ...message.headers,
          'x-sandbox-signature': signature.slice(0, at) + flipped + signature.slice(at + 1),
        },
      }
    },
    () => {
      const message = forged('with another time than was signed')
      return {
        ...message,
        headers: {
          ...message.headers,
          'x-sandbox-timestamp': String(Math.floor(now.getTime() / 1000) + 1 + random.below(60)),
        },
      }
    },
    () => {
      const message = forged('with headers missing')
      const { [random.pick(Object.keys(message.headers))]: _left, ...headers } = message.headers
      return { ...message, headers }
    },
    () =>
      forged('with odd headers', {
        headers: {
          'x-sandbox-timestamp': random.pick(['', '-1', '1e3', 'NaN', '0x10', '9'.repeat(40)]),
          'x-sandbox-signature': 'f'.repeat(64),
        },
      }),
    () =>
      signed(
        'with an odd body',
        Buffer.from(
          random.pick([
            '',
            '{',
            '[]',
            'null',
            '"x"',
            '{}',
            '{"id":1,"reference":2}',
            `{"id":"${id}"}`,
            '['.repeat(5_000),
            '\u0000',
          ]),
        ),
        404,
      ),
    () =>
      signed(
        'with an odd id',
        text({ id: random.pick(['', 'x'.repeat(256), 'a\0b', '\ud800']), reference: anyAttempt() }),
        404,
      ),
    () => signed('too large', Buffer.alloc(1_050_000, 0x20), 400),
  ]
  return random.pick(sorts)()
}
