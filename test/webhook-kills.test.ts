import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import type { PlantedBug } from './kill-hook.ts'
import { lanes, type NatsCluster, useLane, useNats } from './nats.ts'
import { type MortalCluster, startMortalCluster } from './webhook-kills/cluster.ts'
import { natsFaults } from './webhook-kills/nats-faults.ts'
import { anyMoment, dispatchPoints, lanePoints } from './webhook-kills/points.ts'
import { measureRecovery } from './webhook-kills/recovery.ts'
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

/** Of the servers of the lane. */
const shortFaults = ['two of three', 'all, wiped']

describe.each(lanes)('with first attempts through %s', (lane) => {
  const nats = useLane(lane)

  test('whoever dies between a commit and a receiver: every event that was committed is received, and nothing else', {
    timeout,
  }, async () => {
    const servers = nats()
    const report = await runKills({
      cluster,
      events: 1_500,
      perSecond: 120,
      rounds: 1,
      kills: 1,
      databaseKills: 1,
      ...(servers && { nats: servers, natsFaults: natsFaults.filter(({ name }) => shortFaults.includes(name)) }),
    })
    expect(report.violations).toEqual([])
    const points = [...dispatchPoints, ...(servers ? lanePoints : []), anyMoment]
    expect(report).toMatchObject({
      lost: 0,
      phantoms: 0,
      dispatchers_killed: Object.fromEntries(points.map((point) => [point, 1])),
      producers_killed: { 'produce: not yet committed': 1, 'produce: committed': 1, 'any moment': 1 },
      databases_killed: 1,
      passed: true,
    })
    expect(report.events).toBeGreaterThanOrEqual(1_500)
    if (servers) {
      expect(report.lane).toMatchObject({
        faults: Object.fromEntries(shortFaults.map((name) => [name, 1])),
        errors_while_down: 0,
        acknowledged_early: 0,
      })
    }
  })

  test('a subscription that is made inactive under load is sent nothing once that is known, and its events are kept', {
    timeout,
  }, async () => {
    // How soon is for the long form to say.
    const report = await measureStops(cluster, { times: 2, perSecond: 50, natsUrl: nats()?.url })
    expect(report).toMatchObject({ times: 2, late: 0 })
    expect(report.kept).toBeGreaterThan(0)
  })
})

describe('when all servers of the lane lose what they have', () => {
  const nats = useNats()

  test('what was in it is received all the same, and nobody has to do anything', { timeout }, async () => {
    const report = await measureRecovery(cluster, nats(), { events: 600, perSecond: 100 })
    expect(report).toMatchObject({ lost: 0, deliveries_open: 0 })
    expect(report.events).toBeGreaterThanOrEqual(600)
  })

  test('a mistake is noticed: rows of what is in the lane that nobody looks at', { timeout }, async () => {
    const report = await measureRecovery(cluster, nats(), {
      events: 600,
      perSecond: 100,
      patienceMs: 40_000,
      bugs: [{ file: 'webhooks/lane.ts', from: 'laneLeaseMs = 30_000', to: 'laneLeaseMs = 3_600_000' }],
    })
    expect(report.deliveries_open).toBeGreaterThan(0)
  })
})

describe('a mistake is noticed:', () => {
  const nats = useLane('NATS')
  const runPlanted = (bug: PlantedBug, point: string, servers?: NatsCluster) =>
    runKills({
      cluster,
      ...(servers && { nats: servers }),
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
    const matches = await takeEvents(db, { limit, forStream })`,
        to: `const matches = await transact({ db, accounts: 'all' as const }, ({ db }) => takeEvents(db, { limit, forStream }))
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

  test('a dispatcher that acknowledges a message before what became of it is written down', { timeout }, async () => {
    const report = await runPlanted(
      {
        file: 'webhooks/dispatcher.ts',
        from: 'const written = results.add({',
        to: `due.acknowledge?.()
    const written = results.add({`,
      },
      'dispatch: results not yet written',
      nats(),
    )
    expect(report.lane?.acknowledged_early).toBeGreaterThan(0)
    expect(report.passed).toBe(false)
  })
})
