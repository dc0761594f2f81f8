import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { useApi } from '../../../test/api.ts'
import { refusal } from '../../../test/payments.ts'

const api = useApi()
const list = (query: string) => api.request('GET', `/transactions?${query}`)
const encode = (name: string, text: string) => `${name}=${encodeURIComponent(text)}`

const id = '0192f4a6-7e0c-7c33-b1de-3f1a2b4c5d6e'
const moments = ['created_at_gte', 'created_at_lte', 'updated_at_gte', 'updated_at_lte']
const amounts = ['amount_eq', 'amount_gte', 'amount_lte']
const single = ['id', 'payment_method_id', 'checkout_session_id', 'payment_link_id', 'gift_card_id']
const ids = [...single, 'reauthorized_from_transaction_id', 'payment_service_id']
const flags = [
  'has_gift_card_redemptions',
  'has_refunds',
  'has_settlements',
  'is_subsequent_payment',
  'merchant_initiated',
  'pending_review',
  'disputed',
  'used_3ds',
]
const texts = [
  'buyer_external_identifier',
  'buyer_id',
  'buyer_email_address',
  'external_identifier',
  'ip_address',
  'payment_method_label',
  'payment_method_country',
  'payment_method_bin',
  'payment_method_fingerprint',
  'payment_service_transaction_id',
  'reconciliation_id',
  'search',
]
const enums = ['status', 'method', 'payment_source']
const listsOfTexts = ['currency', 'country', 'error_code', 'buyer_search', 'payment_method_scheme']
const every = [
  ...moments,
  ...amounts,
  ...ids,
  ...flags,
  ...texts,
  ...enums,
  ...listsOfTexts,
  'gift_card_last4',
  'metadata',
]

describe.each(moments)('%s', (name) => {
  test.each([
    '2026-11-15T12:30:00',
    '2026-11-15',
    '2026-11-15T12:30:00+02',
    '2026-11-15T12:30:00 02:00',
    '2026-11-15 12:30:00Z',
    '2026-02-30T00:00:00Z',
    '2026-11-15T24:00:00Z',
    '2026-11-15T12:30:00.Z',
    '2026-11-15T12:30:00+24:00',
    '1763209800',
    'now',
    'infinity',
    '',
  ])('is refused without a time zone or a moment that exists: %s', async (text) => {
    expect(refusal(await list(encode(name, text)))).toEqual([400, `${name} type_error.datetime`])
  })

  test('is refused with a time zone whose plus is not encoded, and taken with one that is', async () => {
    expect(refusal(await list(`${name}=2026-11-15T12:30:00+02:00`))).toEqual([400, `${name} type_error.datetime`])
    expect((await list(`${name}=2026-11-15T12:30:00%2B02:00`)).status).toBe(200)
  })

  test.each([
    '2026-11-15T12:30:00Z',
    '2026-11-15t12:30:00z',
    '2026-11-15T12:30:00.123456789-11:30',
    '1970-01-01T00:00:00+23:59',
    '9999-12-31T23:59:59.999999999-23:59',
  ])('takes %s', async (text) => {
    expect((await list(encode(name, text))).status).toBe(200)
  })
})

describe.each(amounts)('%s', (name) => {
  test.each(['', 'x', '1.5', '1e3', '0x10', ' 1', '+1', '01', '1,000', 'NaN', 'Infinity', '9'.repeat(30)])(
    'is refused when it is no integer in its one spelling: "%s"',
    async (text) => {
      expect(refusal(await list(encode(name, text)))).toEqual([400, `${name} type_error.integer`])
    },
  )

  test.each(['-1', '2147483648', '9007199254740991', '9007199254740992', '9007199254740993'])(
    'is refused beyond what an amount can be: %s',
    async (text) => {
      expect(refusal(await list(encode(name, text)))).toEqual([400, `${name} value_error.range`])
    },
  )

  test.each(['0', '2147483647'])('takes %s', async (text) => {
    expect((await list(encode(name, text))).status).toBe(200)
  })
})

test.each(ids)('%s takes the one canonical spelling of a UUID', async (name) => {
  expect((await list(encode(name, id))).status).toBe(200)
  const others = ['', 'x', id.toUpperCase(), id.replaceAll('-', ''), `{${id}}`, `urn:uuid:${id}`, `${id} `, `${id}0`]
  for (const text of others) {
    expect(refusal(await list(encode(name, text))), text).toEqual([400, `${name} type_error.uuid`])
  }
})

test.each(['buyer_id', 'reconciliation_id'])('%s is any text, and one that is no id finds nothing', async (name) => {
  for (const text of ['x', id.toUpperCase(), `{${id}}`, "' or true --", '\u{1f600}', 'z'.repeat(22)]) {
    const { status, body } = await list(encode(name, text))
    expect({ status, items: body['items'] }, text).toEqual({ status: 200, items: [] })
  }
})

test.each(flags)('%s is true or false', async (name) => {
  for (const text of ['true', 'false']) expect((await list(encode(name, text))).status).toBe(200)
  for (const text of ['', 'True', 'TRUE', '1', '0', 'yes', 'null', ' true']) {
    expect(refusal(await list(encode(name, text))), text).toEqual([400, `${name} type_error.boolean`])
  }
})

test('gift_card_last4 has four characters', async () => {
  expect((await list('gift_card_last4=1234')).status).toBe(200)
  for (const text of ['', '123', '12345']) {
    expect(refusal(await list(encode('gift_card_last4', text))), text).toEqual([
      400,
      'gift_card_last4 value_error.length',
    ])
  }
})

test.each([
  ['moments', moments, '2026-11-15T12:30:00Z', 'string'],
  ['amounts', amounts, '1', 'integer'],
  ['ids', ids.filter((name) => name !== 'payment_service_id'), id, 'string'],
  ['flags', flags, 'true', 'boolean'],
  ['texts', texts, 'x', 'string'],
])('%s that take one value are refused with two, also when they are the same', async (_what, names, text, type) => {
  for (const name of names) {
    expect(refusal(await list(`${encode(name, text)}&${encode(name, text)}`)), name).toEqual([
      400,
      `${name} type_error.${type}`,
    ])
  }
})

test.each([
  ['status', 'capture_succeeded', 'type_error.enum'],
  ['method', 'card', 'type_error.enum'],
  ['payment_source', 'moto', 'type_error.enum'],
  ['currency', 'EUR', 'value_error.pattern'],
  ['payment_service_id', id, 'type_error.uuid'],
])('%s takes its key repeated, and refuses a bad value anywhere among good ones', async (name, good, type) => {
  expect((await list(`${name}=${good}&${name}=${good}`)).status).toBe(200)
  for (const bad of [
    '',
    'no-such-value',
    `${good},${good}`,
    good.toUpperCase() === good ? 'eur' : good.toUpperCase(),
  ]) {
    expect(refusal(await list(`${name}=${good}&${encode(name, bad)}`)), bad).toEqual([400, `${name} ${type}`])
    expect(refusal(await list(`${encode(name, bad)}&${name}=${good}`)), bad).toEqual([400, `${name} ${type}`])
  }
})

test.each(listsOfTexts)('%s refuses an empty value', async (name) => {
  const [status, ...problems] = refusal(await list(`${name}=`))
  expect([status, problems.length]).toEqual([400, 1])
  expect(problems[0]).toMatch(new RegExp(`^${name} value_error\\.(length|pattern)$`))
})

test('brackets and indexes are other parameters, which are ignored', async () => {
  for (const query of ['status[]=no-such-value', 'status[0]=no-such-value', 'metadata[a]=1', 'no_such_filter=1']) {
    expect((await list(query)).status, query).toBe(200)
  }
})

describe('metadata', () => {
  test.each(['{}', '{"a":"b"}', ' { "a" : "" } ', '{"__proto__":"x"}', '{"a":"b","a":"c"}', '{"\\u00e9":"\u00e9"}'])(
    'takes an object of texts: %s',
    async (text) => {
      expect((await list(encode('metadata', text))).status).toBe(200)
    },
  )

  test.each([
    '',
    'a',
    'a=b',
    '{',
    '{"a":"b"',
    '{"a":"b"}}',
    '{"a":"b",}',
    "{'a':'b'}",
    '{a:"b"}',
    '[]',
    '[{"a":"b"}]',
    '"a"',
    '1',
    'true',
    'null',
    '{"a":1}',
    '{"a":true}',
    '{"a":null}',
    '{"a":{}}',
    '{"a":["b"]}',
    '{"a":"b","c":1}',
    '\ufeff{"a":"b"}',
    '{"a":"\\u0000"}',
    '{"\\u0000":"b"}',
    '{"a":"\\ud800"}',
    '['.repeat(2_000),
  ])('refuses %s', async (text) => {
    const [status, ...problems] = refusal(await list(encode('metadata', text)))
    expect([status, problems.length]).toEqual([400, 1])
    expect(problems[0]).toMatch(/^metadata (type_error\.object|value_error\.length)$/)
    const among = await list(`metadata=%7B%7D&${encode('metadata', text)}&metadata=%7B%7D`)
    expect(refusal(among)[0], 'among good ones').toBe(400)
  })

  test('is an object of texts or refused, whatever JSON it is', async () => {
    await fc.assert(
      fc.asyncProperty(fc.json({ maxDepth: 3 }), async (text) => {
        const value: unknown = JSON.parse(text)
        const isFit =
          typeof value === 'object' &&
          value !== null &&
          !Array.isArray(value) &&
          Object.entries(value).every((entry) =>
            entry.every((part) => typeof part === 'string' && part.isWellFormed() && !part.includes('\0')),
          )
        expect((await list(encode('metadata', text))).status).toBe(isFit ? 200 : 400)
      }),
      { numRuns: 300 },
    )
  })
})

test('everything that is wrong is reported at once', async () => {
  const query = 'amount_gte=x&id=x&status=x&disputed=x&created_at_gte=x&metadata=x&currency=x&limit=0'
  expect(refusal(await list(query))).toEqual([
    400,
    'amount_gte type_error.integer',
    'created_at_gte type_error.datetime',
    'currency value_error.pattern',
    'disputed type_error.boolean',
    'id type_error.uuid',
    'limit value_error.range',
    'metadata value_error.length',
    'status type_error.enum',
  ])
})

test('whatever text a filter is given, it is taken or refused by its name', async () => {
  const hostile = fc.oneof(
    fc.string({ unit: 'binary' }),
    fc.string({ unit: 'grapheme' }),
    fc.constantFrom("'", "' or 1=1 --", '\\', '$1', '%', '_', '{}', '{"a":"b"}', '\0', '${1}', '); drop table x;', id),
  )
  await fc.assert(
    fc.asyncProperty(
      fc.constantFrom(...every),
      fc.array(hostile, { minLength: 1, maxLength: 3 }),
      async (name, values) => {
        const answer = await list(values.map((text) => encode(name, text)).join('&'))
        const [status, ...problems] = refusal(answer)
        if (status === 200) expect(answer.body['items']).toEqual([])
        else expect([status, ...new Set(problems.map((problem) => problem.split(' ')[0]))]).toEqual([400, name])
      },
    ),
    { numRuns: 1_000 },
  )
})
