import { verifyWebhook, WebhookVerificationError, type WebhookRequest } from '@florin/sdk'
import fc from 'fast-check'
import { expect, test } from 'vitest'
import { signatureHeaders } from '../../../src/webhooks/sign.ts'

/* What Florin itself signs, and every way to change it. */

const secret = `whsec_${Buffer.alloc(32, 1).toString('base64')}`
const other = `whsec_${Buffer.alloc(32, 2).toString('base64')}`
const event = { type: 'event', id: '0192f4a6-7e0c-7c33-b1de-3f1a2b4c5d6e', name: 'buyer.created', target: { id: 'ä' } }
const text = JSON.stringify(event)

const sign = ({ body = text, secrets = [secret], now = new Date() } = {}) =>
  signatureHeaders({ prefix: 'X-Service-', id: event.id, now, body, secrets })

const refused = (request: WebhookRequest, message: string | RegExp = '') =>
  expect(verifyWebhook(request)).rejects.toSatisfy(
    (error: Error) => error instanceof WebhookVerificationError && new RegExp(message).test(error.message),
  )

test('what Florin signs is accepted, as text or bytes, with any kind of headers', async () => {
  const headers = sign()
  for (const given of [headers, new Headers(headers), { 'Webhook-Id': event.id, ...headers }]) {
    expect(await verifyWebhook({ body: text, headers: given, secret })).toEqual(event)
  }
  expect(await verifyWebhook({ body: new TextEncoder().encode(text), headers, secret })).toEqual(event)
})

test('while a secret is changed, either end may be ahead', async () => {
  const both = sign({ secrets: [other, secret] })
  expect(await verifyWebhook({ body: text, headers: both, secret })).toEqual(event)
  expect(await verifyWebhook({ body: text, headers: sign(), secret: [other, secret] })).toEqual(event)
  await refused({ body: text, headers: sign(), secret: other }, 'No signature fits')
})

test('any body is verified as it is', async () => {
  await fc.assert(
    fc.asyncProperty(fc.json(), async (body) => {
      expect(await verifyWebhook({ body, headers: sign({ body }), secret })).toEqual(JSON.parse(body))
    }),
    { numRuns: 100 },
  )
})

test('a change of any one character of body, id, time or signature is refused', async () => {
  const headers: Record<string, string> = sign()
  const parts = ['body', 'webhook-id', 'webhook-timestamp', 'webhook-signature'] as const
  const change = fc.record({ part: fc.constantFrom(...parts), at: fc.nat(), by: fc.integer({ min: 1, max: 93 }) })
  await fc.assert(
    fc.asyncProperty(change, async ({ part, at, by }) => {
      const whole = part === 'body' ? text : (headers[part] ?? '')
      const index = at % whole.length
      const code = 33 + ((whole.charCodeAt(index) - 33 + by) % 94)
      const changed = whole.slice(0, index) + String.fromCharCode(code) + whole.slice(index + 1)
      fc.pre(changed !== whole && !isSameSignature(part, whole, changed))
      const body = part === 'body' ? changed : text
      await refused({ body, headers: { ...headers, [part]: changed }, secret })
    }),
    { numRuns: 1_000 },
  )
})

/** The last character before the padding has bits that stand for nothing. */
const isSameSignature = (part: string, left: string, right: string) =>
  part === 'webhook-signature' &&
  Buffer.from(left.slice(3), 'base64').equals(Buffer.from(right.slice(3), 'base64')) &&
  right.startsWith('v1,')

test('what is older than five minutes, or from the future, is refused', async () => {
  const at = (seconds: number) => ({
    body: text,
    headers: sign({ now: new Date(Date.now() + seconds * 1_000) }),
    secret,
  })
  await refused(at(-400), 'Look at this machine')
  await refused(at(400), 'Look at this machine')
  expect(await verifyWebhook(at(-200))).toEqual(event)
  expect(await verifyWebhook({ ...at(-400), toleranceSeconds: 1_000 })).toEqual(event)
})

test.each(['webhook-id', 'webhook-timestamp', 'webhook-signature'])('without %s it is refused', async (name) => {
  await refused({ body: text, headers: { ...sign(), [name]: undefined }, secret }, `The header ${name} is missing`)
})

test('a parsed body, and what is no secret, are mistakes of the one who calls', async () => {
  const parsed = event as unknown as string
  await expect(verifyWebhook({ body: parsed, headers: sign(), secret })).rejects.toThrow('not parsed')
  await expect(verifyWebhook({ body: text, headers: sign(), secret: 'secret' })).rejects.toThrow('whsec_')
})
