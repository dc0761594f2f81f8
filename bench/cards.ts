import { randomInt } from 'node:crypto'
import { setTimeout as delay } from 'node:timers/promises'
import { parseArgs } from 'node:util'
import { signToken } from '../test/sign-token.ts'
import { sql } from '../src/platform/sql.ts'
import { type Load, load } from './http-load.ts'
import { askProbe, median, note, percentiles, type Rig, round, startRig } from './rig.ts'

/**
 * Cards stored a second through the API, against what PostgreSQL itself commits when pgbench sends it the same rows
 * (bench/cards.pgbench.sql), in turns on one cluster that really writes to disk.
 */
const { values: options } = parseArgs({
  options: {
    rounds: { type: 'string', default: '5' },
    seconds: { type: 'string', default: '5' },
    connections: { type: 'string', default: '32' },
    pool: { type: 'string', default: '10' },
    'node-options': { type: 'string', default: '' },
    help: { type: 'boolean', default: false },
  },
})
if (options.help) {
  console.log(
    'npm run bench:cards -- [--rounds 5] [--seconds 5] [--connections 32] [--pool 10] [--node-options=--cpu-prof]\n\nExample: npm run bench:cards -- --rounds 3 --seconds 2',
  )
  process.exit(0)
}
const rounds = Number(options.rounds)
const seconds = Number(options.seconds)
const connections = Number(options.connections)
const ratioFloor = 0.4

/** Of nobody: the last digit makes the number valid. */
function newNumber(): string {
  const digits = `400000${String(randomInt(1_000_000_000)).padStart(9, '0')}`
  let sum = 0
  for (const [index, digit] of digits.split('').entries()) {
    const value = index % 2 === 0 ? Number(digit) * 2 : Number(digit)
    sum += value > 9 ? value - 9 : value
  }
  return `${digits}${(10 - (sum % 10)) % 10}`
}

function storeCards(port: number, token: string, duration = seconds): Promise<Load> {
  const head =
    `POST /payment-methods HTTP/1.1\r\nhost: 127.0.0.1\r\nauthorization: Bearer ${token}\r\n` +
    'content-type: application/json\r\ncontent-length: '
  const makeRequest = () => {
    const body = `{"method":"card","number":"${newNumber()}","expiration_date":"12/30","security_code":"123"}`
    return `${head}${body.length}\r\n\r\n${body}`
  }
  return load({ port, connections, seconds: duration, makeRequest, wantedStatus: 201 })
}

interface Totals {
  roundTrips: number
  beforeVaultMs: number
  vaultCallMs: number
  afterVaultMs: number
}

const countCards = async ({ admin }: Rig) =>
  (await admin.run<{ count: number }>(sql`select count(*) from payment_methods`))[0]?.count ?? 0

/** What a card costs, in a run that counts and is slower for it. */
async function countCosts(rig: Rig, token: string) {
  const [before, cardsBefore] = [await rig.counters(), await countCards(rig)]
  const { api, vault, port } = await rig.startServers({ probe: 'cards-probe.ts' })
  await storeCards(port, token, Math.min(1, seconds))
  const [apiBefore, vaultBefore] = [await askProbe<Totals>(api), await askProbe<Totals>(vault)]
  const run = await storeCards(port, token)
  const [apiAfter, vaultAfter] = [await askProbe<Totals>(api), await askProbe<Totals>(vault)]
  // PostgreSQL's processes hand in their counts when they end.
  await rig.stopServers()
  await delay(500)
  const [after, cardsAfter] = [await rig.counters(), await countCards(rig)]
  const each = (total: number) => round(total / run.answers, 2)
  const meanMs = each(run.latencies.reduce((left, right) => left + right, 0))
  const time = {
    before_vault: each(apiAfter.beforeVaultMs - apiBefore.beforeVaultMs),
    vault_call: each(apiAfter.vaultCallMs - apiBefore.vaultCallMs),
    insert_and_answer: each(apiAfter.afterVaultMs - apiBefore.afterVaultMs),
  }
  return {
    commits_per_card: round((after.commits - before.commits) / (cardsAfter - cardsBefore), 2),
    wal_flushes_per_card: round((after.flushes - before.flushes) / (cardsAfter - cardsBefore), 2),
    round_trips_per_card: {
      api: each(apiAfter.roundTrips - apiBefore.roundTrips),
      vault: each(vaultAfter.roundTrips - vaultBefore.roundTrips),
    },
    // Everything takes a little longer in this run.
    time_ms: {
      total: meanMs,
      ...time,
      outside_the_api: round(meanMs - time.before_vault - time.vault_call - time.insert_and_answer, 2),
    },
  }
}

const rig = await startRig({ environment: 'production', pool: options.pool })
try {
  const privateKeyPem = await rig.prepare('cards.setup.sql')
  const token = await signToken({ privateKeyPem })
  const script = 'cards.pgbench.sql'
  const servers = await rig.startServers({ nodeOptions: options['node-options'] })
  note('warming up')
  await storeCards(servers.port, token)
  await rig.pgbench(script, { connections, seconds })

  const rates = { api: [] as number[], pgbench: [] as number[] }
  const latencies: number[] = []
  const cpu = { api: 0, vault: 0, postgresql: 0, load: 0, pgbench: 0 }
  let pgbenchCards = 0
  for (let count = 1; count <= rounds; count += 1) {
    // Alternating, so that whatever else the machine does falls on both.
    const start = rig.cpu(servers)
    const run = await storeCards(servers.port, token)
    const middle = rig.cpu(servers)
    for (const name of ['api', 'vault', 'postgresql', 'load'] as const) cpu[name] += middle[name] - start[name]
    for (const latency of run.latencies) latencies.push(latency)
    const stored = run.answers / run.seconds
    const bare = await rig.pgbench(script, { connections, seconds })
    cpu.pgbench += rig.cpu(servers).postgresql - middle.postgresql
    pgbenchCards += bare * Math.ceil(seconds)
    rates.api.push(stored)
    rates.pgbench.push(bare)
    note(`round ${count} of ${rounds}: ${Math.round(stored)} cards/s through the API, ${Math.round(bare)}/s by pgbench`)
  }
  await rig.stopServers()

  note('counting')
  const costs = await countCosts(rig, token)
  const cards = latencies.length
  const ratio = median(rates.api.map((rate, index) => rate / (rates.pgbench[index] ?? 0)))
  const passed = ratio >= ratioFloor
  console.log(
    JSON.stringify({
      bench: 'cards',
      connections,
      cards_per_second: Math.round(median(rates.api)),
      pgbench_per_second: Math.round(median(rates.pgbench)),
      ratio: round(ratio, 3),
      ratio_floor: ratioFloor,
      latency_ms: percentiles(latencies),
      cpu_ms_per_card: {
        api: round(cpu.api / cards, 3),
        vault: round(cpu.vault / cards, 3),
        postgresql: round(cpu.postgresql / cards, 3),
        load: round(cpu.load / cards, 3),
        postgresql_by_pgbench: round(cpu.pgbench / pgbenchCards, 3),
      },
      ...costs,
      passed,
    }),
  )
  process.exitCode = passed ? 0 : 1
} finally {
  await rig.close()
}
