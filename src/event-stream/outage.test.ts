import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { until, useEventStream } from '../../test/event-stream.ts'

/* What the stream has after servers were killed. One cluster for all of it, so the order of these tests is that of their damage. */

const { database, cluster, relayed, publish, allPublished, counting, storedIds, waiting } = useEventStream()
const patience = { timeout: 400_000 }
const all = [0, 1, 2]
const killAll = () => Promise.all(all.map((index) => cluster().kill(index)))
const startAll = async () => {
  await Promise.all(all.map((index) => cluster().start(index)))
  await cluster().ready()
}

test('each server killed in turn while events are published: every event once, in order', patience, async () => {
  const made = await counting()
  publish()
  await relayed(50)
  await allPublished()
  for (const index of all) {
    await relayed(400, ['default', 'other'])
    await cluster().kill(index)
    await relayed(400, ['default', 'other'])
    await allPublished()
    await cluster().start(index)
    await cluster().ready()
  }
  expect(await storedIds()).toEqual(await made())
})

test('events of a time without NATS wait in PostgreSQL, and are all there once NATS is back', patience, async () => {
  const before = await storedIds()
  const made = await counting()
  await killAll()
  publish()
  await relayed(1_200, ['default', 'other'])
  expect((await waiting()).length).toBe(1_200)
  await startAll()
  await allPublished()
  expect((await storedIds()).slice(before.length)).toEqual(await made())
})

/** As the runbook says it. */
const refill = () => {
  const runbook = readFileSync(join(import.meta.dirname, '../../docs/runbooks/nats.md'), 'utf8')
  const statement = /insert into event_stream_queue[^;]+;/.exec(runbook)?.[0]
  if (!statement) throw new Error('the runbook does not say how to refill the stream')
  return statement
}

test(
  'with all servers wiped the stream is made anew and goes on, and the runbook fills it again',
  patience,
  async () => {
    const everything = await counting()
    publish()
    await relayed(100)
    await allPublished()
    await killAll()
    await Promise.all(all.map((index) => cluster().wipe(index)))
    await relayed(100)
    await startAll()
    await relayed(100)
    await allPublished()
    const since = (await everything()).slice(100)
    await until(async () => (await storedIds()).length === since.length)
    expect(await storedIds()).toEqual(since)

    await database.query(refill())
    await allPublished()
    const stored = await storedIds()
    expect(new Set(stored)).toEqual(
      new Set((await database.query<{ id: string }>('select id from events')).map(({ id }) => id)),
    )
  },
)
