import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { afterAll, expect, test } from 'vitest'
import { lastIdOf, newId } from '../src/ids.ts'
import { codeCache } from './code-cache.ts'
import { useDatabase } from './database.ts'
import type { KillOrder } from './kill-hook.ts'
import { committedPoint, uncommittedPoints } from './webhook-replays/points.ts'
import { insertEvents, insertSubscription } from './webhooks.ts'

/** Replays whose worker is killed, again and again. */

const database = useDatabase()
const folder = mkdtempSync(join(tmpdir(), 'florin-replays-'))
afterAll(() => rmSync(folder, { recursive: true }))

/** PostgreSQL may take a moment to notice that somebody is gone, and keeps the locks until then. */
const isConnected = async () =>
  (
    await database.query(
      `select from pg_stat_activity where datname = current_database() and application_name = 'replays'`,
    )
  ).length > 0

/** Runs the job until it ends or is killed where it is told to; says how it ended. */
async function work(point?: string): Promise<string | number | null> {
  const orderFile = join(folder, newId())
  const order: KillOrder = { points: point === undefined ? [] : [point], requests: 1 }
  writeFileSync(orderFile, JSON.stringify(order))
  const files = ['kill-hook.ts', 'webhook-replays/advance.ts'].map((file) => join(import.meta.dirname, file))
  const child = spawn(process.execPath, ['--import', ...files], {
    env: {
      PATH: process.env['PATH'] ?? '',
      ...codeCache,
      DATABASE_URL: database.url('florin_worker'),
      KILL_ORDER: orderFile,
    },
    stdio: ['ignore', 'inherit', 'inherit'],
  })
  const [code, signal] = (await once(child, 'close')) as [number | null, NodeJS.Signals | null]
  while (await isConnected()) await sleep(20)
  return signal ?? code
}

test('a replay whose worker is killed at any place loses no event and tells none twice', async () => {
  const subscriptionId = await insertSubscription(database)
  const events = await insertEvents(database, 3_500)
  const id = newId()
  await database.query(
    `insert into webhook_replays (merchant_account_id, id, subscription_id, from_id, to_id, undelivered_only, created_at, updated_at)
     values ('default', $1, $2, $3, $4, false, now(), now())`,
    [id, subscriptionId, events[0], lastIdOf(Date.now() - 60_000)],
  )
  const progress = async () => {
    const [row] = await database.query<{ position: string | null; deliveries: number; is_finished: boolean }>(
      'select position, deliveries::integer, finished_at is not null as is_finished from webhook_replays where id = $1',
      [id],
    )
    const rows = await database.query<{ event_id: string }>(
      `select event_id from webhook_deliveries where subscription_id = $1 and origin = 'replay' order by event_id`,
      [subscriptionId],
    )
    return { ...row, told: rows.map(({ event_id }) => event_id) }
  }

  for (const batches of [0, 1, 2]) {
    for (const point of uncommittedPoints) {
      expect(await work(point)).toBe('SIGKILL')
      expect((await progress()).told).toEqual(events.slice(0, batches * 1_000))
    }
    expect(await work(committedPoint)).toBe('SIGKILL')
    expect(await progress()).toEqual({
      position: events[(batches + 1) * 1_000 - 1],
      deliveries: (batches + 1) * 1_000,
      is_finished: false,
      told: events.slice(0, (batches + 1) * 1_000),
    })
  }
  expect(await work()).toBe(0)
  expect(await progress()).toEqual({ position: events.at(-1), deliveries: 3_500, is_finished: true, told: events })
})
