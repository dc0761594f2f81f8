import { setTimeout as delay } from 'node:timers/promises'
import fc from 'fast-check'
import pg from 'pg'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { useDatabase } from '../../test/database.ts'
import { connect, type Database } from './postgres.ts'
import { countTokenUse, forgetUses, windowSeconds } from './uses.ts'

const database = useDatabase()
let db: Database
let worker: Database
const open = (role: 'florin_api' | 'florin_worker') =>
  connect({ url: database.url(role), applicationName: 'test', poolSize: 10, onError: () => undefined })
beforeAll(() => {
  db = open('florin_api')
  worker = open('florin_worker')
})
afterAll(async () => {
  await db.close()
  await worker.close()
})

let subjects = 0
const newSubject = () => `subject-${(subjects += 1)}`

/** Everything that happened lies so much further back. */
const pass = (seconds: number) =>
  database.query(
    `update embed_uses set asked_at = asked_at - make_interval(secs => $1),
      times = (select array_agg(at - make_interval(secs => $1) order by at) from unnest(times) as at)`,
    [seconds],
  )

/** What the one row of this test says. */
async function rowOf() {
  const [row] = await database.query<{ asked_at: number; allowed: boolean; times: number[] }>(
    `select extract(epoch from asked_at)::float8 as asked_at, allowed,
      (select array_agg(extract(epoch from at)::float8 order by at) from unnest(times) as at) as times from embed_uses`,
  )
  if (!row) throw new Error('nothing was counted')
  return row
}

const lockWaits = `select from pg_stat_activity where datname = current_database() and wait_event_type = 'Lock'`

const step = fc.oneof(
  { weight: 1, arbitrary: fc.record({ ask: fc.integer({ min: 1, max: 6 }) }) },
  { weight: 1, arbitrary: fc.record({ pass: fc.constantFrom(0.5, 7, 20, 30, 45, 59, 61) }) },
)

test('a use is allowed exactly when fewer than the limit were within the last 60 seconds, wherever they began', async () => {
  await fc.assert(
    fc.asyncProperty(
      fc.integer({ min: 1, max: 6 }),
      fc.array(step, { minLength: 8, maxLength: 25 }),
      async (limit, steps) => {
        await database.query('delete from embed_uses')
        const subject = newSubject()
        // By the database's own clock, so that nothing here depends on how fast this runs.
        let allowed: number[] = []
        for (const next of steps) {
          if ('pass' in next) {
            await pass(next.pass)
            allowed = allowed.map((at) => at - next.pass)
            continue
          }
          for (let index = 0; index < next.ask; index += 1) {
            const use = await countTokenUse(db, subject, limit)
            const row = await rowOf()
            const recent = allowed.filter((at) => at > row.asked_at - windowSeconds)
            expect(use?.allowed).toBe(recent.length < limit)
            if (use?.allowed) allowed.push(row.asked_at)
            expect(row.times.length).toBeLessThanOrEqual(limit)
            const within = allowed.filter((at) => at > row.asked_at - windowSeconds)
            expect(use?.used).toBe(within.length)
            const freeAt = (within.at(-Math.min(limit, within.length)) ?? 0) + windowSeconds
            expect(use?.wait_ms).toBeCloseTo((freeAt - row.asked_at) * 1000, 0)
          }
        }
      },
    ),
    { numRuns: 60 },
  )
})

test('of two hundred at once exactly the limit is allowed', async () => {
  const subject = newSubject()
  const uses = await Promise.all(Array.from({ length: 200 }, () => countTokenUse(db, subject, 50)))
  expect(uses.filter((use) => use?.allowed)).toHaveLength(50)
})

test('no window has more, however near to a full minute of the clock it begins', async () => {
  // Windows that stand still begin anew somewhere within a minute: one of these steps is over that, and the uses before it still count.
  await database.query('delete from embed_uses')
  const subject = newSubject()
  for (let use = 0; use < 3; use += 1) await countTokenUse(db, subject, 3)
  for (;;) {
    await pass(1)
    const [oldest = 0] = (await rowOf()).times
    const use = await countTokenUse(db, subject, 3)
    const isOut = (await rowOf()).asked_at - oldest > windowSeconds
    expect(use?.allowed).toBe(isOut)
    if (isOut) return
  }
})

test('a use that waits for others is counted at the time it passes, not at the time it came', async () => {
  await database.query('delete from embed_uses')
  const subject = newSubject()
  await countTokenUse(db, subject, 50)
  const holder = new pg.Client({ connectionString: database.url() })
  await holder.connect()
  try {
    await holder.query('begin')
    await holder.query('select from embed_uses for update')
    const waiting = countTokenUse(db, subject, 50)
    while ((await database.query(lockWaits)).length === 0) await delay(5)
    const { rows } = await holder.query<{ at: number }>('select extract(epoch from clock_timestamp())::float8 as at')
    await holder.query('commit')
    expect(await waiting).toMatchObject({ allowed: true, used: 2 })
    const { asked_at, times } = await rowOf()
    expect(asked_at).toBeGreaterThan(rows[0]?.at ?? Infinity)
    expect(times.at(-1)).toBe(asked_at)
  } finally {
    await holder.end()
  }
})

test('a limit that was lowered counts what was allowed before, and says truly when the next passes', async () => {
  const subject = newSubject()
  await database.query('delete from embed_uses')
  for (let use = 0; use < 5; use += 1) {
    await countTokenUse(db, subject, 5)
    await pass(10)
  }
  const refused = await countTokenUse(db, subject, 2)
  expect(refused?.allowed).toBe(false)
  await pass((refused?.wait_ms ?? 0) / 1000 - 5)
  expect(await countTokenUse(db, subject, 2)).toMatchObject({ allowed: false })
  await pass(5)
  expect(await countTokenUse(db, subject, 2)).toMatchObject({ allowed: true, used: 2 })
})

test('what nobody asked for lately is swept, and what counts stays', async () => {
  await database.query('delete from embed_uses')
  await countTokenUse(db, newSubject(), 50)
  await pass(2 * windowSeconds + 1)
  await countTokenUse(db, newSubject(), 50)
  await pass(windowSeconds)
  await forgetUses(worker)
  expect(await database.query('select from embed_uses')).toHaveLength(1)
})

test('the table knows a subject by its hash, and nothing of it is in the write-ahead log', async () => {
  await database.query('delete from embed_uses')
  const subject = newSubject()
  await countTokenUse(db, subject, 50)
  const [row] = await database.query<{ subject: string; persistence: string }>(
    `select encode(subject, 'escape') as subject, relpersistence as persistence from embed_uses, pg_class where relname = 'embed_uses'`,
  )
  expect(row?.subject).not.toContain(subject)
  expect(row?.persistence).toBe('u')
})
