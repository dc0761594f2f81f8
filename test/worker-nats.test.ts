import { createServer, type Server } from 'node:http'
import type { AddressInfo } from 'node:net'
import { afterAll, afterEach, beforeAll, expect, test } from 'vitest'
import { startWorker, type Worker } from '../src/main/worker.ts'
import { Secret } from '../src/platform/secret.ts'
import { useApi } from './api.ts'
import { workerConfig } from './worker.ts'
import { until } from './event-stream.ts'
import { useNats } from './nats.ts'

/* What a worker with NATS says of itself, while NATS is there and while it is not. */

const api = useApi({ webhookLoopback: true })
const cluster = useNats()
const patience = { timeout: 240_000 }
const all = [0, 1, 2]
let worker: Worker | undefined
let receiver: Server
let received = 0

beforeAll(async () => {
  receiver = createServer((request, response) => {
    received += 1
    request.resume()
    response.writeHead(204).end()
  })
  await new Promise<void>((resolve) => receiver.listen(0, '127.0.0.1', resolve))
})
afterAll(async () => {
  receiver.closeAllConnections()
  await new Promise((resolve) => receiver.close(resolve))
})
afterEach(async () => {
  await worker?.close()
  worker = undefined
})

async function start(): Promise<Worker> {
  worker = await startWorker(
    workerConfig(api, {
      natsUrl: new Secret(cluster().url),
      eventStreamUrl: new Secret(cluster().eventsUrl),
    }),
  )
  return worker
}

const happen = async () =>
  expect((await api.request('POST', '/buyers', { body: { display_name: 'Ada' } })).status).toBe(201)

/** All that happened, also while this test was prepared. */
const events = async () => (await api.database.query('select from events')).length

/** Those of NATS, by name and labels. */
async function metrics({ privateUrl }: Worker): Promise<Record<string, number>> {
  const text = await (await fetch(`${privateUrl}/metrics`)).text()
  const found = [...text.matchAll(/^(florin_(?:webhook_lane|event_stream)\S*) (\S+)$/gm)]
  return Object.fromEntries(found.map(([, name = '', value]) => [name, Number(value)]))
}

test('a worker is ready and delivers with and without NATS, and its metrics say which it is', patience, async () => {
  const url = `http://127.0.0.1:${(receiver.address() as AddressInfo).port}/`
  expect((await api.request('POST', '/webhook-subscriptions', { body: { url } })).status).toBe(201)
  await Promise.all(all.map((index) => cluster().kill(index)))
  const running = await start()
  expect((await fetch(`${running.privateUrl}/readyz`)).status).toBe(200)
  await happen()
  await until(
    async () => received === 1 && (await metrics(running))['florin_event_stream_waiting'] === (await events()),
  )
  const without = await metrics(running)
  expect(without).toMatchObject({ florin_webhook_lane_open: 0, florin_event_stream_connected: 0 })
  expect(without['florin_event_stream_oldest_seconds']).toBeGreaterThan(0)
  expect(Object.keys(without).filter((name) => name.startsWith('florin_webhook_lane_pending'))).toEqual([])

  await Promise.all(all.map((index) => cluster().start(index)))
  await until(async () => (await metrics(running))['florin_webhook_lane_open'] === 1)
  await happen()
  await until(() => received === 2)
  const published = 'florin_webhook_lane_deliveries_total{outcome="published"}'
  await until(async () => (await metrics(running))['florin_event_stream_published_total'] === (await events()))
  expect(await metrics(running)).toMatchObject({
    [published]: 1,
    florin_event_stream_connected: 1,
    florin_event_stream_waiting: 0,
    florin_event_stream_oldest_seconds: 0,
  })
  await until(async () => (await metrics(running))['florin_webhook_lane_pending{stream="FLORIN_LANE_0"}'] === 0)

  await Promise.all(all.map((index) => cluster().kill(index)))
  await until(async () => (await metrics(running))['florin_webhook_lane_open'] === 0)
  expect((await fetch(`${running.privateUrl}/readyz`)).status).toBe(200)
  await happen()
  await until(() => received === 3)
})
