import { setTimeout as delay } from 'node:timers/promises'
import { parseArgs } from 'node:util'
import { signToken } from '../test/sign-token.ts'
import { sql } from '../src/platform/sql.ts'
import { type Load, load } from './http-load.ts'
import { askProbe, median, note, percentiles, type Rig, round, startRig } from './rig.ts'

/**
 * Payments charged a second through the API, the sandbox's provider answering at once, against what PostgreSQL itself commits when pgbench sends it
 * the rows that a payment needs (bench/pay.pgbench.sql), in turns on one cluster that really writes to disk.
 */
const { values: options } = parseArgs({
  options: {
    rounds: { type: 'string', default: '5' },
    seconds: { type: 'string', default: '5' },
    connections: { type: 'string', default: '64' },
    pool: { type: 'string', default: '10' },
    tokens: { type: 'string', default: '2000' },
    'node-options': { type: 'string', default: '' },
    help: { type: 'boolean', default: false },
  },
})
if (options.help) {
  console.log(
    'npm run bench:pay -- [--rounds 5] [--seconds 5] [--connections 64] [--pool 10] [--tokens 2000] [--node-options=--cpu-prof]\n\nExample: npm run bench:pay -- --rounds 3 --seconds 2',
  )
  process.exit(0)
}
const rounds = Number(options.rounds)
const seconds = Number(options.seconds)
const connections = Number(options.connections)
const floors = { ratio: 0.35, commits: 3, roundTrips: 10 }

const body = JSON.stringify({
  amount: 1299,
  currency: 'EUR',
  country: 'DE',
  intent: 'capture',
  external_identifier: 'order-4711',
  metadata: { order: '4711' },
  payment_method: { method: 'card', number: '4111111111111111', expiration_date: '12/30', security_code: '123' },
})

function pay(
  port: number,
  nextToken: () => string,
  how: { seconds?: number; connections?: number } = {},
): Promise<Load> {
  const makeRequest = () =>
    `POST /transactions HTTP/1.1\r\nhost: 127.0.0.1\r\nauthorization: Bearer ${nextToken()}\r\n` +
    `content-type: application/json\r\ncontent-length: ${body.length}\r\n\r\n${body}`
  return load({ port, connections, seconds, makeRequest, wantedStatus: 201, ...how })
}

async function addPaymentService(port: number, token: string): Promise<void> {
  const answer = await fetch(`http://127.0.0.1:${port}/payment-services`, {
    method: 'POST',
    headers: { authorization: `Bearer ${token}`, 'content-type': 'application/json' },
    body: JSON.stringify({
      display_name: 'Sandbox',
      payment_service_definition_id: 'mock-card',
      fields: [{ key: 'merchant_id', value: 'bench' }],
      accepted_currencies: ['EUR'],
      accepted_countries: ['DE'],
    }),
  })
  if (answer.status !== 201) throw new Error(`no payment service: ${await answer.text()}`)
}

interface Totals {
  roundTrips: number
  ownMs: number[]
}

const countPayments = async ({ admin }: Rig) =>
  (await admin.run<{ count: number }>(sql`select count(*) from transactions where status = 'capture_succeeded'`))[0]
    ?.count ?? 0

/** What a payment costs, in a run that counts and is slower for it; some at a time, and one at a time. */
async function countCosts(rig: Rig, token: string) {
  const [before, paymentsBefore] = [await rig.counters(), await countPayments(rig)]
  const { api, vault, port } = await rig.startServers({ probe: 'pay-probe.ts' })
  const aMoment = { seconds: Math.min(1, seconds) }
  await pay(port, () => token, aMoment)
  const [apiBefore, vaultBefore] = [await askProbe<Totals>(api), await askProbe<Totals>(vault)]
  const run = await pay(port, () => token)
  const [apiAfter, vaultAfter] = [await askProbe<Totals>(api), await askProbe<Totals>(vault)]
  const alone = await pay(port, () => token, { ...aMoment, connections: 1 })
  const apiAlone = await askProbe<Totals>(api)
  // PostgreSQL's processes hand in their counts when they end.
  await rig.stopServers()
  await delay(500)
  const [after, paymentsAfter] = [await rig.counters(), await countPayments(rig)]
  return {
    commits_per_payment: round((after.commits - before.commits) / (paymentsAfter - paymentsBefore), 2),
    wal_flushes_per_payment: round((after.flushes - before.flushes) / (paymentsAfter - paymentsBefore), 2),
    round_trips_per_payment: {
      api: round((apiAfter.roundTrips - apiBefore.roundTrips) / run.answers, 2),
      vault: round((vaultAfter.roundTrips - vaultBefore.roundTrips) / run.answers, 2),
      api_one_at_a_time: round((apiAlone.roundTrips - apiAfter.roundTrips) / alone.answers, 2),
    },
    // Everything takes a little longer in this run.
    own_time_ms: percentiles(apiAfter.ownMs.slice(apiBefore.ownMs.length)),
    own_time_one_at_a_time_ms: percentiles(apiAlone.ownMs.slice(apiAfter.ownMs.length)),
  }
}

const rig = await startRig({ environment: 'sandbox', pool: options.pool })
try {
  const privateKeyPem = await rig.prepare('pay.setup.sql')
  const token = await signToken({ privateKeyPem })
  const script = 'pay.pgbench.sql'
  const servers = await rig.startServers({ nodeOptions: options['node-options'] })
  await addPaymentService(servers.port, token)
  note('warming up')
  await pay(servers.port, () => token)
  await rig.pgbench(script, { connections, seconds })

  const rates = { api: [] as number[], pgbench: [] as number[] }
  const latencies: number[] = []
  const cpu = { api: 0, vault: 0, postgresql: 0, load: 0, pgbench: 0 }
  let pgbenchPayments = 0
  for (let count = 1; count <= rounds; count += 1) {
    // Alternating, so that whatever else the machine does falls on both.
    const start = rig.cpu(servers)
    const run = await pay(servers.port, () => token)
    const middle = rig.cpu(servers)
    for (const name of ['api', 'vault', 'postgresql', 'load'] as const) cpu[name] += middle[name] - start[name]
    for (const latency of run.latencies) latencies.push(latency)
    const paid = run.answers / run.seconds
    const bare = await rig.pgbench(script, { connections, seconds })
    cpu.pgbench += rig.cpu(servers).postgresql - middle.postgresql
    pgbenchPayments += bare * Math.ceil(seconds)
    rates.api.push(paid)
    rates.pgbench.push(bare)
    note(
      `round ${count} of ${rounds}: ${Math.round(paid)} payments/s through the API, ${Math.round(bare)}/s by pgbench`,
    )
  }

  note('signing tokens')
  const tokens = await Promise.all(Array.from({ length: Number(options.tokens) }, () => signToken({ privateKeyPem })))
  const fresh = await pay(servers.port, () => tokens.pop() ?? token)
  note(tokens.length === 0 ? 'there were too few tokens: ask for more with --tokens' : `${tokens.length} tokens left`)
  await rig.stopServers()

  note('counting')
  const costs = await countCosts(rig, token)
  const payments = latencies.length
  const ratio = median(rates.api.map((rate, index) => rate / (rates.pgbench[index] ?? 0)))
  const passed =
    ratio >= floors.ratio &&
    costs.commits_per_payment <= floors.commits &&
    costs.round_trips_per_payment.api_one_at_a_time <= floors.roundTrips
  console.log(
    JSON.stringify({
      bench: 'pay',
      connections,
      payments_per_second: Math.round(median(rates.api)),
      pgbench_per_second: Math.round(median(rates.pgbench)),
      ratio: round(ratio, 3),
      ratio_floor: floors.ratio,
      fresh_token_per_second: Math.round(fresh.answers / fresh.seconds),
      latency_ms: percentiles(latencies),
      cpu_ms_per_payment: {
        api: round(cpu.api / payments, 3),
        vault: round(cpu.vault / payments, 3),
        postgresql: round(cpu.postgresql / payments, 3),
        load: round(cpu.load / payments, 3),
        postgresql_by_pgbench: round(cpu.pgbench / pgbenchPayments, 3),
      },
      ...costs,
      passed,
    }),
  )
  process.exitCode = passed ? 0 : 1
} finally {
  await rig.close()
}
