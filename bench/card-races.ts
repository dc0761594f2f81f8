import { randomUUID } from 'node:crypto'
import { parseArgs } from 'node:util'
import pg from 'pg'
import type { Cluster } from '../src/cli/postgres-cluster.ts'
import { startRaceServers } from './race-servers.ts'
import { note } from './rig.ts'

/**
 * Many requests store a card under one external identifier at the same moment, on two apis: exactly one may succeed, all
 * others must name it, and the vault may keep its number only.
 */
const { values: options } = parseArgs({
  options: {
    rounds: { type: 'string', default: '100' },
    requests: { type: 'string', default: '200' },
    help: { type: 'boolean', default: false },
  },
})
if (options.help) {
  console.log(
    'npm run proof:card-races -- [--rounds 100] [--requests 200]\n\nExample: npm run proof:card-races -- --rounds 5',
  )
  process.exit(0)
}
const rounds = Number(options.rounds)
const requests = Number(options.requests)

interface Answer {
  status: number
  body: { id?: string; resource_id?: string }
}

/** What is wrong with the answers of one round. */
function judge(round: number, answers: readonly Answer[]): string[] {
  const problems: string[] = []
  const stored = answers.filter(({ status }) => status === 201)
  const refused = answers.filter(({ status }) => status === 409)
  const others = answers.filter(({ status }) => status !== 201 && status !== 409).map(({ status }) => status)
  if (stored.length !== 1) problems.push(`round ${round}: ${stored.length} × 201`)
  if (others.length > 0) problems.push(`round ${round}: also answered ${others.join(', ')}`)
  const strangers = refused.filter(({ body }) => body.resource_id !== stored[0]?.body.id)
  if (strangers.length > 0) problems.push(`round ${round}: ${strangers.length} × 409 with another id`)
  return problems
}

/** Either way round: a number without its card, a card without its number. */
async function storageProblems(cluster: Cluster): Promise<string[]> {
  const client = new pg.Client({ connectionString: cluster.url() })
  await client.connect()
  const { rows } = await client.query<{ cards: number; orphans: number; empty: number }>(`
    select (select count(*)::int from payment_methods) as cards,
      (select count(*)::int from vault.secrets where id not in (select id from payment_methods)) as orphans,
      (select count(*)::int from payment_methods where id not in (select id from vault.secrets)) as empty`)
  await client.end()
  const [found] = rows
  return [
    ...(found?.cards === rounds ? [] : [`${found?.cards} cards after ${rounds} rounds`]),
    ...(found?.orphans === 0 ? [] : [`${found?.orphans} numbers without a card`]),
    ...(found?.empty === 0 ? [] : [`${found?.empty} cards without a number`]),
  ]
}

const servers = await startRaceServers()

async function store(identifier: string): Promise<Answer> {
  const card = { method: 'card', number: '4111111111111111', expiration_date: '12/30', external_identifier: identifier }
  const { status, text } = await servers.send('POST', '/payment-methods', { body: card })
  return { status, body: JSON.parse(text) as Answer['body'] }
}

try {
  const violations: string[] = []
  const began = performance.now()
  for (let round = 1; round <= rounds; round += 1) {
    const identifier = randomUUID()
    const calls = Array.from({ length: requests }, () => store(identifier))
    violations.push(...judge(round, await Promise.all(calls)))
    if (round % 10 === 0) note(`round ${round} of ${rounds}, ${violations.length} violations`)
  }
  const seconds = (performance.now() - began) / 1000
  violations.push(...(await storageProblems(servers.cluster)))
  for (const violation of violations.slice(0, 20)) note(violation)
  const passed = violations.length === 0
  console.log(
    JSON.stringify({
      proof: 'card-races',
      rounds,
      requests: rounds * requests,
      violations: violations.length,
      seconds: Number(seconds.toFixed(1)),
      passed,
    }),
  )
  process.exitCode = passed ? 0 : 1
} finally {
  await servers.close()
}
