import { randomUUID } from 'node:crypto'
import { Agent, request } from 'node:http'
import { setTimeout as delay } from 'node:timers/promises'
import { parseArgs } from 'node:util'
import pg from 'pg'
import { signToken } from '../test/sign-token.ts'
import { twinsOf } from '../test/embed-limit/twins.ts'
import { type Answered, judge, type Verdict } from '../test/embed-limit/verdict.ts'
import { serviceBody } from '../test/payment-races.ts'
import { startRaceServers } from './race-servers.ts'
import { note } from './rig.ts'

/**
 * Three apis on one database and browsers that send as fast as they can: one token, byte-different twins of one token, the fields of one checkout
 * session, and a server beside them that nobody limits.
 */
const { values: options } = parseArgs({
  options: {
    requests: { type: 'string', default: '5000' },
    seconds: { type: 'string', default: '150' },
    twins: { type: 'string', default: '1000' },
    fields: { type: 'string', default: '1000' },
    server: { type: 'string', default: '3000' },
    help: { type: 'boolean', default: false },
  },
})
if (options.help) {
  console.log(`npm run proof:embed-limit -- [--requests 5000] [--seconds 150] [--twins 1000] [--fields 1000] [--server 3000]

--requests  with one token; the first thousand as fast as they go, the others in bursts over the seconds
--twins     tokens of other bytes with the same claims
--fields    sent to one checkout session
--server    requests with a token that nobody limits

Example: npm run proof:embed-limit -- --requests 300 --seconds 0 --twins 200 --fields 200 --server 200`)
  process.exit(0)
}
const count = (name: keyof typeof options) => Number(options[name])
const promised = { limit: 50, slack: 1, windowMs: 60_000 }
const firstBurst = 1_000
const burst = 90

const servers = await startRaceServers({}, 3)
const pool = new pg.Pool({ connectionString: servers.cluster.url(), max: 1 })
pool.on('error', () => undefined)
const agent = new Agent({ keepAlive: true, maxSockets: 30 })
let turn = 0

/** To the apis in turn. */
function ask(method: string, path: string, body: object, token?: string): Promise<Answered> {
  const url = servers.urls[(turn += 1) % servers.urls.length] ?? ''
  const headers = { 'content-type': 'application/json', ...(token && { authorization: `Bearer ${token}` }) }
  return new Promise((resolve, reject) => {
    // From the moment that it may leave, so that no wait for a free connection is taken for its time on the way.
    let sentAt = 0
    const sending = request(url + path, { agent, method, headers }, (response) => {
      response.resume().once('error', reject)
      response.once('end', () =>
        resolve({
          sentAt,
          receivedAt: performance.now(),
          status: response.statusCode ?? 0,
          retryAfter: response.headers['retry-after'],
        }),
      )
    })
    sending.once('error', reject)
    sending.once('socket', () => {
      sentAt = performance.now()
      sending.end(JSON.stringify(body))
    })
  })
}

const payment = {
  amount: 1299,
  currency: 'EUR',
  country: 'DE',
  payment_method: { method: 'card', number: '4111111111111111', expiration_date: '12/30', security_code: '123' },
}
const pay = (token: string) => ask('POST', '/transactions', payment, token)
const times = (length: number) => Array.from({ length }, (_, index) => index)

async function oneToken(): Promise<Verdict> {
  const token = await signToken({ privateKeyPem: servers.privateKeyPem, scopes: ['embed'] })
  const total = count('requests')
  const answers = await Promise.all(times(Math.min(firstBurst, total)).map(() => pay(token)))
  const rounds = Math.ceil((total - answers.length) / burst)
  const began = performance.now()
  for (let round = 0; round < rounds; round += 1) {
    await delay(Math.max(0, began + ((round + 1) * count('seconds') * 1_000) / rounds - performance.now()))
    answers.push(...(await Promise.all(times(burst).map(() => pay(token)))))
    if (round % 10 === 0) note(`${answers.length} of ${total} requests`)
  }
  const verdict = judge(answers, promised)
  const last = answers.findLast(({ status }) => status === 429)
  // Whoever does what Retry-After says passes: nobody else is using this token any more.
  if (last && count('seconds') > 0) {
    await delay(Number(last.retryAfter) * 1_000)
    if ((await pay(token)).status !== 201) verdict.problems.push('Retry-After was not true')
  }
  if (answers.some(({ status }) => status !== 201 && status !== 429))
    verdict.problems.push('other answers than 201, 429')
  return verdict
}

async function twins(): Promise<Verdict> {
  const now = Math.floor(Date.now() / 1000)
  const claims = { jti: randomUUID(), iat: now, nbf: now, exp: now + 3_600 }
  const tokens = await twinsOf(servers.privateKeyPem, claims, count('twins'))
  const verdict = judge(await Promise.all(tokens.map(pay)), promised)
  if (new Set(tokens).size !== tokens.length) verdict.problems.push('twins of the same bytes')
  return verdict
}

async function fields(): Promise<Verdict> {
  const made = await servers.send('POST', '/checkout/sessions', { body: {} })
  const { id } = JSON.parse(made.text) as { id: string }
  const path = `/checkout/sessions/${id}/fields`
  const body = { payment_method: payment.payment_method }
  const sent = times(count('fields')).map((index) => ask(index % 2 ? 'PUT' : 'POST', path, body))
  return judge(await Promise.all(sent), promised)
}

async function serverToken(): Promise<Verdict> {
  const token = await signToken({ privateKeyPem: servers.privateKeyPem })
  const rows = async () => (await pool.query<{ count: string }>('select count(*) from embed_uses')).rows[0]?.count
  const before = await rows()
  const answers = await Promise.all(times(count('server')).map(() => pay(token)))
  const verdict = judge(answers, { ...promised, limit: Infinity })
  if (verdict.refused > 0) verdict.problems.push(`a server was refused ${verdict.refused} times`)
  if ((await rows()) !== before) verdict.problems.push('a server was counted')
  return verdict
}

try {
  const service = await servers.send('POST', '/payment-services', { body: serviceBody })
  if (service.status !== 201) throw new Error(`the payment service was answered ${service.status}: ${service.text}`)
  const began = performance.now()
  const verdicts: Record<string, Verdict> = {}
  for (const [name, run] of Object.entries({ twins, fields, serverToken, oneToken })) {
    verdicts[name] = await run()
    note(`${name}: ${JSON.stringify(verdicts[name])}`)
  }
  const { oneToken: one } = verdicts
  const isFirstMinuteFull = one !== undefined && Math.abs(one.first_window - promised.limit) <= promised.slack
  const problems = Object.entries(verdicts).flatMap(([name, verdict]) => verdict.problems.map((of) => `${name}: ${of}`))
  if (count('seconds') > 0 && !isFirstMinuteFull) problems.push('the first minute of one token is not full')
  for (const problem of problems) note(problem)
  const figures = Object.entries(verdicts).map(([name, { problems: _problems, ...verdict }]) => [name, verdict])
  console.log(
    JSON.stringify({
      proof: 'embed-limit',
      processes: servers.urls.length,
      ...Object.fromEntries(figures),
      seconds: Number(((performance.now() - began) / 1000).toFixed(1)),
      problems: problems.length,
      passed: problems.length === 0,
    }),
  )
  process.exitCode = problems.length === 0 ? 0 : 1
} finally {
  agent.destroy()
  await pool.end()
  await servers.close()
}
