import { setTimeout as sleep } from 'node:timers/promises'
import { beforeAll, expect, test } from 'vitest'
import { useDatabase } from '../../test/database.ts'
import { realClocks } from '../clocks.ts'
import { createLog } from '../platform/log.ts'
import { connect, type Database } from '../platform/postgres.ts'
import { holdJobs } from './hold.ts'
import { startRunner } from './runner.ts'
import { claimJobs } from './store.ts'

const database = useDatabase()
let db: Database

beforeAll(() => {
  db = connect({ url: database.url('florin_worker'), applicationName: 'test', poolSize: 5, onError: () => undefined })
  return () => db.close()
})

test('no worker runs a job that is held; a run that was going on is over before; after the release it goes on', async () => {
  let runs = 0
  const going = Promise.withResolvers<void>()
  const begun = Promise.withResolvers<void>()
  let beats = 0
  const periodic = { everyMs: 10, leaseMs: 60_000 }
  const runner = startRunner({
    db,
    jobs: [
      {
        ...periodic,
        kind: 'held',
        async run() {
          begun.resolve()
          await going.promise
          runs += 1
        },
      },
      { ...periodic, kind: 'other', run: () => Promise.resolve(void (beats += 1)) },
    ],
    clocks: realClocks,
    log: createLog({ level: 'silent', process: 'test' }),
    metrics: { observeJob: () => undefined },
    pollMs: 10,
  })
  try {
    await begun.promise
    let isHeld = false
    const holding = holdJobs(db, ['held']).finally(() => (isHeld = true))
    const beatsBefore = beats
    while (beats < beatsBefore + 5) await sleep(10)
    expect(isHeld).toBe(false)
    going.resolve()
    const held = await holding
    const [runsBefore, since] = [runs, beats]
    while (beats < since + 10) await sleep(10)
    expect(runs).toBe(runsBefore)
    await held?.release()
    while (runs === runsBefore) await sleep(10)
  } finally {
    going.resolve()
    await runner.stop()
  }
})

test('what somebody held who has died comes back to the workers', async () => {
  await holdJobs(db, ['orphan']).then((held) => held?.release())
  await database.query(
    "update jobs set lease = gen_random_uuid(), run_at = now() - interval '1 s' where kind = 'orphan'",
  )
  expect(await claimJobs(db, [{ kind: 'orphan', leaseMs: 1_000 }], 1)).toHaveLength(1)
})
