import { afterEach, expect, test } from 'vitest'
import { useNats } from '../../test/nats.ts'
import { createLog } from './log.ts'
import { connectNats, type Message, type Nats } from './nats.ts'

const cluster = useNats()
let open: Nats[] = []
afterEach(async () => {
  await Promise.all(open.map((nats) => nats.close()))
  open = []
})

function start(): Nats {
  const nats = connectNats({
    url: cluster().url,
    setting: 'NATS_URL',
    name: 'test',
    log: createLog({ level: 'silent', process: 'test' }),
  })
  open.push(nats)
  return nats
}

async function until(isSo: () => boolean | Promise<boolean>): Promise<void> {
  const end = Date.now() + 120_000
  while (!(await isSo())) {
    if (Date.now() > end) throw new Error('it did not happen')
    await new Promise((resolve) => setTimeout(resolve, 20))
  }
}

const stream = { name: 'TEST', subjects: ['test.*'], num_replicas: 3 }

/** Servers that elect a leader refuse what they are asked. */
async function insist<Result>(call: () => Promise<Result>): Promise<Result> {
  let result: { value: Result } | undefined
  await until(async () => {
    result = await call().then(
      (value) => ({ value }),
      () => undefined,
    )
    return result !== undefined
  })
  return (result as { value: Result }).value
}

async function pullAll(nats: Nats, most: number): Promise<Message[]> {
  const messages: Message[] = []
  for await (const message of nats.pull('TEST', 'reader', {
    most,
    forMs: 1_000,
    signal: new AbortController().signal,
  })) {
    messages.push(message)
  }
  return messages
}

test('what was published is pulled once, and the same id is stored once', async () => {
  const nats = start()
  await until(nats.isConnected)
  await insist(() => nats.ensureStream(stream))
  await insist(() => nats.ensureStream(stream))
  await insist(() => nats.ensureConsumer('TEST', { durable_name: 'reader', ack_policy: 'explicit' }))
  for (const id of ['1', '2', '2']) await insist(() => nats.publish('test.a', `text ${id}`, { id, timeoutMs: 5_000 }))
  const messages = await pullAll(nats, 3)
  expect(messages.map(({ text }) => text)).toEqual(['text 1', 'text 2'])
  for (const message of messages) message.acknowledge()
  expect(await pullAll(nats, 3)).toEqual([])
})

test('a connection outlives every node that is killed, and all of them with what they stored', async () => {
  const nats = start()
  await until(nats.isConnected)
  for (const index of [0, 1, 2]) {
    await cluster().kill(index)
    await cluster().start(index)
    await cluster().ready()
  }
  await insist(() => nats.ensureStream(stream))
  await Promise.all([0, 1, 2].map((index) => cluster().kill(index)))
  await until(() => !nats.isConnected())
  await expect(nats.publish('test.a', 'text', { id: '3', timeoutMs: 1_000 })).rejects.toThrow('not connected')
  for (const index of [0, 1, 2]) await cluster().wipe(index)
  await Promise.all([0, 1, 2].map((index) => cluster().start(index)))
  await cluster().ready()
  await until(nats.isConnected)
  await insist(() => nats.ensureStream(stream))
  await insist(() => nats.publish('test.a', 'text', { id: '3', timeoutMs: 5_000 }))
  expect(await nats.count('TEST')).toBe(1)
})
