import { createHash } from 'node:crypto'
import { expect, onTestFinished, test } from 'vitest'
import { send } from './api.ts'
import { type CanaryClient, createClient } from './canary-client.ts'
import { card, idOf } from './canary-requests.ts'
import {
  type Deployment,
  type DeploymentOptions,
  prepareDatabase,
  queryOn,
  startDeployment,
  startTalkativeCluster,
} from './deployment.ts'
import { dumpTables, type Query, readServerLog } from './leak-scan.ts'
import { useFolder, writeKeyFile } from './vault.ts'

/** Security codes of the same forms with other characters: all that the two runs differ in. */
const codes = {
  first: { three: '123', four: '4567', letters: 'abc', short: '12', long: '13579' },
  second: { three: '987', four: '6540', letters: 'xyz', short: '98', long: '86420' },
}
type Codes = (typeof codes)['first']

const service = {
  display_name: 'Sandbox',
  payment_service_definition_id: 'mock-card',
  fields: [{ key: 'merchant_id', value: 'shop' }],
  accepted_currencies: ['EUR'],
  accepted_countries: ['DE'],
  three_d_secure_enabled: true,
}

const folder = useFolder()
const visa = '4242424242424242'
const unknownId = '01900000-0000-7000-8000-000000000000'

const bodies = ({ three, four, letters, short, long }: Codes, buyerId: string): [status: number, body: object][] => [
  [201, card(visa, { security_code: three })],
  [201, card('378282246310005', { security_code: four })],
  [201, card(visa, { security_code: three, buyer_id: buyerId, external_identifier: 'mine' })],
  [409, card(visa, { security_code: three, external_identifier: 'mine' })],
  [400, card(visa, { security_code: three, buyer_id: unknownId })],
  [400, card(visa, { security_code: three, expiration_date: '13/30' })],
  [400, card('4242424242424241', { security_code: three })],
  [400, card(Number(visa), { security_code: three })],
  [400, card(visa, { security_code: three, unknown: true })],
  [400, card(visa, { cvv: three, unknown: { cvc: four } })],
  [400, card(visa, { security_code: letters })],
  [400, card(visa, { security_code: short })],
  [400, card(visa, { security_code: long })],
  [400, card(visa, { security_code: Number(three) })],
  [400, card(visa, { security_code: [three] })],
  [400, card(visa, { expiration_date: three })],
]

const payment = (number: string, security_code: unknown, more: object = {}) => ({
  amount: 1299,
  currency: 'EUR',
  country: 'DE',
  payment_method: card(number, { security_code }),
  ...more,
})

/** The buyer is asked by 3-D Secure, and has not answered. */
const asked = (security_code: string) =>
  payment(visa, security_code, {
    payment_method: card(visa, { security_code, redirect_url: 'https://shop.example.com' }),
  })

const payments = ({ three, four, letters, short, long }: Codes): [status: number, body: object][] => [
  [201, payment(visa, three)],
  [201, payment('378282246310005', four)],
  [201, payment(visa, three, { intent: 'capture' })],
  [201, payment(visa, three, { amount: 200_009 })],
  [201, payment(visa, three, { amount: 300_009 })],
  [201, payment(visa, three, { currency: 'SEK' })],
  [201, payment(visa, three, { store: true })],
  [201, payment(visa, three, { store: true, amount: 200_009 })],
  [201, payment('4000000000000127', three)],
  [201, payment('4000000000003006', three)],
  [201, payment('4000000000003014', three)],
  [201, asked(three)],
  [400, payment(visa, three, { merchant_initiated: true })],
  [400, payment(visa, three, { payment_service_id: unknownId })],
  [400, payment(visa, three, { cvv: three, card: { cvc: four } })],
  [400, payment('4242424242424241', three)],
  [400, payment(visa, letters)],
  [400, payment(visa, short)],
  [400, payment(visa, long)],
  [400, payment(visa, Number(three))],
  [400, { ...payment(visa, three), payment_method: { ...card(visa), cvv: three } }],
  [400, { ...payment(visa, three), payment_method: { method: 'id', id: unknownId, security_code: three } }],
]

async function sendEverything(deployment: Deployment, client: CanaryClient, query: Query, used: Codes): Promise<void> {
  const store = (body: object, options: object = {}) => client.call('POST', '/payment-methods', { body, ...options })
  const statuses: [number, number][] = []
  const check = async (wanted: number, answer: ReturnType<typeof store>) =>
    statuses.push([wanted, (await answer).status])
  for (const [status, body] of bodies(used, client.buyerId)) await check(status, store(body))

  const body = card(visa, { security_code: used.three })
  await check(401, store(body, { token: 'not.a.token' }))
  await check(403, store(body, { token: client.weakToken }))
  await check(404, client.call('POST', '/cards', { body }))
  await check(400, store({}, { text: JSON.stringify(body).slice(0, -3) }))
  await check(400, store(body, { headers: { 'content-type': `text/plain; code=${used.three}` } }))
  await check(200, client.call('GET', `/payment-methods?security_code=${used.three}&limit=1`))
  await check(400, client.call('GET', `/payment-methods/${used.three}`))
  await check(404, client.call('GET', `/cards/${used.three}`))
  await check(200, client.call('GET', '/roles', { headers: { 'x-request-id': used.three, traceparent: used.four } }))
  const pay = (paying: object, headers: Record<string, string> = {}) =>
    client.call('POST', '/transactions', { body: paying, headers })
  for (const [status, paying] of payments(used)) await check(status, pay(paying))
  const key = { 'idempotency-key': 'a-key' }
  await check(201, pay(payment(visa, used.three), key))
  // Another code does not make it another request.
  await check(201, pay(payment(visa, used.four), key))
  await check(400, pay(payment(visa, used.three, { amount: 1 }), key))
  const stored = idOf(await store(card(visa, { security_code: used.three, expiration_date: '02/30' })))
  await check(
    201,
    pay({ ...payment(visa, ''), payment_method: { method: 'id', id: stored, security_code: used.three } }),
  )
  await check(400, client.call('PUT', `/payment-methods/${stored}`, { body: { security_code: used.three } }))
  await check(201, client.call('POST', '/account-updater/jobs', { body: { payment_method_ids: [stored] } }))
  const asked = () => query<{ status: string }>('select status from account_updater_inquiries')
  await expect.poll(asked, { timeout: 20_000 }).toEqual([{ status: 'updated' }])
  await check(204, client.call('DELETE', `/payment-methods/${stored}`))
  const session = await sendToSession(client, used, check)
  await deployment.stop('vault', 'SIGTERM')
  await check(504, store(body))
  await check(504, pay(payment(visa, used.three)))
  await check(504, client.call('PUT', session, { body: { payment_method: body } }))
  expect(statuses.map(([, status]) => status)).toEqual(statuses.map(([wanted]) => wanted))
}

/** A code that waits: replaced, handed to a provider, chosen for a stored card, left waiting. Returns where fields go. */
async function sendToSession(
  client: CanaryClient,
  { three, four, letters, short }: Codes,
  check: (wanted: number, answer: ReturnType<CanaryClient['call']>) => Promise<unknown>,
): Promise<string> {
  const service = {
    display_name: 'Sandbox',
    payment_service_definition_id: 'mock-card',
    fields: [{ key: 'merchant_id', value: 'x' }],
    accepted_currencies: ['EUR'],
    accepted_countries: ['DE'],
  }
  await check(201, client.call('POST', '/payment-services', { body: service }))
  const id = idOf(await client.call('POST', '/checkout/sessions', { body: {} }))
  const fields = `/checkout/sessions/${id}/fields`
  const sendFields = (method: object, more: object = {}) =>
    client.call('PUT', fields, { token: 'none', body: { payment_method: method, ...more } })
  // Declined: an approval would leave a code of the issuer's that is another in every run.
  const pay = () =>
    client.call('POST', '/transactions', {
      body: { amount: 200_011, currency: 'EUR', payment_method: { method: 'checkout-session', id } },
    })
  await check(204, sendFields(card(visa, { security_code: three })))
  await check(204, sendFields(card(visa, { security_code: four }), { postal_code: '10117' }))
  for (const wrong of [letters, short, Number(three), [three]]) {
    await check(400, sendFields(card(visa, { security_code: wrong })))
  }
  await check(400, sendFields(card('4242424242424241', { security_code: three })))
  await check(400, sendFields(card(visa, { cvv: three }), { security_code: three }))
  await check(400, client.call('PUT', `/checkout/sessions/${three}/fields`, { body: {} }))
  await check(201, pay())
  await check(201, pay())
  const stored = idOf(await client.call('POST', '/payment-methods', { body: card(visa) }))
  await check(204, sendFields({ method: 'id', id: stored, security_code: three }))
  await check(201, pay())
  await check(204, sendFields(card(visa, { security_code: three })))
  return fields
}

type Traces = Map<string, string>

/** One run on a fresh copy of the prepared database; what it left behind. */
async function run(options: DeploymentOptions, template: string, used: Codes): Promise<Traces> {
  const { cluster, database } = options
  const onServer = queryOn(cluster, 'postgres')
  await onServer(`drop database if exists ${database} with (force)`)
  await onServer(`create database ${database} template ${template}`)
  // So that every job runs at the start of every run, however soon it ends.
  await queryOn(cluster, database)('update jobs set run_at = now()')
  const logged = (await readServerLog(onServer)).length
  const deployment = await startDeployment(options)
  const tokens = { token: await deployment.token(), weakToken: await deployment.token(['buyers.read']) }
  const client = createClient(deployment.processes.api.url, tokens)
  onTestFinished(client.close)
  const query = queryOn(cluster, database)
  const [buyer] = await query<{ id: string }>('select id from buyers')
  await sendEverything(deployment, { ...client, buyerId: buyer?.id ?? '' }, query, used)
  // What the processor has to say later is said, or not, in every run.
  await expect.poll(() => query('select id from sandbox_notifications'), { timeout: 60_000 }).toEqual([])
  await deployment.stop('api', 'SIGTERM')
  await deployment.stop('worker', 'SIGTERM')
  const log = (await readServerLog(onServer)).subarray(logged).toString()
  const tables = [...(await dumpTables(query))].filter(([name]) => !name.startsWith('pg_catalog.'))
  return new Map([
    ...tables,
    ...(['api', 'worker', 'vault'] as const).map((kind) => [`output of the ${kind}`, deployment.output(kind)] as const),
    ['log of PostgreSQL', log],
  ])
}

/** What differs from run to run whatever is sent: ids, times, ports, process ids. Of bytes, ciphertexts among them, the length is kept. */
const mask = (text: string) =>
  text
    .replaceAll(/[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}/g, '<id>')
    .replaceAll(/\d{4}-\d\d-\d\d[T ]\d\d:\d\d:\d\d(\.\d+)?(Z|[+]00(:00)?| UTC)?/g, '<time>')
    .replaceAll(/\\+x([0-9a-f]{58,})/g, (_match, bytes: string) => `<${bytes.length / 2} bytes>`)
    // What the processor makes up, and ids in another spelling.
    .replaceAll(/\b(\d{15}|\d{6})\b/g, '<digits>')
    .replaceAll(/(cavv[\\"]+: ?[\\"]+)[\w+/=]+/g, '$1<bytes>')
    .replaceAll(/(reconciliation_id[\\"]+: ?[\\"]+)\w+/g, '$1<id>')
    .replaceAll(/"duration_ms":[\d.]+/g, '"duration_ms":<duration>')
    // The vault adds up its encryptions every ten seconds: in how many steps is chance.
    .replaceAll(/(set encryptions = .*\n.*parameters: \$1 = )'\d+'/g, "$1'<count>'")
    // Of a session's random id, for the limit of browsers.
    .replaceAll(/decode\('[0-9a-f]{64}', 'hex'\)/g, "decode('<hash>', 'hex')")
    .replaceAll(/127\.0\.0\.1:\d+/g, '<address>')
    .replaceAll(/^<time> \[\d+\]/gm, '<time> [<process>]')

/** In no order: answers are logged after they are sent. PostgreSQL's log also has what the processes ask now and then: how often is chance. */
function linesOf(name: string, text: string): string[] {
  const lines = mask(text)
    .split('\n')
    // A machine that is busy enough makes the listener connect again.
    .filter((line) => !line.includes('key announcements are not heard'))
    .sort()
  return name === 'log of PostgreSQL' ? [...new Set(lines)] : lines
}

/** What is in one and not in the other, by its place. */
function differences(first: Traces, second: Traces): string[] {
  return [...new Set([...first.keys(), ...second.keys()])].flatMap((name) => {
    const [left, right] = [linesOf(name, first.get(name) ?? ''), linesOf(name, second.get(name) ?? '')]
    if (left.join('\n') === right.join('\n')) return []
    const [inLeft, inRight] = [new Set(left), new Set(right)]
    const odd = [...left.filter((line) => !inRight.has(line)), ...right.filter((line) => !inLeft.has(line))]
    return [`${name}: ${odd.join('\n')}`]
  })
}

test('two runs that differ in the security code alone leave the same behind', async () => {
  const cluster = await startTalkativeCluster()
  const keyPair = await prepareDatabase(cluster, 'prepared')
  const common = { cluster, folder, keyFile: writeKeyFile(folder), keyPair }
  // Makes the vault's keys: both runs have the same, so that even fingerprints can be compared.
  const preparing = await startDeployment({ ...common, database: 'prepared' })
  const token = await preparing.token()
  await send(preparing.processes.api.url, 'POST', '/buyers', { token, body: { display_name: 'Buyer' } })
  await send(preparing.processes.api.url, 'POST', '/payment-services', { token, body: service })
  for (const kind of ['api', 'worker', 'vault'] as const) await preparing.stop(kind, 'SIGTERM')

  const first = await run({ ...common, database: 'run' }, 'prepared', codes.first)
  const second = await run({ ...common, database: 'run' }, 'prepared', codes.second)
  expect(first.get('public.payment_methods')?.split('\n')).toHaveLength(6)
  expect(first.get('public.transactions')?.split('\n')).toHaveLength(17)
  expect(first.get('vault.waiting')?.split('\n')).toHaveLength(1)
  expect(differences(first, second)).toEqual([])

  // Wherever the code were written, and however, the comparison would tell.
  const hash = (code: string) => createHash('sha256').update(code).digest('hex')
  const writings = [(code: string) => code, (code: string) => Buffer.from(code).toString('base64'), hash]
  for (const name of first.keys()) {
    for (const write of writings) {
      const planted = (traces: Traces, { three }: Codes) =>
        new Map([...traces, [name, `${traces.get(name) ?? ''} ${write(three)}`]])
      expect(differences(planted(first, codes.first), planted(second, codes.second))).toHaveLength(1)
    }
  }
  const sizes = Object.fromEntries(
    [...first].map(([name, { length }]) => [name, length]).filter(([, length]) => length),
  )
  process.stdout.write(
    `${JSON.stringify({ requests: bodies(codes.first, '').length + payments(codes.first).length + 19, differences: 0, sizes })}\n`,
  )
})
