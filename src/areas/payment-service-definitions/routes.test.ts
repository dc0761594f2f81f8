import { expect, test } from 'vitest'
import { useApi } from '../../../test/api.ts'
import { createMockCard } from '../../connectors/sandbox/mock-card/connector.ts'
import type { Connectors } from '../../connectors/payment.ts'
import type { PageRequest, Position } from '../../page.ts'
import { createConnectors } from '../../connectors/registry.ts'
import type { Db } from '../../platform/postgres.ts'
import type { Collection } from '../../schema.ts'
import { listPaymentServiceDefinitions } from './operations.ts'
import type { PaymentServiceDefinition } from './schema.ts'

const api = useApi()

test('the sandbox has its card processor, in the list and by its id', async () => {
  const { body } = await api.request<Collection<PaymentServiceDefinition>>('GET', '/payment-service-definitions')
  expect([body.limit, body.next_cursor, body.previous_cursor]).toEqual([20, null, null])
  const mockCard = body.items.find(({ id }) => id === 'mock-card')
  expect(mockCard).toMatchObject({
    type: 'payment-service-definition',
    display_name: 'Sandbox card processor',
    method: 'card',
    mode: 'card',
    icon_url: null,
    required_checkout_fields: [],
    supported_integration_clients: ['redirect'],
  })
  expect(mockCard?.fields.map(({ key, required, secret }) => [key, required, secret])).toEqual([
    ['merchant_id', true, false],
    ['webhook_secret', false, true],
  ])
  expect(mockCard?.supported_currencies).toContain('EUR')
  expect(mockCard?.supported_countries).toContain('DE')
  expect(mockCard?.supported_features).toMatchObject({ refunds: true, verify_credentials: true, open_loop: false })
  const one = await api.request('GET', '/payment-service-definitions/mock-card')
  expect([one.status, one.body]).toEqual([200, mockCard])
})

test('an unknown id is 404, also one that objects have by themselves', async () => {
  for (const id of ['mock-cards', 'MOCK-CARD', 'constructor', '__proto__', 'x'.repeat(200)]) {
    expect((await api.request('GET', `/payment-service-definitions/${id}`)).status).toBe(404)
  }
})

const unused = {} as Db
const now = () => new Date()

test('the sandbox has no place in production', () => {
  expect(createConnectors({ environment: 'production', db: unused, now }).size).toBe(0)
})

test('a walk in pages of any size sees each definition once, the one that joined last first, and back', () => {
  const names = ['a', 'b', 'c', 'd', 'e', 'f', 'g']
  const connectors: Connectors = new Map(
    names.map((id) => {
      const connector = createMockCard({ db: unused, now, pageUrl: () => '', scenarios: async () => [] })
      return [id, { ...connector, definition: { ...connector.definition, id } }]
    }),
  )
  const read = (cursor: string | null, limit: number) => {
    const position = cursor === null ? undefined : (JSON.parse(cursor) as Position)
    const page: PageRequest = { limit, position, seal: (at) => JSON.stringify(at) }
    return listPaymentServiceDefinitions({ connectors }, page)
  }
  for (const limit of [1, 2, 3, 6, 7, 8]) {
    const pages = [read(null, limit)]
    for (let next = pages[0]?.next_cursor; next; next = pages.at(-1)?.next_cursor) pages.push(read(next, limit))
    expect(pages.flatMap(({ items }) => items.map(({ id }) => id))).toEqual(names.toReversed())
    const back = [pages.at(-1)]
    for (let to = back[0]?.previous_cursor; to; to = back[0]?.previous_cursor) back.unshift(read(to, limit))
    expect(back.flatMap((page) => page?.items.map(({ id }) => id) ?? [])).toEqual(names.toReversed())
  }
})
