import { parseArgs } from 'node:util'
import pg from 'pg'
import { type Difference, verifyTransactions } from '../src/areas/transactions/operations/verify.ts'
import { connect } from '../src/platform/postgres.ts'
import {
  type GiftCardArena,
  raceKinds,
  refundRaceKinds,
  runGiftCardRound,
  serveRaces,
} from '../test/gift-card-races.ts'
import { startRaceServers } from './race-servers.ts'
import { note } from './rig.ts'

/**
 * One gift card that can pay once, and a hundred payments with it at the same moment on three apis; then a hundred refunds of half of what it
 * paid. One payment and two refunds succeed, in every round, and at the end the books of all agree.
 */
const { values: options } = parseArgs({
  options: {
    rounds: { type: 'string', default: '500' },
    refunds: { type: 'string', default: '50' },
    wide: { type: 'string', default: '100' },
    help: { type: 'boolean', default: false },
  },
})
if (options.help) {
  console.log(`npm run proof:gift-card-races -- [--rounds 500] [--refunds 50] [--wide 100]

--rounds   of payments
--refunds  rounds of refunds
--wide     requests at the same moment

Example: npm run proof:gift-card-races -- --rounds 24 --refunds 4`)
  process.exit(0)
}
const rounds = Number(options.rounds)
const refundRounds = Number(options.refunds)
const wide = Number(options.wide)
const servers = await startRaceServers({}, 3)
const pool = new pg.Pool({ connectionString: servers.cluster.url(), max: 2 })
pool.on('error', () => undefined)
try {
  const query: GiftCardArena['query'] = async (text, values = []) => (await pool.query(text, values)).rows
  await serveRaces(servers.send)
  const arena: GiftCardArena = { send: servers.send, query, wide }
  const turns = (count: number, kinds: readonly string[]) =>
    Array.from({ length: count }, (_, turn) => kinds[turn % kinds.length] ?? '')
  const violations: string[] = []
  let requests = 0
  const began = performance.now()
  for (const [index, kind] of [...turns(rounds, raceKinds), ...turns(refundRounds, refundRaceKinds)].entries()) {
    const result = await runGiftCardRound(arena, kind)
    requests += result.requests
    violations.push(...result.violations.map((violation) => `round ${index + 1}, ${violation}`))
    if ((index + 1) % 50 === 0) note(`round ${index + 1} of ${rounds + refundRounds}, ${violations.length} violations`)
  }
  const seconds = Number(((performance.now() - began) / 1000).toFixed(1))
  const differences = await verify(servers.cluster.url({ user: 'florin_worker' }))
  for (const line of [...violations, ...differences].slice(0, 30)) note(line)
  const passed = violations.length === 0 && differences.length === 0
  console.log(
    JSON.stringify({
      proof: 'gift-card-races',
      rounds,
      refund_rounds: refundRounds,
      wide,
      requests,
      violations: violations.length,
      differences: differences.length,
      floor: { violations: 0, differences: 0 },
      seconds,
      passed,
    }),
  )
  process.exitCode = passed ? 0 : 1
} finally {
  await pool.end()
  await servers.close()
}

/** As `florin verify`. */
async function verify(url: string): Promise<string[]> {
  const db = connect({ url, applicationName: 'proof', poolSize: 1, onError: () => undefined })
  const found: string[] = []
  const onDifference = ({ id, what, expected, found: other }: Difference) =>
    void found.push(`${id} ${what}: expected ${expected}, found ${other}`)
  await verifyTransactions({ db, accounts: 'all' }, { onDifference })
  await db.close()
  return found
}
