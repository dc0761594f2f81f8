import { parseArgs } from 'node:util'
import pg from 'pg'
import { type Arena, kindNames, runRound, serviceBody } from '../test/payment-races.ts'
import { startRaceServers } from './race-servers.ts'
import { note } from './rig.ts'

/**
 * Many requests about one payment at the same moment, on two apis with a real vault: captures against voids, refunds of more than there
 * is, the same idempotency key. After each round our records, the API's answers and the provider's books must agree.
 */
const { values: options } = parseArgs({
  options: {
    rounds: { type: 'string', default: '1000' },
    wide: { type: 'string', default: '100' },
    help: { type: 'boolean', default: false },
  },
})
if (options.help) {
  console.log(
    'npm run proof:payment-races -- [--rounds 1000] [--wide 100]\n\nExample: npm run proof:payment-races -- --rounds 24',
  )
  process.exit(0)
}
const rounds = Number(options.rounds)
const wide = Number(options.wide)
const allowance = 100
const servers = await startRaceServers({ over_capture_amount: allowance })
const pool = new pg.Pool({ connectionString: servers.cluster.url(), max: 2 })
pool.on('error', () => undefined)
try {
  const query: Arena['query'] = async (text, values = []) => (await pool.query(text, values)).rows
  const service = await servers.send('POST', '/payment-services', { body: serviceBody })
  if (service.status !== 201) throw new Error(`the payment service was answered ${service.status}: ${service.text}`)
  const arena: Arena = { send: servers.send, query, wide, allowance }
  const violations: string[] = []
  let requests = 0
  const began = performance.now()
  for (let round = 0; round < rounds; round += 1) {
    const result = await runRound(arena, kindNames[round % kindNames.length] ?? '')
    requests += result.requests
    violations.push(...result.violations.map((violation) => `round ${round + 1}, ${violation}`))
    if ((round + 1) % 50 === 0) note(`round ${round + 1} of ${rounds}, ${violations.length} violations`)
  }
  const seconds = Number(((performance.now() - began) / 1000).toFixed(1))
  for (const violation of violations.slice(0, 30)) note(violation)
  const passed = violations.length === 0
  console.log(
    JSON.stringify({
      proof: 'payment-races',
      rounds,
      wide,
      kinds: kindNames.length,
      requests,
      violations: violations.length,
      seconds,
      passed,
    }),
  )
  process.exitCode = passed ? 0 : 1
} finally {
  await pool.end()
  await servers.close()
}
