import type { CallOptions, CanaryAnswer, CanaryClient } from './canary-client.ts'
import { mistyped } from './number-scan.ts'

/** Every way a card number can come to the api, right or wrong, and what is answered. */

export interface Way {
  /** What all its requests should be answered with; 0: nothing. */
  status: number
  /** The answer names what is wrong by the name the caller gave it. */
  echoes?: boolean
  /** How much more often than the others. */
  weight?: number
  send(client: CanaryClient, number: string): Promise<CanaryAnswer>
}

export const card = (number: unknown, more: object = {}) => ({
  method: 'card',
  number,
  expiration_date: '12/30',
  ...more,
})
export const idOf = ({ text }: CanaryAnswer) => /"id":"([0-9a-f-]{36})"/.exec(text)?.[1] ?? ''

const post =
  (body: (number: string, client: CanaryClient) => unknown, options: Omit<CallOptions, 'body'> = {}): Way['send'] =>
  (client, number) =>
    client.call('POST', '/payment-methods', { ...options, body: body(number, client) })
const postText =
  (write: (number: string) => string, options: Omit<CallOptions, 'text'> = {}): Way['send'] =>
  (client, number) =>
    client.call('POST', '/payment-methods', { ...options, text: write(number) })
const unknownId = '01900000-0000-7000-8000-000000000000'
const head = (client: CanaryClient, lines: string) =>
  `POST /payment-methods HTTP/1.1\r\nhost: x\r\nauthorization: Bearer ${client.token}\r\n${lines}\r\n`

/** Announces more than comes. */
const half = 'content-type: application/json\r\ncontent-length: 500\r\n'

/**
 * While everything works. Left out are fields for references of the merchant's own (`external_identifier`,
 * `buyer_external_identifier`, `scheme_transaction_id`, the name of an account): what stands there is looked up or stored.
 */
export const ways: Record<string, Way> = {
  stored: { status: 201, weight: 8, send: post((number) => card(number)) },
  'stored for a buyer': {
    status: 201,
    weight: 4,
    send: post((number, { buyerId }) => card(number, { buyer_id: buyerId })),
  },
  'stored for a buyer by reference': {
    status: 201,
    send: post((number) => card(number, { buyer_external_identifier: 'canary-buyer' })),
  },
  'stored with security code': {
    status: 201,
    weight: 4,
    send: post((number) => card(number, { security_code: '123' })),
  },
  'stored with a reference': {
    status: 201,
    weight: 4,
    send: post((number) => card(number, { external_identifier: crypto.randomUUID(), card_type: 'debit' })),
  },
  'stored, listed, changed and read': {
    status: 200,
    weight: 2,
    async send(client, number) {
      const path = `/payment-methods/${idOf(await post((n) => card(n))(client, number))}`
      await client.call('PUT', path, { body: { expiration_date: '11/31', scheme_transaction_id: 'x' } })
      await client.call('GET', '/payment-methods?limit=5')
      return client.call('GET', path)
    },
  },
  'stored and deleted': {
    status: 204,
    weight: 4,
    send: async (client, number) =>
      client.call('DELETE', `/payment-methods/${idOf(await post((n) => card(n))(client, number))}`),
  },
  'reference taken': { status: 409, weight: 2, send: post((n) => card(n, { external_identifier: 'canary-taken' })) },
  'unknown buyer': { status: 400, send: post((n) => card(n, { buyer_id: unknownId })) },
  'unknown reference of a buyer': {
    status: 400,
    send: post((n) => card(n, { buyer_external_identifier: 'nobody' })),
  },
  'two buyers': {
    status: 400,
    send: post((n, { buyerId }) => card(n, { buyer_id: buyerId, buyer_external_identifier: 'canary-buyer' })),
  },
  'no such month': { status: 400, send: post((n) => card(n, { expiration_date: '13/30' })) },
  'date misspelt': { status: 400, send: post((n) => card(n, { expiration_date: '2030-12' })) },
  'date missing': { status: 400, send: post((number) => ({ method: 'card', number })) },
  'fields of another type': {
    status: 400,
    send: post((n) => card(n, { security_code: 123, buyer_id: 5, redirect_url: [], card_type: {} })),
  },
  'another method': { status: 400, send: post((n) => card(n, { method: 'paypal' })) },
  'unknown field': { status: 400, send: post((n) => card('4111111111111111', { card_number: n, pan: { value: n } })) },
  'check digit wrong': { status: 400, weight: 2, send: post((n) => card(mistyped(n))) },
  'as a JSON number': { status: 400, weight: 2, send: post((n) => card(Number(n))) },
  'in a list': { status: 400, send: post((n) => card([n])) },
  'with spaces': { status: 400, send: post((n) => card(n.replaceAll(/(\d{4})(?=\d)/g, '$1 '))) },
  'with dashes': { status: 400, send: post((n) => card(n.replaceAll(/(\d{4})(?=\d)/g, '$1-'))) },
  'with letters': { status: 400, send: post((n) => card(`${n}x`)) },
  'in the security code': { status: 400, send: post((n) => card('4111111111111111', { security_code: n })) },
  'in the date': { status: 400, send: post((n) => card('4111111111111111', { expiration_date: n })) },
  'in the card type': { status: 400, send: post((n) => card('4111111111111111', { card_type: n })) },
  'in the id of a buyer': { status: 400, send: post((n) => card('4111111111111111', { buyer_id: n })) },
  'in an update': {
    status: 400,
    send: (client, number) => client.call('PUT', `/payment-methods/${unknownId}`, { body: { number } }),
  },
  'in a query': { status: 200, send: (client, n) => client.call('GET', `/payment-methods?number=${n}&limit=1`) },
  'in a cursor': { status: 400, send: (client, n) => client.call('GET', `/payment-methods?cursor=${n}`) },
  'in a path': { status: 400, weight: 2, send: (client, n) => client.call('GET', `/payment-methods/${n}`) },
  'in the path of a deletion': { status: 400, send: (client, n) => client.call('DELETE', `/payment-methods/${n}`) },
  'in an unknown path': { status: 404, send: (client, n) => client.call('GET', `/cards/${n}`) },
  'in a path that cannot be decoded': {
    status: 404,
    send: (client, n) => client.call('GET', `/payment-methods/${n}%ff`),
  },
  'in X-Request-Id': {
    status: 200,
    send: (client, n) => client.call('GET', '/roles', { headers: { 'x-request-id': n } }),
  },
  'in Idempotency-Key': {
    status: 201,
    send: (client, n) => post((number) => card(number), { headers: { 'idempotency-key': n } })(client, n),
  },
  'in a trace': {
    status: 200,
    send: (client, n) =>
      client.call('GET', '/roles', { headers: { traceparent: n, tracestate: `card=${n}`, 'user-agent': n } }),
  },
  'in the token': { status: 401, send: (client, n) => client.call('GET', '/payment-methods', { token: n }) },
  'without a valid token': { status: 401, weight: 2, send: post((n) => card(n), { token: 'not.a.token' }) },
  'without the scope': {
    status: 403,
    weight: 2,
    send: (client, n) => post((number) => card(number), { token: client.weakToken })(client, n),
  },
  'to an unknown path': {
    status: 404,
    weight: 2,
    send: (client, n) => client.call('POST', '/cards', { body: card(n) }),
  },
  'with another verb': {
    status: 405,
    send: (client, n) => client.call('PATCH', '/payment-methods', { body: card(n) }),
  },
  'as early data': { status: 425, send: post((n) => card(n), { headers: { 'early-data': '1' } }) },
  'JSON that ends too early': { status: 400, weight: 2, send: postText((n) => JSON.stringify(card(n)).slice(0, -5)) },
  'not JSON': { status: 400, weight: 2, send: postText((n) => `number=${n}&method=card`) },
  'not UTF-8': {
    status: 400,
    send: (client, n) =>
      client.raw(
        `${head(client, 'connection: close\r\ncontent-type: application/json\r\ncontent-length: 17\r\n')}${n}\xff`,
      ),
  },
  'another content type': {
    status: 400,
    send: postText((n) => `number=${n}`, { headers: { 'content-type': 'application/x-www-form-urlencoded' } }),
  },
  'in the content type': {
    status: 400,
    send: (client, n) => postText(() => '{}', { headers: { 'content-type': `text/plain; card=${n}` } })(client, n),
  },
  'in the content type of JSON': {
    status: 400,
    send: (client, n) =>
      postText(() => '{}', { headers: { 'content-type': `application/json; card=${n}` } })(client, n),
  },
  'as the name of a field': { status: 400, echoes: true, send: post((n) => ({ [n]: n })) },
  'too deep': { status: 400, send: postText((n) => `${'['.repeat(40)}"${n}"${']'.repeat(40)}`) },
  'with a key of a prototype': {
    status: 400,
    send: postText((n) => `{"number":"${n}","__proto__":{"number":"${n}"}}`),
  },
  'too large': { status: 400, send: postText((n) => `{"number":"${n}","x":"${'x'.repeat(1_100_000)}"}`) },
  'too large, in pieces': {
    status: 400,
    send: postText((n) => `{"number":"${n}","x":"${'x'.repeat(1_100_000)}"}`, { chunked: true }),
  },
  'ended on the way': {
    status: 400,
    send: (client, n) => client.raw(`${head(client, half)}${JSON.stringify(card(n))}`, 'end'),
  },
  'cut off on the way': {
    status: 0,
    send: (client, n) => client.raw(`${head(client, half)}${JSON.stringify(card(n))}`, 'cut'),
  },
  'not HTTP': {
    status: 400,
    send: (client, n) => client.raw(`POST /payment-methods HTTP/1.1\r\nbad header ${n}\r\n\r\n`),
  },
  'headers too large': {
    status: 400,
    send: (client, n) => client.call('GET', '/roles', { headers: { 'x-card': n.padEnd(17_000, ' x') } }),
  },
}

/** While connections break. */
export const waysToStore: Record<string, Way> = { stored: { status: 201, send: post((n) => card(n)) } }

/** While the vault does not answer. */
export const waysWithoutVault: Record<string, Way> = {
  'vault away': { status: 504, send: post((n) => card(n, { security_code: '123' })) },
  'vault away, with a reference': {
    status: 504,
    send: post((n) => card(n, { external_identifier: crypto.randomUUID() })),
  },
}

/** While the database refuses the row: of the api, or of the vault. */
export const waysIntoARefusal: Record<string, Way> = {
  'row refused': { status: 500, send: post((n) => card(n, { external_identifier: `refused-${crypto.randomUUID()}` })) },
}

/** Sends the numbers, some at a time, each by the next way; returns what was answered unexpectedly. */
export async function sendAll(
  client: CanaryClient,
  numbers: readonly string[],
  used: Record<string, Way>,
  { onSend, onAnswer }: { onSend(number: string, name: string): void; onAnswer(answer: CanaryAnswer): void },
): Promise<string[]> {
  const turns = Object.entries(used).flatMap(([name, way]) =>
    Array.from({ length: way.weight ?? 1 }, () => ({ name, way })),
  )
  const queue = numbers.map((number, index) => ({ number, turn: turns[index % turns.length] }))
  const unexpected: string[] = []
  const work = async () => {
    for (let next = queue.shift(); next?.turn; next = queue.shift()) {
      const { name, way } = next.turn
      onSend(next.number, name)
      const answer = await way.send(client, next.number).catch((error: unknown) => {
        throw new Error(`no answer: ${name}`, { cause: error })
      })
      if (!way.echoes) onAnswer(answer)
      if (answer.status !== way.status) unexpected.push(`${name}: ${answer.status} ${answer.text.slice(0, 300)}`)
    }
  }
  await Promise.all(Array.from({ length: 8 }, work))
  return unexpected
}
