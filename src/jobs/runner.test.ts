import { afterEach, beforeAll, expect, test } from 'vitest'
import { useDatabase } from '../../test/database.ts'
import { createLog } from '../platform/log.ts'
import { connect, type Database } from '../platform/postgres.ts'
import { enqueue } from '../queue.ts'
import type { Job } from './job.ts'
import { retryDelayMs, type Runner, startRunner } from './runner.ts'
import { claimJobs, deleteJob } from './store.ts'
import { realClocks } from '../clocks.ts'

const database = useDatabase()
let db: Database
const runners: Runner[] = []

beforeAll(() => {
  db = connect({ url: database.url('florin_worker'), applicationName: 'test', poolSize: 10, onError: () => undefined })
  return () => db.close()
})
afterEach(async () => {
  await Promise.all(runners.splice(0).map((runner) => runner.stop()))
  await database.query('delete from jobs')
})

function start(jobs: Job[], { count = 1 } = {}): void {
  const log = createLog({ level: 'silent', process: 'test' })
  const options = { db, jobs, clocks: realClocks, log, metrics: { observeJob: () => undefined }, pollMs: 20 }
  for (let index = 0; index < count; index += 1) runners.push(startRunner(options))
}

const add = (kind: string, key: string, payload: unknown = {}) => enqueue(db, { kind, key, payload, runAt: new Date() })
const waiting = async () => (await database.query<{ n: number }>('select count(*)::int as n from jobs'))[0]?.n

test('several workers share the due jobs and each job runs once', async () => {
  const seen: unknown[] = []
  for (let index = 0; index < 100; index += 1) await add('count', String(index), { index })
  start(
    [
      {
        kind: 'count',
        leaseMs: 5_000,
        run: async (_ctx, payload) => void seen.push((payload as { index: number }).index),
      },
    ],
    { count: 4 },
  )
  await expect.poll(waiting, { timeout: 10_000 }).toBe(0)
  expect(seen.toSorted((left, right) => Number(left) - Number(right))).toEqual(
    Array.from({ length: 100 }, (_, index) => index),
  )
})

test('a job of one kind and key waits only once', async () => {
  await add('same', 'a')
  await add('same', 'a')
  await add('same', 'b')
  expect(await waiting()).toBe(2)
})

test('a periodic job comes back, and of several workers one at a time runs it', async () => {
  let running = 0
  let most = 0
  let runs = 0
  const tick: Job = {
    kind: 'tick',
    everyMs: 30,
    leaseMs: 5_000,
    async run() {
      running += 1
      most = Math.max(most, running)
      runs += 1
      await new Promise((resolve) => setTimeout(resolve, 30))
      running -= 1
    },
  }
  start([tick], { count: 3 })
  await expect.poll(() => runs, { timeout: 10_000 }).toBeGreaterThan(5)
  expect(most).toBe(1)
})

test('a job whose worker died is taken over when its lease ends', async () => {
  await add('orphan', 'x')
  const [dead] = await claimJobs(db, [{ kind: 'orphan', leaseMs: 300 }], 1)
  expect(dead).toBeDefined()
  let attempts = 0
  start([{ kind: 'orphan', leaseMs: 300, run: async () => void (attempts += 1) }])
  await expect.poll(() => attempts, { timeout: 5_000 }).toBe(1)
})

test('a worker that lost its lease cannot finish the job for the one that has it', async () => {
  await add('fenced', 'x')
  const [first] = await claimJobs(db, [{ kind: 'fenced', leaseMs: 1 }], 1)
  await new Promise((resolve) => setTimeout(resolve, 20))
  const [second] = await claimJobs(db, [{ kind: 'fenced', leaseMs: 5_000 }], 1)
  expect(second?.id).toBe(first?.id)
  if (!first || !second) throw new Error('not claimed')
  expect(await deleteJob(db, first)).toBe(false)
  expect(await waiting()).toBe(1)
  expect(await deleteJob(db, second)).toBe(true)
})

test('a long job keeps its lease while its worker lives', async () => {
  let runs = 0
  await add('slow', 'x')
  const slow: Job = {
    kind: 'slow',
    leaseMs: 150,
    async run() {
      runs += 1
      await new Promise((resolve) => setTimeout(resolve, 800))
    },
  }
  start([slow], { count: 3 })
  await expect.poll(waiting, { timeout: 5_000 }).toBe(0)
  expect(runs).toBe(1)
})

test('a failed job is tried again later, and its error is kept without what it said', async () => {
  await add('failing', 'x')
  start([
    {
      kind: 'failing',
      leaseMs: 5_000,
      run: () => Promise.reject(Object.assign(new TypeError('secret 4111111111111111'), { code: 'E_TEST' })),
    },
  ])
  const row = async () =>
    (
      await database.query<{ last_error: string; late: boolean; lease: string | null }>(
        'select last_error, run_at > now() as late, lease from jobs',
      )
    )[0]
  await expect.poll(async () => (await row())?.last_error, { timeout: 5_000 }).toBe('TypeError E_TEST')
  expect(await row()).toMatchObject({ late: true, lease: null })
})

test('the delay between tries doubles up to an hour', () => {
  expect([1, 2, 3, 12, 100].map(retryDelayMs)).toEqual([2_000, 4_000, 8_000, 3_600_000, 3_600_000])
})
