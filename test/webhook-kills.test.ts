import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import type { PlantedBug } from './kill-hook.ts'
import { type MortalCluster, startMortalCluster } from './webhook-kills/cluster.ts'
import { runKills } from './webhook-kills/run.ts'
import { measureStops } from './webhook-kills/stops.ts'

/** The short form of `npm run proof:webhook-kills`. */
let cluster: MortalCluster
beforeAll(async () => {
  cluster = await startMortalCluster()
})
afterAll(() => cluster.stop())

/** Far beyond what it needs: many processes start, and how busy the machine is must not decide. */
const timeout = 900_000

test('whoever dies between a commit and a receiver: every event that was committed is received, and nothing else', {
  timeout,
}, async () => {
  const report = await runKills({ cluster, events: 1_500, perSecond: 120, rounds: 1, kills: 1, databaseKills: 1 })
  expect(report.violations).toEqual([])
  expect(report).toMatchObject({
    lost: 0,
    phantoms: 0,
    dispatchers_killed: {
      'relay: not yet committed': 1,
      'relay: committed': 1,
      'dispatch: claimed': 1,
      'dispatch: not yet sent': 1,
      'dispatch: sent': 1,
      'dispatch: results not yet written': 1,
      'dispatch: results written': 1,
      'any moment': 1,
    },
    producers_killed: { 'produce: not yet committed': 1, 'produce: committed': 1, 'any moment': 1 },
    databases_killed: 1,
    passed: true,
  })
  expect(report.events).toBeGreaterThanOrEqual(1_500)
})

test('a subscription that is made inactive under load is sent nothing once that is known, and its events are kept', {
  timeout,
}, async () => {
  // How soon is for the long form to say.
  const report = await measureStops(cluster, { times: 2, perSecond: 50 })
  expect(report).toMatchObject({ times: 2, late: 0 })
  expect(report.kept).toBeGreaterThan(0)
})

describe('a mistake is noticed:', () => {
  const runPlanted = (bug: PlantedBug, point: string) =>
    runKills({
      cluster,
      events: 200,
      perSecond: 100,
      rounds: 1,
      kills: 2,
      databaseKills: 0,
      points: [point],
      bugs: [bug],
    })

  test('a relay that takes events from the queue before, and not in, the transaction of their deliveries', {
    timeout,
  }, async () => {
    const report = await runPlanted(
      {
        file: 'webhooks/relay.ts',
        from: `const relayed = await transact({ db, accounts: 'all' as const }, async ({ db }) => {
    const matches = await takeEvents(db, limit)`,
        to: `const matches = await transact({ db, accounts: 'all' as const }, ({ db }) => takeEvents(db, limit))
  const relayed = await transact({ db, accounts: 'all' as const }, async ({ db }) => {`,
      },
      'relay: not yet committed',
    )
    expect(report.lost).toBeGreaterThan(0)
    expect(report.violations).toContain(`lost: ${report.lost}`)
  })

  test('a dispatcher that writes what became of an attempt before it is made', { timeout }, async () => {
    const report = await runPlanted(
      {
        file: 'webhooks/dispatcher.ts',
        from: `await failpoint('dispatch: not yet sent')`,
        to: `await results.add({
      merchant_account_id: due.merchant_account_id,
      delivery_id: due.id,
      id: newId(),
      number: due.attempts + 1,
      status: 'succeeded',
      next_attempt_at: null,
      status_code: 204,
      error: null,
      duration_ms: 0,
      created_at: now(),
    })
    await failpoint('dispatch: not yet sent')`,
      },
      'dispatch: not yet sent',
    )
    expect(report.lost).toBeGreaterThan(0)
    expect(report.violations).toContain(`lost: ${report.lost}`)
  })
})
