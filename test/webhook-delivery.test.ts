import { createServer, type IncomingHttpHeaders, type Server } from 'node:http'
import type { AddressInfo } from 'node:net'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { newId } from '../src/ids.ts'
import { startWorker, type Worker } from '../src/main/worker.ts'
import { Secret } from '../src/platform/secret.ts'
import { useApi } from './api.ts'
import { lanes, useLane } from './nats.ts'
import { workerConfig } from './worker.ts'
import { acceptsHexForm, acceptsStandardForm } from './webhook-kills/verify.ts'

/* From a request to the API to the merchant's endpoint, through the worker as it is. */

interface Received {
  headers: IncomingHttpHeaders
  body: string
}

describe.each(lanes)('with first attempts through %s', (lane) => {
  const nats = useLane(lane)
  const api = useApi({ webhookLoopback: true })
  let worker: Worker
  let receiver: Server
  let url = ''
  let received: Received[] = []

  beforeAll(async () => {
    receiver = createServer((request, response) => {
      let body = ''
      request.on('data', (chunk: Buffer) => (body += chunk.toString()))
      request.on('end', () => {
        received.push({ headers: request.headers, body })
        response.writeHead(204).end()
      })
    })
    await new Promise<void>((resolve) => receiver.listen(0, '127.0.0.1', resolve))
    url = `http://127.0.0.1:${(receiver.address() as AddressInfo).port}/hooks`
    const servers = nats()
    worker = await startWorker(workerConfig(api, { natsUrl: servers && new Secret(servers.url) }))
  })
  afterAll(async () => {
    await worker.close()
    receiver.closeAllConnections()
    await new Promise((resolve) => receiver.close(resolve))
  })

  async function until(isSo: () => boolean): Promise<void> {
    const end = Date.now() + 30_000
    while (!isSo()) {
      if (Date.now() > end) throw new Error('it did not happen')
      await new Promise((resolve) => setTimeout(resolve, 20))
    }
  }

  /** By somebody who knows this secret, in both ways. */
  const isAccepted = (secret: string, { headers, body }: Received) =>
    acceptsHexForm(secret, headers, body) && acceptsStandardForm(secret, headers, body)

  test('a change is told to the endpoint, signed in both ways, by the old and the new secret while they are rotated', async () => {
    const { status, body: subscription } = await api.request<{ id: string; secret: string }>(
      'POST',
      '/webhook-subscriptions',
      {
        body: { url, authentication: { kind: 'basic', username: 'florin', password: 'pass' } },
      },
    )
    expect(status).toBe(201)
    const buyer = await api.request<{ id: string }>('POST', '/buyers', { body: { display_name: 'Ada' } })
    await until(() => received.length === 1)
    const [first] = received as [Received]
    const { headers, body } = first
    expect(JSON.parse(body)).toMatchObject({
      type: 'event',
      name: 'buyer.created',
      merchant_account_id: 'default',
      instance_id: 'local',
      environment: 'sandbox',
      target: { type: 'buyer', id: buyer.body.id, display_name: 'Ada' },
    })
    expect(headers['authorization']).toBe(`Basic ${Buffer.from('florin:pass').toString('base64')}`)
    expect(isAccepted(subscription.secret, first)).toBe(true)

    const path = `/webhook-subscriptions/${subscription.id}`
    const { body: rotated } = await api.request<{ secret: string; rotating: boolean }>(
      'POST',
      `${path}/rotate-secret`,
      {
        body: { delta: 60 },
      },
    )
    expect(rotated.rotating).toBe(true)
    const change = async () => {
      received = []
      await api.request('PUT', `/buyers/${buyer.body.id}`, { body: { display_name: newId() } })
    }
    // Until the worker has heard of it; who knows the old one is convinced all the time.
    for (let isHeard = false; !isHeard; ) {
      await change()
      await until(() => received.length === 1)
      const [again] = received as [Received]
      expect(isAccepted(subscription.secret, again)).toBe(true)
      isHeard = isAccepted(rotated.secret, again)
    }

    await api.request('PUT', path, { body: { active: false } })
    do {
      await change()
      await new Promise((resolve) => setTimeout(resolve, 1_000))
    } while (received.length > 0)
    const deliveries = await api.request<{ items: unknown[] }>(
      'GET',
      `/webhook-deliveries?subscription_id=${subscription.id}&undelivered=true`,
    )
    expect(deliveries.body.items).toEqual([])
  })
})
