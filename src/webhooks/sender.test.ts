import * as fc from 'fast-check'
import { expect, test } from 'vitest'
import { acceptsHexForm, acceptsStandardForm } from '../../test/webhook-kills/verify.ts'
import { newId } from '../ids.ts'
import { createAuthentication } from './authentication.ts'
import type { Outbound, OutboundRequest } from './outbound.ts'
import { createSender } from './sender.ts'
import type { EndpointRow } from './store.ts'

/* Signatures as receivers see them, who may know the old secret or the new one. */

const secrets: Record<string, string> = {
  old: 'whsec_b2xkIG9sZCBvbGQgb2xkIG9sZCBvbGQ=',
  new: 'whsec_bmV3IG5ldyBuZXcgbmV3IG5ldyBuZXc=',
}
const hour = 3_600_000

function useSender() {
  const sent: OutboundRequest[] = []
  const outbound: Outbound = {
    post: async (request) => {
      sent.push(request)
      return { status: 204, headers: {}, body: Buffer.alloc(0) }
    },
    close: () => undefined,
  }
  const now = () => new Date()
  const send = createSender({
    outbound,
    secretsOf: async ({ secret_name, previous_secret_name, rotating_until }) => {
      const isRotating = rotating_until !== null && rotating_until > now()
      const names = [secret_name, isRotating ? previous_secret_name : null]
      return { signing: names.flatMap((name) => secrets[name ?? ''] ?? []), password: null, clientSecret: null }
    },
    authentication: createAuthentication({ outbound, now }),
    source: { instance: 'test', environment: 'sandbox' },
    prefix: 'X-Service-',
    now,
  })
  /** Who takes the event: receivers that know one secret each. */
  const tell = async (endpoint: EndpointRow, target: unknown = {}) => {
    const event = { id: newId(), merchant_account_id: 'default', name: 'buyer.created', target, created_at: now() }
    expect(await send(endpoint, event)).toMatchObject({ statusCode: 204 })
    const { headers = {}, body = '' } = sent.at(-1) ?? {}
    const asReceived = Object.fromEntries(Object.entries(headers).map(([name, value]) => [name.toLowerCase(), value]))
    return Object.entries(secrets).flatMap(([name, secret]) => {
      const forms = [acceptsHexForm, acceptsStandardForm].map((accepts) => accepts(secret, asReceived, String(body)))
      return forms.every(Boolean) ? [name] : forms.some(Boolean) ? [`${name}, in one form only`] : []
    })
  }
  return { tell }
}

const subscription: EndpointRow = {
  merchant_account_id: 'default',
  id: newId(),
  url: 'https://shop.example.com/webhooks',
  authentication: null,
  secret_name: 'old',
  previous_secret_name: null,
  rotating_until: null,
  version: 1,
}
const rotatingUntil = (rotating_until: Date): EndpointRow => ({
  ...subscription,
  secret_name: 'new',
  previous_secret_name: 'old',
  rotating_until,
  version: 2,
})

test('a rotation: the old secret, then the old and the new, then the new, for receivers that know one of them', async () => {
  const { tell } = useSender()
  expect(await tell(subscription)).toEqual(['old'])
  const rotating = rotatingUntil(new Date(Date.now() + hour))
  expect(await tell(rotating)).toEqual(['old', 'new'])
  expect(await tell(rotating)).toEqual(['old', 'new'])
  expect(await tell({ ...rotatingUntil(new Date(Date.now() - 1)), version: 3 })).toEqual(['new'])
})

test('the old secret signs no longer than the rotation, though nobody has changed the subscription since', async () => {
  const { tell } = useSender()
  const end = new Date(Date.now() + 300)
  const rotating = rotatingUntil(end)
  await tell(rotating)
  while (new Date() <= end) await new Promise((resolve) => setTimeout(resolve, 20))
  expect(await tell(rotating)).toEqual(['new'])
})

test('whatever an event says, receivers accept it in both forms with either secret', async () => {
  const { tell } = useSender()
  const rotating = rotatingUntil(new Date(Date.now() + hour))
  await fc.assert(
    fc.asyncProperty(fc.jsonValue({ stringUnit: 'binary' }), async (target) => {
      expect(await tell(rotating, target)).toEqual(['old', 'new'])
    }),
    { numRuns: 300 },
  )
})
