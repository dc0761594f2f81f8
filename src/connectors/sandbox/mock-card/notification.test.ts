import { expect, test } from 'vitest'
import type { ServiceAccess } from '../../payment.ts'
import { createMockCard } from './connector.ts'
import { signNotification } from './notification.ts'

const now = new Date('2030-05-05T12:00:00Z')
const refusing = { inTransaction: false, run: () => Promise.reject(new Error('no database is needed here')) }
const connector = createMockCard({ db: refusing, now: () => now, pageUrl: () => '', scenarios: async () => [] })
const secret = 'a secret of the service'
const service: ServiceAccess = {
  merchantAccountId: 'default',
  serviceId: 'a',
  fields: { merchant_id: 'any' },
  notificationUrl: null,
  secrets: () => Promise.resolve({ webhook_secret: secret }),
}
const body = Buffer.from(JSON.stringify({ id: 'message-1', reference: 'call-1' }))
const headers = signNotification({ secret, body, now })
const at = (ms: number) => signNotification({ secret, body, now: new Date(now.getTime() + ms) })
const open = (message: { headers?: Record<string, string>; body?: Buffer }, access = service) =>
  connector.notification(access, { headers, body, ...message })

test('a message that was signed with the secret of the service is told', async () => {
  expect(await open({})).toEqual({ id: 'message-1', reference: 'call-1', kind: 'operation' })
  expect(headers['x-sandbox-timestamp']).toBe('1904212800')
  expect(headers['x-sandbox-signature']).toMatch(/^[0-9a-f]{64}$/)
})

test('it may be five minutes old, or its sender five minutes ahead, and no more', async () => {
  for (const ms of [-300_000, 300_000]) expect(await open({ headers: at(ms) })).toBeDefined()
  for (const ms of [-301_000, 301_000]) expect(await open({ headers: at(ms) })).toBeUndefined()
})

test('a message that was changed, or signed otherwise, or not at all, says nothing', async () => {
  const { 'x-sandbox-signature': signature, ...unsigned } = headers
  const { 'x-sandbox-timestamp': timestamp, ...undated } = headers
  const flipped = signature.replace(/^./, (digit) => (digit === '0' ? '1' : '0'))
  for (const wrong of [
    { body: Buffer.from(body.toString().replace('call-1', 'call-2')) },
    { headers: { ...headers, 'x-sandbox-signature': flipped } },
    { headers: { ...headers, 'x-sandbox-signature': signature.slice(2) } },
    { headers: { ...headers, 'x-sandbox-timestamp': String(Number(timestamp) + 1) } },
    { headers: unsigned },
    { headers: undated },
    { headers: {} },
    { headers: signNotification({ secret: 'another', body, now }) },
  ]) {
    expect(await open(wrong)).toBeUndefined()
  }
})

test('without a secret nothing is believed, not even what was signed with an empty one', async () => {
  for (const secrets of [{}, { webhook_secret: '' }]) {
    const access: ServiceAccess = { ...service, secrets: () => Promise.resolve(secrets) }
    expect(await open({ headers: signNotification({ secret: '', body, now }) }, access)).toBeUndefined()
  }
})

test.each(['', 'no JSON', 'null', '[]', '{"id":"a"}', '{"id":1,"reference":"b"}'])(
  'a body that is %j says nothing',
  async (text) => {
    const odd = Buffer.from(text)
    expect(await open({ body: odd, headers: signNotification({ secret, body: odd, now }) })).toBeUndefined()
  },
)

test('any merchant id is good, but the one that is called invalid', async () => {
  expect(await connector.verify(service)).toEqual({ valid: true })
  expect(await connector.verify({ ...service, fields: { merchant_id: 'invalid' } })).toMatchObject({
    valid: false,
    errorCode: 'invalid_service_credentials',
  })
})
