import { type ChildProcess, fork } from 'node:child_process'
import { randomUUID } from 'node:crypto'
import { once } from 'node:events'
import { Agent, request } from 'node:http'
import { join } from 'node:path'
import { parseArgs } from 'node:util'
import autocannon from 'autocannon'
import { createAPIKeyPair } from '../src/areas/api-key-pairs/operations.ts'
import { createMerchantAccount } from '../src/areas/merchant-accounts/operations.ts'
import { commandLineContext } from '../src/cli/command-line-context.ts'
import { startCluster } from '../src/cli/postgres-cluster.ts'
import { signToken } from '../test/sign-token.ts'
import { migrate } from '../src/platform/migrations.ts'
import { connect } from '../src/platform/postgres.ts'

/**
 * What authentication costs, as a ratio within one run: the same route with a reused ES512 token against the same route
 * without authentication, and the event loop's delay while every request brings a token never seen before.
 */
const { values: options } = parseArgs({
  options: {
    rounds: { type: 'string', default: '7' },
    seconds: { type: 'string', default: '4' },
    tokens: { type: 'string', default: '4000' },
    help: { type: 'boolean', default: false },
  },
})
if (options.help) {
  console.log(
    'npm run bench:auth -- [--rounds 7] [--seconds 4] [--tokens 4000]\n\nExample: npm run bench:auth -- --rounds 3 --seconds 2',
  )
  process.exit(0)
}
const rounds = Number(options.rounds)
const seconds = Number(options.seconds)
const floors = { ratio: 0.8, delayP99Ms: 20 }
const path = '/card-scheme-definitions'
const fullAccess = '01900000-0000-7000-8000-00000000000c'

const note = (line: string) => process.stderr.write(`${line}\n`)
const median = (numbers: readonly number[]) =>
  numbers.toSorted((left, right) => left - right)[Math.floor(numbers.length / 2)] ?? 0

async function startServer(
  databaseUrl: string,
  mode: 'open' | 'closed',
): Promise<{ child: ChildProcess; port: number }> {
  const child = fork(join(import.meta.dirname, 'auth-server.ts'), [databaseUrl, mode], {
    stdio: ['ignore', 'ignore', 'inherit', 'ipc'],
  })
  const [{ port }] = (await once(child, 'message')) as [{ port: number }]
  return { child, port }
}

async function requestsPerSecond(port: number, token: string): Promise<number> {
  const { requests, non2xx, errors } = await autocannon({
    url: `http://127.0.0.1:${port}${path}`,
    connections: 20,
    duration: seconds,
    headers: { authorization: `Bearer ${token}` },
  })
  if (non2xx > 0 || errors > 0) throw new Error(`${non2xx} answers were not 2xx, ${errors} failed`)
  return requests.total / seconds
}

function get(agent: Agent, port: number, token: string): Promise<number> {
  return new Promise((resolve, reject) => {
    request({ agent, port, host: '127.0.0.1', path, headers: { authorization: `Bearer ${token}` } }, (response) => {
      response.resume().on('end', () => resolve(response.statusCode ?? 0))
    })
      .on('error', reject)
      .end()
  })
}

/** Every token once, 20 requests at a time; the server tells how long its event loop was held up meanwhile. */
async function freshTokens(child: ChildProcess, port: number, tokens: readonly string[]) {
  const agent = new Agent({ keepAlive: true, maxSockets: 20 })
  const queue = tokens.values()
  let refused = 0
  const worker = async () => {
    for (const token of queue) if ((await get(agent, port, token)) !== 200) refused += 1
  }
  child.send('measure')
  const start = performance.now()
  await Promise.all(Array.from({ length: 20 }, worker))
  const elapsed = (performance.now() - start) / 1000
  child.send('report')
  const [delay] = (await once(child, 'message')) as [{ p50: number; p99: number; max: number }]
  agent.destroy()
  if (refused > 0) throw new Error(`${refused} fresh tokens were refused`)
  return { delay, perSecond: tokens.length / elapsed }
}

const cluster = await startCluster({ fast: true })
try {
  await migrate(cluster.url())
  const databaseUrl = cluster.url({ user: 'florin_api' })
  const db = connect({ url: databaseUrl, applicationName: 'bench', poolSize: 1, onError: () => undefined })
  const ctx = commandLineContext(db, 'bench')
  await createMerchantAccount(ctx, { id: 'default', display_name: 'Default' })
  const { private_key } = await createAPIKeyPair(ctx, {
    display_name: 'Bench',
    role_ids: [fullAccess],
    merchant_account_ids: ['default'],
  })
  await db.close()
  const privateKeyPem = private_key ?? ''
  const token = await signToken({ privateKeyPem })

  const [open, closed] = await Promise.all([startServer(databaseUrl, 'open'), startServer(databaseUrl, 'closed')])
  note('warming up')
  await requestsPerSecond(open.port, token)
  await requestsPerSecond(closed.port, token)
  const rates = { open: [] as number[], closed: [] as number[] }
  for (let round = 1; round <= rounds; round += 1) {
    // Alternating, so that whatever else the machine does falls on both.
    rates.open.push(await requestsPerSecond(open.port, token))
    rates.closed.push(await requestsPerSecond(closed.port, token))
    note(
      `round ${round} of ${rounds}: ${Math.round(rates.open.at(-1) ?? 0)}/s without, ${Math.round(rates.closed.at(-1) ?? 0)}/s with a reused token`,
    )
  }
  open.child.disconnect()

  note(`signing ${options.tokens} tokens`)
  const tokens: string[] = []
  for (let index = 0; index < Number(options.tokens); index += 1)
    tokens.push(await signToken({ privateKeyPem, claims: { jti: randomUUID() } }))
  note('one fresh token a request')
  const fresh = await freshTokens(closed.child, closed.port, tokens)
  closed.child.disconnect()

  const ratio = median(rates.closed.map((rate, round) => rate / (rates.open[round] ?? 0)))
  const passed = ratio >= floors.ratio && fresh.delay.p99 < floors.delayP99Ms
  console.log(
    JSON.stringify({
      bench: 'auth',
      route: `GET ${path}`,
      without_authentication_per_second: Math.round(median(rates.open)),
      reused_token_per_second: Math.round(median(rates.closed)),
      ratio: Number(ratio.toFixed(3)),
      ratio_floor: floors.ratio,
      fresh_token_per_second: Math.round(fresh.perSecond),
      event_loop_delay_ms: {
        p50: Number(fresh.delay.p50.toFixed(2)),
        p99: Number(fresh.delay.p99.toFixed(2)),
        max: Number(fresh.delay.max.toFixed(2)),
      },
      event_loop_delay_p99_ceiling_ms: floors.delayP99Ms,
      passed,
    }),
  )
  process.exitCode = passed ? 0 : 1
} finally {
  await cluster.stop()
}
