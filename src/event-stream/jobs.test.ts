import { jetstreamManager } from '@nats-io/jetstream'
import { beforeEach, describe, expect, test } from 'vitest'
import { streamSource, until, useEventStream, withClient } from '../../test/event-stream.ts'
import type { EventTarget } from '../events/catalog.ts'
import { renderEvent } from '../events/envelope.ts'
import { emit } from '../events/outbox.ts'
import { newId } from '../ids.ts'
import type { Nats } from '../platform/nats.ts'
import { transact } from '../platform/postgres.ts'
import { relay } from '../webhooks/relay.ts'
import { takeEvents } from '../webhooks/store.ts'
import { listWaiting } from './store.ts'
import { streamName } from './subject.ts'

/* Events on their way from the commit of a relay to the stream, with three real servers. */

const { database, cluster, now, happen, relayAll, relayed, publish, stream, waiting, ...rest } = useEventStream()
const { allPublished, counting, readStream, rowsOf, storedIds } = rest
const patience = { timeout: 180_000 }

const manage = <Result>(use: (manager: Awaited<ReturnType<typeof jetstreamManager>>) => Promise<Result>) =>
  withClient(cluster(), cluster().eventsUrl, async (client) => use(await jetstreamManager(client, { checkAPI: false })))
beforeEach(async () => {
  await until(() => now().nats.isConnected())
  await manage((manager) => manager.streams.delete(streamName).catch(() => undefined))
})

describe('the stream', () => {
  test(
    'has every event once, in the order of ids, each under the subject of its account and as the text of the webhook',
    patience,
    async () => {
      const made = await counting()
      publish()
      const accounts = ['default', 'A-9', '-', 'x'.repeat(50)]
      await relayed(700, accounts)
      await happen(null)
      await relayAll()
      await until(async () => (await waiting()).length === 0)
      const stored = await readStream()
      expect(stored.map(({ id }) => id)).toEqual(await made())
      const rows = await rowsOf(await made())
      expect(stored.map(({ text }) => text)).toEqual(rows.map((row) => renderEvent(row, streamSource)))
      const tokens = stored.map(({ subject }) => subject.split('.'))
      expect(tokens.map(([, , , account]) => account)).toEqual(rows.map((row) => row.merchant_account_id ?? '_'))
      expect(new Set(tokens.map((parts) => parts.length))).toEqual(new Set([6]))
    },
  )

  test('has nothing that was rolled back, neither with its change nor with the relay', patience, async () => {
    const made = await counting()
    publish()
    await expect(
      transact({ db: now().api, accounts: 'all' as const }, async (ctx) => {
        const target = { type: 'buyer', id: newId() } as EventTarget<'buyer.created'>
        await emit(ctx, 'buyer.created', { target, merchantAccountId: 'default', sequence: 1 })
        throw new Error('the change fails')
      }),
    ).rejects.toThrow('the change fails')
    await database.query(
      `insert into webhook_subscriptions (merchant_account_id, id, url, active, creator_name, created_at, updated_at)
       values ('default', gen_random_uuid(), 'https://example.com/', true, 'test', now(), now())`,
    )
    await happen()
    const failing = { limit: 10, now: new Date(), leaseMs: 1_000, forStream: true }
    const wants = () => {
      throw new Error('the relay fails')
    }
    await expect(relay(now().db, { ...failing, wants })).rejects.toThrow('the relay fails')
    await database.query('delete from webhook_subscriptions')
    expect(await waiting()).toEqual([])
    await relayAll()
    await allPublished()
    expect(await storedIds()).toEqual(await made())
    expect((await made()).length).toBe(1)
  })

  test('is not written for workers without it', patience, async () => {
    await happen()
    await relay(now().db, { limit: 10, now: new Date(), leaseMs: 1_000, wants: () => false })
    expect(await waiting()).toEqual([])
  })
})

describe('the order', () => {
  test('holds between two relays, of which the one with the earlier event commits later', patience, async () => {
    const made = await counting()
    await happen()
    let commit = () => {}
    const held = new Promise<void>((resolve) => (commit = resolve))
    let begin = () => {}
    const begun = new Promise<void>((resolve) => (begin = resolve))
    const slow = transact({ db: now().db, accounts: 'all' as const }, async (ctx) => {
      await takeEvents(ctx.db, { limit: 1, forStream: true })
      begin()
      await held
    })
    await begun
    await happen()
    await relayAll()
    const next = () => transact({ db: now().db, accounts: 'all' as const }, (ctx) => listWaiting(ctx.db, 10))
    const before = { waiting: (await waiting()).length, next: await next() }
    commit()
    await slow
    expect(before).toEqual({ waiting: 1, next: [] })
    expect((await next()).map(({ id }) => id)).toEqual(await made())
  })

  test('holds when one of many messages on their way is lost: nothing is stored behind it', patience, async () => {
    const made = await counting()
    await relayed(400)
    let lost = 0
    const losing: Nats = {
      ...now().nats,
      async publish(subject, text, options) {
        if (options.after === 150 && lost++ === 0) throw new Error('lost on its way')
        await now().nats.publish(subject, text, options)
      },
    }
    publish(stream(losing))
    await allPublished()
    expect(lost).toBeGreaterThan(1)
    expect(await storedIds()).toEqual(await made())
  })

  test('holds with three publishers at once, and nothing is there twice', patience, async () => {
    const made = await counting()
    for (let index = 0; index < 3; index += 1) publish()
    for (let round = 0; round < 10; round += 1) await relayed(100, ['default', 'other'])
    await allPublished()
    expect(await storedIds()).toEqual(await made())
  })
})

describe('a publisher that dies', () => {
  test(
    'between the acknowledgement and the end of the row leaves no second message, however long ago it was',
    patience,
    async () => {
      const made = await counting()
      await stream().open(1)
      // As if that time had passed.
      await manage(async (manager) => {
        const { config } = await manager.streams.info(streamName)
        await manager.streams.update(streamName, { ...config, duplicate_window: 100_000_000 })
      })
      await relayed(300)
      const dying = stream()
      let isDead = false
      const dead = publish({
        open: (most) => dying.open(most),
        async append(events, last) {
          await dying.append(events, last)
          isDead = true
          throw new Error('dead')
        },
      })
      await until(() => isDead)
      await dead.stop()
      expect((await waiting()).length).toBe(300)
      const passed = Date.now() + 500
      await until(() => Date.now() > passed)
      await relayed(300)
      publish()
      await allPublished()
      expect(await storedIds()).toEqual(await made())
    },
  )

  test('and wakes up again after another has taken over adds nothing', patience, async () => {
    const made = await counting()
    await relayed(50)
    const { last } = await stream().open(1)
    const before = await rowsOf(await made())
    const { stop } = publish()
    await allPublished()
    await stop()
    const late = before.map((event) => ({ ...event, id: newId() }))
    const { stored, failure } = await stream().append(late, last)
    expect(stored).toEqual([])
    expect(String(failure)).toMatch(/wrong last sequence/)
    expect(await storedIds()).toEqual(await made())
  })
})
