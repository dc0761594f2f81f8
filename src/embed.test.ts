import fc from 'fast-check'
import { expect, test } from 'vitest'
import { buyerPlaces, differences, isPins, namedBuyers, type Pins, speaksFor } from './embed.ts'

const id = '0192f4a6-7e0c-7c33-b1de-3f1a2b4c5d6e'
const values = {
  amount: fc.integer({ min: 0, max: 99_999_999 }),
  currency: fc.constantFrom('EUR', 'USD', 'JPY'),
  metadata: fc.dictionary(fc.string({ minLength: 1 }), fc.string(), { maxKeys: 4 }),
  cart_items: fc.array(fc.record({ name: fc.string(), quantity: fc.nat(9), unit_amount: fc.nat(999) }), {
    maxLength: 3,
  }),
  connection_options: fc.dictionary(fc.constantFrom('mock-card', 'other'), fc.dictionary(fc.string(), fc.jsonValue())),
}
const known = new Set(Object.keys(values))
/** As it comes over the wire. */
const some = fc
  .record(values, { requiredKeys: [] })
  .map((value) => JSON.parse(JSON.stringify(value)) as Pick<Pins, keyof typeof values>)

/** With the members of every object in another order. */
function reordered(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(reordered)
  if (typeof value !== 'object' || value === null) return value
  const members = Object.entries(value).reverse()
  return Object.fromEntries(members.map(([name, member]) => [name, reordered(member)]))
}

test('a request with the pinned values differs nowhere, whatever the order of their members and whatever else it says', () => {
  fc.assert(
    fc.property(some, fc.record({ country: fc.string(), external_identifier: fc.string() }), (pins, rest) => {
      expect(differences(pins, known, { ...rest, ...(reordered(pins) as object) })).toEqual([])
    }),
  )
})

test('a request differs exactly where it says another value than the pinned one, or none', () => {
  fc.assert(
    fc.property(some, some, (pins, body) => {
      const wire = (value: unknown) => JSON.stringify(sorted(value))
      const wanted = (Object.keys(values) as (keyof typeof values)[])
        .filter((name) => pins[name] !== undefined && wire(pins[name]) !== wire(body[name]))
        .map((name) => `/${name}`)
      const found = differences(pins, known, body).map(({ pointer }) => pointer)
      expect(found.sort()).toEqual(wanted.sort())
    }),
  )
})

function sorted(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(sorted)
  if (typeof value !== 'object' || value === null) return value
  const members = Object.entries(value).sort(([one], [other]) => (one < other ? -1 : 1))
  return Object.fromEntries(members.map(([name, member]) => [name, sorted(member)]))
}

test('a value that requests of the route cannot have is not asked for', () => {
  expect(differences({ amount: 1, currency: 'EUR' }, new Set(['amount']), { amount: 1 })).toEqual([])
})

test('the message says what to send, unless that would be a page', () => {
  const [short] = differences({ amount: 1299 }, known, {})
  expect(short?.message).toBe('Must be 1299, as the token says')
  const [long] = differences({ metadata: { order: 'x'.repeat(500) } }, known, {})
  expect(long?.message).toBe('Must be the value of embed.metadata, as the token says')
})

test('buyers are found wherever a schema has them, and nowhere else', () => {
  const buyer = { buyer_id: {}, buyer_external_identifier: {} }
  const schema = {
    properties: {
      ...buyer,
      metadata: { additionalProperties: {} },
      payment_method: { oneOf: [{ properties: { ...buyer } }, { properties: { id: {} } }] },
      items: { items: { anyOf: [{ properties: { buyer_id: {} } }] } },
      inner: { allOf: [{ properties: { deep: { properties: { buyer_id: {} } } } }] },
    },
  }
  const places = buyerPlaces(schema)
  expect(places.map((place) => place.join('/'))).toEqual([
    'buyer_id',
    'buyer_external_identifier',
    'payment_method/buyer_id',
    'payment_method/buyer_external_identifier',
    'items/*/buyer_id',
    'inner/deep/buyer_id',
  ])
  const request = {
    buyer_id: null,
    buyer_external_identifier: 'a',
    metadata: { buyer_id: 'not a buyer' },
    payment_method: { buyer_id: 'b' },
    items: [{}, { buyer_id: 'c' }],
    inner: { deep: { buyer_id: 'd' } },
  }
  expect(namedBuyers(places, request)).toEqual([
    { pointer: '/buyer_external_identifier', by: 'buyer_external_identifier', value: 'a' },
    { pointer: '/payment_method/buyer_id', by: 'buyer_id', value: 'b' },
    { pointer: '/items/1/buyer_id', by: 'buyer_id', value: 'c' },
    { pointer: '/inner/deep/buyer_id', by: 'buyer_id', value: 'd' },
  ])
  const at = (value: unknown, pointer: string) =>
    pointer
      .split('/')
      .slice(1)
      .reduce<unknown>((node, name) => (node as Record<string, unknown>)[name], value)
  fc.assert(
    fc.property(fc.record({ buyer_id: fc.jsonValue(), items: fc.jsonValue(), inner: fc.jsonValue() }), (value) => {
      for (const named of namedBuyers(places, value)) expect(at(value, named.pointer)).toBe(named.value)
    }),
  )
})

test('servers speak for every buyer, a browser for the one that is pinned, and everybody for what nobody owns', () => {
  fc.assert(
    fc.property(fc.uuid(), fc.uuid(), (owner, other) => {
      expect(speaksFor({ pins: null }, owner)).toBe(true)
      expect(speaksFor({ pins: { buyer_id: owner } }, owner)).toBe(true)
      expect(speaksFor({ pins: { buyer_id: other } }, owner)).toBe(other === owner)
      expect(speaksFor({ pins: {} }, owner)).toBe(false)
      expect(speaksFor({ pins: { buyer_external_identifier: owner } }, owner)).toBe(false)
      for (const pins of [null, {}, { buyer_id: other }]) expect(speaksFor({ pins }, null)).toBe(true)
    }),
  )
})

test('a buyer is pinned by one name', () => {
  expect(isPins({ buyer_id: id })).toBe(true)
  expect(isPins({ buyer_external_identifier: 'buyer-4711' })).toBe(true)
  expect(isPins({ buyer_id: id, buyer_external_identifier: 'buyer-4711' })).toBe(false)
})
