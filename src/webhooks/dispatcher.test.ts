import { describe, expect, test } from 'vitest'
import { fine, until, useDispatchers } from '../../test/dispatchers.ts'
import { lanes, useLane } from '../../test/nats.ts'
import type { Nats } from '../platform/nats.ts'
import type { Sent } from './dispatcher.ts'
import { mostAtOnce } from './endpoint.ts'
import { relay } from './relay.ts'

/* Events on their way from the queue to endpoints, by rows alone and through NATS. */

describe.each(lanes)('through %s', (lane) => {
  const nats = useLane(lane)
  const stage = useDispatchers()
  const { subscribe, happen, statuses, isQueueEmpty, isOver, dueNow } = stage
  const start = () => stage.start({ natsUrl: nats()?.url })

  describe('an event', () => {
    test('is told to every subscription that wants it, of its account and of the instance, and to no other', async () => {
      const told = [await subscribe(), await subscribe({ account: '*' }), await subscribe({ names: ['buyer.created'] })]
      await subscribe({ account: 'another' })
      await subscribe({ names: ['buyer.deleted'] })
      await subscribe({ active: false })
      await start()
      await happen()
      await until(() => isOver(3))
      expect(stage.received.map(({ url }) => url).sort()).toEqual(told.map((id) => `https://${id}.example.com/`).sort())
      expect(await statuses()).toEqual([1, 2, 3].map(() => ['succeeded', 1, 204]))
      const attempts = await stage.database.query('select number, status_code from webhook_attempts')
      expect(attempts).toEqual([1, 2, 3].map(() => ({ number: 1, status_code: 204 })))
    })

    test('of the whole instance is told to its subscriptions alone', async () => {
      await subscribe()
      await subscribe({ account: '*' })
      await start()
      await happen(null)
      await until(() => isOver(1))
      expect(stage.received.length).toBe(1)
    })

    test('leaves the queue when nobody wants it', async () => {
      await start()
      await happen()
      await until(isQueueEmpty)
      expect(await statuses()).toEqual([])
    })

    test('is told once by three dispatchers at once', async () => {
      await subscribe()
      for (let index = 0; index < 150; index += 1) await happen()
      await Promise.all([start(), start(), start()])
      for (let index = 0; index < 150; index += 1) await happen()
      await until(() => isOver(300))
      expect(new Set(stage.received.map(({ event }) => event)).size).toBe(300)
      expect(stage.received.length).toBe(300)
    })
  })

  describe('an attempt that fails', () => {
    test('is made again when its time has come', async () => {
      await subscribe()
      stage.answers = () => (stage.received.length === 1 ? { statusCode: 500, error: null } : fine)
      await start()
      await happen()
      await until(async () => (await statuses())[0]?.[1] === 1)
      expect(await statuses()).toEqual([['pending', 1, 500]])
      await dueNow()
      await until(() => isOver(1))
      expect(await statuses()).toEqual([['succeeded', 2, 204]])
    })

    test('is the last one where the event is too old', async () => {
      await subscribe()
      stage.answers = () => ({ statusCode: null, error: 'timeout' })
      await start()
      await happen()
      await until(async () => (await statuses())[0]?.[1] === 1)
      await stage.database.query("update webhook_deliveries set expires_at = now() + interval '1 second'")
      await dueNow()
      await until(() => isOver(1))
      expect(await statuses()).toEqual([['failed', 2, 'timeout']])
    })

    test('with 410 makes the subscription inactive', async () => {
      const id = await subscribe()
      stage.answers = () => ({ statusCode: 410, error: null })
      await start()
      await happen()
      await until(
        async () =>
          (await stage.database.query('select from webhook_subscriptions where id = $1 and not active', [id]))
            .length === 1,
      )
    })
  })

  test('an endpoint that fails is left alone, and does not keep others waiting', async () => {
    const [dead, alive] = [await subscribe({ url: 'https://dead.example.com/' }), await subscribe()]
    stage.answers = ({ id }) => (id === dead ? { statusCode: null, error: 'timeout' } : fine)
    await start()
    for (let index = 0; index < 200; index += 1) await happen()
    await until(() => stage.received.filter(({ url }) => url.includes(alive)).length === 200)
    const tries = stage.received.filter(({ url }) => url.includes('dead')).length
    expect(tries).toBeLessThanOrEqual(48)
  })

  test('an endpoint that does not answer takes no place of another: all of the others are told before it says a word', async () => {
    const [silent, alive] = [await subscribe({ url: 'https://silent.example.com/' }), await subscribe()]
    const { promise: end, resolve: speak } = Promise.withResolvers<Sent>()
    stage.answers = ({ id }) => (id === silent ? end : fine)
    await start()
    for (let index = 0; index < 200; index += 1) await happen()
    try {
      await until(() => stage.received.filter(({ url }) => url.includes(alive)).length === 200)
      expect(stage.received.filter(({ url }) => url.includes('silent')).length).toBe(mostAtOnce)
    } finally {
      speak(fine)
    }
  })

  test('a subscription that is made inactive is sent nothing more, and what it was to be sent stays', async () => {
    const id = await subscribe()
    const stopped = Promise.withResolvers<void>()
    stage.answers = async () => {
      await stopped.promise
      await new Promise((resolve) => setTimeout(resolve, 500))
      return fine
    }
    await start()
    for (let index = 0; index < 200; index += 1) await happen()
    await until(async () => stage.received.length === mostAtOnce && (await isQueueEmpty()))
    await stage.database.query('update webhook_subscriptions set active = false where id = $1', [id])
    // It looks every second; all of them would take six more.
    await new Promise((resolve) => setTimeout(resolve, 2_000))
    stopped.resolve()
    await until(
      async () => (await statuses()).filter(([status]) => status === 'succeeded').length === stage.received.length,
    )
    const count = stage.received.length
    expect(count).toBeLessThan(200)
    await new Promise((resolve) => setTimeout(resolve, 500))
    expect(stage.received.length).toBe(count)
    expect((await statuses()).filter(([status]) => status === 'pending').length).toBe(200 - count)
  })

  test('what a dispatcher had taken when it died is sent by another, after the lease', async () => {
    await subscribe()
    await happen()
    const { taken } = await relay(stage.worker(), { limit: 10, now: new Date(), leaseMs: 60_000, wants: () => true })
    expect(taken.length).toBe(1)
    await start()
    await new Promise((resolve) => setTimeout(resolve, 300))
    expect(stage.received).toEqual([])
    await dueNow()
    await until(() => isOver(1))
    expect(stage.received.length).toBe(1)
  })

  test('what waits when a dispatcher stops is due for others at once, and what is on its way is waited for', async () => {
    await subscribe()
    const answered = Promise.withResolvers<void>()
    stage.answers = async () => {
      await answered.promise
      return fine
    }
    let arrived = 0
    const counted = (nats: Nats): Nats => ({
      ...nats,
      async *pull(...asked) {
        for await (const message of nats.pull(...asked)) {
          yield message
          arrived += 1
        }
      },
    })
    await stage.start({ natsUrl: nats()?.url, through: counted })
    for (let index = 0; index < 40; index += 1) await happen()
    // What is between NATS and a dispatcher that stops is due when its lease is over.
    await until(
      async () => stage.received.length === 16 && (await isQueueEmpty()) && (lane === 'rows' || arrived === 40),
    )
    const stopped = stage.stopAll()
    answered.resolve()
    await stopped
    const rows = await stage.database.query<{ status: string; isDue: boolean }>(
      `select status, next_attempt_at <= now() as "isDue" from webhook_deliveries`,
    )
    expect(rows.filter(({ status }) => status === 'succeeded').length).toBe(16)
    expect(rows.filter(({ isDue }) => isDue).length).toBe(24)
    expect(stage.received.length).toBe(16)
  })
})
