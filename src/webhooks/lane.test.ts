import { describe, expect, test } from 'vitest'
import { fine, until, useDispatchers } from '../../test/dispatchers.ts'
import { useNats } from '../../test/nats.ts'
import { insertDelivery } from '../../test/webhooks.ts'
import { newId } from '../ids.ts'
import { createLog } from '../platform/log.ts'
import { connectNats, type Message, type Nats } from '../platform/nats.ts'
import { mostAtOnce, mostWaiting } from './endpoint.ts'
import { laneStreams } from './lane.ts'

/* What is special about first attempts that go through NATS. dispatcher.test.ts has what holds with and without. */

const cluster = useNats()
const stage = useDispatchers()
const { subscribe, happen, statuses, isOver, dueNow } = stage
const start = (through?: (nats: Nats) => Nats) => stage.start({ natsUrl: cluster().url, ...(through && { through }) })

async function withNats<Result>(work: (nats: Nats) => Promise<Result>): Promise<Result> {
  const log = createLog({ level: 'silent', process: 'test' })
  const nats = connectNats({ url: cluster().url, setting: 'NATS_URL', name: 'test', log })
  try {
    await until(nats.isConnected)
    return await work(nats)
  } finally {
    await nats.close()
  }
}

const isLaneEmpty = () =>
  withNats(async (nats) => {
    const counts = await Promise.all(laneStreams.map(({ name }) => nats.count(name)))
    return counts.every((count) => count === 0)
  })

/** Shows every message that comes out to `see`, which may put another in its place. */
const seeing =
  (see: (message: Message) => Message) =>
  (nats: Nats): Nats => ({
    ...nats,
    async *pull(...args) {
      for await (const message of nats.pull(...args)) yield see(message)
    },
  })

/** Puts in, and takes nothing out. */
const deaf = (nats: Nats): Nats => ({
  ...nats,
  pull: () => ({
    [Symbol.asyncIterator]: () => ({
      next: () => new Promise((resolve) => setTimeout(resolve, 50, { done: true, value: undefined })),
    }),
  }),
})

test('a first attempt goes through NATS, is written down, and leaves nothing there', async () => {
  await subscribe()
  await start()
  for (let index = 0; index < 20; index += 1) await happen()
  await until(() => isOver(20))
  expect(stage.received.length).toBe(20)
  expect(await statuses()).toEqual(Array.from({ length: 20 }, () => ['succeeded', 1, 204]))
  expect(stage.lane).toEqual({ published: 20, given_back: 0, dropped: 0, reconciled: 0 })
  await until(isLaneEmpty)
})

describe('a delivery that cannot be put in', () => {
  test('is given back at once and sent from its row', async () => {
    await subscribe()
    await start((nats) => ({ ...nats, publish: () => Promise.reject(new Error('no answer')) }))
    await happen()
    await until(() => isOver(1))
    expect(stage.received.length).toBe(1)
    expect(stage.lane).toMatchObject({ published: 0, given_back: 1, reconciled: 1 })
  })

  test('or that is there though nobody said so, is sent', async () => {
    await subscribe()
    await start((nats) => ({
      ...nats,
      async publish(...args) {
        await nats.publish(...args)
        throw new Error('the answer is lost')
      },
    }))
    await happen()
    await until(() => isOver(1))
    await until(isLaneEmpty)
    expect(await statuses()).toEqual([['succeeded', 1, 204]])
  })
})

test('a result is in the database before its message is acknowledged', async () => {
  await subscribe()
  const acknowledged: string[] = []
  await start(
    seeing((message) => ({
      ...message,
      acknowledge() {
        acknowledged.push(message.text)
        message.acknowledge()
      },
    })),
  )
  const lock = await stage.lockResults()
  try {
    await happen()
    await until(async () => stage.received.length === 1 && (await lock.hasWaiting()))
    expect(acknowledged).toEqual([])
    expect(await isLaneEmpty()).toBe(false)
  } finally {
    await lock.release()
  }
  await until(() => isOver(1))
  await until(() => acknowledged.length === 1)
  await until(isLaneEmpty)
})

test('a message whose lease is over, or nearly so, is not sent', async () => {
  const subscriptionId = await subscribe()
  const id = await insertDelivery(stage.database, { subscriptionId, nextAttemptInMs: 3_600_000 })
  await start()
  const event = {
    id: newId(),
    merchant_account_id: 'default',
    name: 'buyer.created',
    target: {},
    created_at: new Date(),
  }
  const text = (leaseUntil: number) =>
    JSON.stringify({
      merchant_account_id: 'default',
      id,
      subscription_id: subscriptionId,
      attempts: 0,
      expires_at: new Date(Date.now() + 3_600_000),
      event,
      leaseUntil,
    })
  await withNats(async (nats) => {
    for (const leaseUntil of [Date.now() - 1, Date.now() + 4_000]) {
      await nats.publish('florin.lane.0', text(leaseUntil), { id: newId(), timeoutMs: 30_000 })
    }
  })
  await until(() => stage.lane.dropped === 2)
  await until(isLaneEmpty)
  expect(stage.received).toEqual([])
  expect(await statuses()).toEqual([['pending', 0, null]])
})

test('what another version has put in is left to its row', async () => {
  await start()
  await withNats((nats) => nats.publish('florin.lane.1', 'not ours', { id: newId(), timeoutMs: 30_000 }))
  await until(isLaneEmpty)
})

test('an endpoint that is crowded or left alone has its deliveries parked in rows, and the lane stays empty', async () => {
  await subscribe()
  const answered = Promise.withResolvers<void>()
  stage.answers = async () => {
    await answered.promise
    return { statusCode: null, error: 'timeout' }
  }
  await start()
  for (let index = 0; index < 300; index += 1) await happen()
  // Crowded: no more are taken than can be sent and may wait.
  await until(async () => (await stage.isQueueEmpty()) && stage.lane.published > 0)
  const parked = () =>
    stage.database.query(
      "select from webhook_deliveries where status = 'pending' and attempts = 0 and next_attempt_at <= now()",
    )
  try {
    await until(async () => (await parked()).length === 300 - mostAtOnce - mostWaiting)
  } finally {
    // Left alone: those that waited are parked, too.
    answered.resolve()
  }
  await until(async () => (await parked()).length + stage.received.length === 300)
  await until(isLaneEmpty)
  expect(stage.received.length).toBeLessThanOrEqual(48)
})

test('a message that comes again while it is in hand is not sent twice', async () => {
  await subscribe()
  const answered = Promise.withResolvers<void>()
  stage.answers = async () => {
    await answered.promise
    return fine
  }
  const messages: Message[] = []
  await start(
    seeing((message) => {
      messages.push(message)
      return message
    }),
  )
  await happen()
  await until(() => stage.received.length === 1)
  messages[0]?.giveBack()
  await until(() => messages.length === 2)
  answered.resolve()
  await until(() => isOver(1))
  expect(stage.received.length).toBe(1)
})

test('workers with and without the lane work side by side, and send everything once', async () => {
  await subscribe()
  await Promise.all([start(), stage.start(), start()])
  for (let index = 0; index < 300; index += 1) await happen()
  await until(() => isOver(300))
  expect(stage.received.length).toBe(300)
})

test('what is in the lane when it is switched off is sent from its row, after the lease', async () => {
  await subscribe()
  await start(deaf)
  for (let index = 0; index < 10; index += 1) await happen()
  await until(() => stage.lane.published === 10)
  await stage.stopAll()
  await stage.start()
  expect(stage.received).toEqual([])
  await dueNow()
  await until(() => isOver(10))
  expect(stage.received.length).toBe(10)
})

test('a worker that starts without NATS sends all the same, and through NATS when that is there', async () => {
  await subscribe()
  const nodes = [0, 1, 2]
  await Promise.all(nodes.map(cluster().kill))
  const dispatcher = stage.begin({ natsUrl: cluster().url })
  await happen()
  await until(() => isOver(1))
  expect(stage.lane.published).toBe(0)
  for (const index of nodes) await cluster().wipe(index)
  await Promise.all(nodes.map(cluster().start))
  await until(dispatcher.isLaneOpen)
  await happen()
  await until(() => isOver(2))
  expect(stage.lane.published).toBe(1)
})
