import { createHmac } from 'node:crypto'
import { createServer, type IncomingHttpHeaders, type Server } from 'node:http'
import type { AddressInfo } from 'node:net'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { startWorker, type Worker } from '../src/main/worker.ts'
import { Secret } from '../src/platform/secret.ts'
import { useApi } from './api.ts'

/* From a request to the API to the merchant's endpoint, through the worker as it is. */

const api = useApi({ webhookLoopback: true })
let worker: Worker
let receiver: Server
let url = ''
let received: { headers: IncomingHttpHeaders; body: string }[] = []

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
  worker = await startWorker({
    environment: 'sandbox',
    instance: 'local',
    databaseUrl: new Secret(api.database.url('florin_worker')),
    databaseDirectUrl: undefined,
    databasePoolSize: 5,
    privateHost: '127.0.0.1',
    privatePort: 0,
    headerPrefix: 'X-Service-',
    webhookLoopback: true,
    logLevel: 'silent',
    drainDelayMs: 0,
    shutdownTimeoutMs: 10_000,
    vaultUrl: api.vault.url(),
    vaultTlsCa: undefined,
    vaultTlsCert: undefined,
    vaultTlsKey: undefined,
    auditRetentionMonths: 13,
    eventRetentionMonths: 13,
    deliveryRetentionMonths: 2,
  })
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

const hex = (secret: string, text: string) => createHmac('sha256', secret).update(text).digest('hex')
const base64 = (secret: string, text: string) =>
  createHmac('sha256', Buffer.from(secret.slice(6), 'base64'))
    .update(text)
    .digest('base64')

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
  const [{ headers, body }] = received as [(typeof received)[0]]
  expect(JSON.parse(body)).toMatchObject({
    type: 'event',
    name: 'buyer.created',
    merchant_account_id: 'default',
    instance_id: 'local',
    environment: 'sandbox',
    target: { type: 'buyer', id: buyer.body.id, display_name: 'Ada' },
  })
  const { 'webhook-id': id, 'webhook-timestamp': timestamp } = headers
  expect(headers['authorization']).toBe(`Basic ${Buffer.from('florin:pass').toString('base64')}`)
  expect(headers['x-service-webhook-signatures']).toBe(hex(subscription.secret, `${String(timestamp)}.${body}`))
  expect(headers['webhook-signature']).toBe(
    `v1,${base64(subscription.secret, `${String(id)}.${String(timestamp)}.${body}`)}`,
  )

  const path = `/webhook-subscriptions/${subscription.id}`
  const { body: rotated } = await api.request<{ secret: string; rotating: boolean }>('POST', `${path}/rotate-secret`, {
    body: { delta: 60 },
  })
  expect(rotated.rotating).toBe(true)
  await new Promise((resolve) => setTimeout(resolve, 5_000))
  received = []
  await api.request('PUT', `/buyers/${buyer.body.id}`, { body: { display_name: 'Ada L.' } })
  await until(() => received.length === 1)
  const [again] = received as [(typeof received)[0]]
  const at = String(again.headers['webhook-timestamp'])
  expect(String(again.headers['x-service-webhook-signatures']).split(',')).toEqual(
    [rotated.secret, subscription.secret].map((secret) => hex(secret, `${at}.${again.body}`)),
  )

  await api.request('PUT', path, { body: { active: false } })
  await new Promise((resolve) => setTimeout(resolve, 5_000))
  received = []
  await api.request('PUT', `/buyers/${buyer.body.id}`, { body: { display_name: 'Ada King' } })
  await new Promise((resolve) => setTimeout(resolve, 1_000))
  expect(received).toEqual([])
})
