import { describe, expect, it } from 'vitest'
import { exampleOf } from './example.ts'
import { render } from '../../html.ts'
import { inline, markdown } from './markdown.ts'
import { asOpenApi } from './openapi.ts'
import { renderReference } from './page.ts'
import { matching } from './pattern.ts'

const hostile = `<script>alert("x")</script><img src=x onerror='y'>" style="color:red`
const ref = (name: string) => ({ $ref: `#/components/schemas/${name}` })
const json = (schema: object) => ({ content: { 'application/json': { schema } } })

const fixture = {
  openapi: '3.1.0',
  info: { title: 'Sample API', version: '1.2.3', description: 'First **bold** `code`.\n\n- one\n- two' },
  security: [{ bearer: [] }],
  tags: [{ name: 'Payments', description: 'Money in.' }],
  paths: {
    '/payments/{paymentId}': {
      parameters: [{ name: 'paymentId', in: 'path', required: true, schema: { type: 'string', format: 'uuid' } }],
      get: {
        operationId: 'getPayment',
        tags: ['Payments'],
        summary: 'Read a payment',
        'x-florin-scope': ['payments:read', 'payments:write'],
        parameters: [
          {
            name: 'Florin-Merchant-Account',
            in: 'header',
            required: true,
            schema: { type: 'string', examples: ["o'k"] },
          },
        ],
        responses: {
          200: { description: 'The payment.', ...json(ref('Payment')) },
          404: {
            description: 'None.',
            ...json({ type: 'object', properties: { code: { type: 'string', enum: ['not_found'] } } }),
          },
          429: { $ref: '#/components/responses/too_many' },
        },
      },
    },
    '/payments': {
      post: {
        operationId: 'createPayment',
        tags: ['Payments'],
        summary: 'Create a payment',
        parameters: [{ $ref: '#/components/parameters/Key' }],
        requestBody: { required: true, ...json(ref('Payment')) },
        responses: { 201: { description: 'Created.', ...json(ref('Payment')) }, 204: { description: 'Nothing.' } },
      },
    },
    '/status': {
      get: {
        operationId: 'getStatus',
        security: [],
        responses: { 200: { description: 'Up.', content: { 'text/plain': { schema: { type: 'string' } } } } },
      },
    },
  },
  webhooks: { 'payment.changed': { post: { summary: 'A payment changed', requestBody: json(ref('Payment')) } } },
  components: {
    parameters: {
      Key: { name: 'Idempotency-Key', in: 'header', schema: { type: 'string', minLength: 8, maxLength: 64 } },
    },
    responses: { too_many: { description: 'Slow down.' } },
    securitySchemes: { bearer: { type: 'http', scheme: 'bearer' } },
    schemas: {
      Payment: {
        type: 'object',
        required: ['amount', 'currency', 'capture', 'code', 'method'],
        properties: {
          id: { type: 'string', format: 'uuid', readOnly: true },
          amount: { type: 'integer', minimum: 1, maximum: 5000 },
          currency: { type: 'string', pattern: '^[A-Z]{3}$' },
          capture: { anyOf: [{ const: 'automatic' }, { const: 'manual' }], default: 'manual' },
          code: { type: 'string', pattern: '^PX-[0-9A-F]{4}$' },
          note: { type: ['string', 'null'], maxLength: 20, examples: ["it's"] },
          method: {
            oneOf: [ref('Card'), { type: 'object', title: 'Voucher', properties: { pin: { type: 'string' } } }],
          },
          parent: { anyOf: [ref('Payment'), { type: 'null' }] },
          children: { type: 'array', items: ref('Payment') },
          labels: { type: 'object', additionalProperties: { type: 'string' } },
        },
      },
      Card: { type: 'object', required: ['number'], properties: { number: { type: 'string', examples: ['4111'] } } },
      Loop: { $ref: '#/components/schemas/Pool' },
      Pool: { allOf: [{ $ref: '#/components/schemas/Loop' }] },
      Nothing: { $ref: '#/components/schemas/Missing' },
    },
  },
  'x-florin-errors': [
    { status: 404, code: 'not_found', message: 'Not found.', meaning: 'It does not `exist`.' },
    { status: 429, code: 'too_many', message: 'Too many.', meaning: 'Slow down.' },
  ],
}

/** Every string value of the document replaced, its structure and references kept. */
const poison = (value: unknown, key = ''): unknown => {
  const structural = ['$ref', 'in', 'type', 'openapi', 'required', 'security', 'scheme', 'url']
  if (structural.includes(key)) return value
  if (typeof value === 'string') return hostile
  if (Array.isArray(value)) return value.map((each) => poison(each))
  if (typeof value !== 'object' || value === null) return value
  return Object.fromEntries(Object.entries(value).map(([name, each]) => [name, poison(each, name)]))
}

const unescape = (text: string): string =>
  text
    .replaceAll('&lt;', '<')
    .replaceAll('&gt;', '>')
    .replaceAll('&quot;', '"')
    .replaceAll('&#39;', "'")
    .replaceAll('&amp;', '&')

const blocks = (page: string, caption: string): string[] =>
  [...page.matchAll(/<figcaption>([^<]*)<\/figcaption><pre tabindex="0"><code>([^<]*)<\/code>/g)].flatMap((match) =>
    match[1]?.startsWith(caption) ? [unescape(match[2] ?? '')] : [],
  )

const section = (page: string, id: string): string => {
  const start = page.indexOf(`id="${id}"`)
  expect(start, id).toBeGreaterThan(0)
  return page.slice(start, page.indexOf('<div class="body"', start + 1))
}

describe('the reference page', () => {
  const page = renderReference(fixture)

  it('anchors every operation and links to it', () => {
    for (const id of ['getPayment', 'createPayment', 'getStatus', 'webhook-payment.changed', 'schema-Payment']) {
      expect(page).toContain(`id="${id}"`)
      expect(page).toContain(`href="#${id}"`)
    }
  })

  it('has no two elements with one id and no link that leads nowhere', () => {
    const ids = [...page.matchAll(/ id="([^"]*)"/g)].map((match) => match[1])
    expect(new Set(ids).size).toBe(ids.length)
    for (const [, target] of page.matchAll(/ href="#([^"]*)"/g)) expect(ids).toContain(decodeURIComponent(target ?? ''))
  })

  it('keeps ids apart when names collide', () => {
    const get = fixture.paths['/status'].get
    const text = renderReference({
      ...fixture,
      paths: {
        '/a': { get: { ...get, operationId: 'filter', tags: ['A b'] } },
        '/b': { get: { ...get, operationId: 'theme', tags: ['a-B'] } },
      },
      'x-florin-errors': [...fixture['x-florin-errors'], ...fixture['x-florin-errors']],
    })
    const ids = [...text.matchAll(/ id="([^"]*)"/g)].map((match) => match[1])
    expect(new Set(ids).size).toBe(ids.length)
  })

  it('closes what it opens', () => {
    for (const tag of [
      'details',
      'section',
      'table',
      'tr',
      'td',
      'div',
      'ul',
      'li',
      'p',
      'dl',
      'figure',
      'pre',
      'code',
    ]) {
      const opened = page.match(new RegExp(`<${tag}[ >]`, 'g'))?.length ?? 0
      expect(page.split(`</${tag}>`).length - 1, tag).toBe(opened)
    }
  })

  it('shows scopes, headers, parameters and error codes', () => {
    const read = section(page, 'getPayment')
    expect(read).toContain('<code>payments:read</code> or <code>payments:write</code>')
    expect(read).toContain('<code>Florin-Merchant-Account</code> required')
    expect(read).toContain('<code>paymentId</code><small>path</small>')
    expect(read).toContain('<a href="#error-not_found"><code>not_found</code></a> None.')
    expect(read).toContain('<b class="status">429</b><a href="#error-too_many"><code>too_many</code></a></li>')
    const create = section(page, 'createPayment')
    expect(create).toContain('<code>Idempotency-Key</code> optional')
    expect(create).toContain('8 to 64 characters')
    expect(section(page, 'getStatus')).toContain('no credentials needed')
  })

  it('shows enums, nullable types, alternatives, patterns, ranges and defaults', () => {
    const create = section(page, 'createPayment')
    expect(create).toContain('<code>automatic</code> <code>manual</code>')
    expect(create).toContain('default <code>manual</code>')
    expect(create).toContain('string or null')
    expect(create).toContain('>Payment</a> or null')
    expect(create).toContain('array of <a href="#schema-Payment">')
    expect(create).toContain('map of string')
    expect(create).toContain('matches <code>^[A-Z]{3}$</code>')
    expect(create).toContain('1 to 5000')
    expect(create).toContain('Voucher')
    expect(create).toContain('contains itself')
  })

  it('hides from a request what only the server sets', () => {
    const create = section(page, 'createPayment')
    const [request = '', response = ''] = create.split('Fields of the response')
    expect(request).not.toContain('<th scope="row"><code>id</code>')
    expect(response).toContain('<th scope="row"><code>id</code>')
  })

  it('gives examples that are JSON and fit the schema', () => {
    const answers = [...blocks(page, 'Response'), ...blocks(page, 'Payload')]
    expect(answers).toHaveLength(3)
    for (const answer of answers) {
      const value: unknown = JSON.parse(answer)
      expect(value).toMatchObject({
        amount: 1250,
        currency: 'EUR',
        capture: 'manual',
        code: expect.stringMatching(/^PX-[0-9A-F]{4}$/),
        method: { number: '4111' },
        note: "it's",
      })
    }
  })

  it('gives a curl command that survives quotes', () => {
    const [, read, create] = [...blocks(page, 'Shell'), ...blocks(page, 'Request')]
    expect(read).toMatch(/^curl "\$BASE_URL\/payments\/[0-9a-f-]{36}" \\\n {2}-H "Authorization: Bearer \$TOKEN"/)
    expect(read).toContain(`-H "Florin-Merchant-Account: o'k"`)
    expect(create).toContain('curl -X POST "$BASE_URL/payments"')
    expect(create).toContain('-H "Idempotency-Key: $(uuidgen)"')
    expect(create).toContain(String.raw`it'\''s`)
    const body = /-d '(.*)'$/s.exec(create ?? '')?.[1] ?? ''
    expect(JSON.parse(body.replaceAll(String.raw`'\''`, "'"))).toMatchObject({ capture: 'manual' })
    const status = blocks(page, 'Request').at(-1)
    expect(status).toBe('curl "$BASE_URL/status"')
  })

  it('keeps to a policy without anything inline', () => {
    for (const text of [page, renderReference(poison(fixture))]) {
      expect(text.match(/<script/g)).toHaveLength(2)
      for (const name of ['page', 'reference']) expect(text).toContain(`<script src="/docs/${name}.js"></script>`)
      const tags: string[] = text.match(/<[a-z][^>]*>/gi) ?? []
      for (const tag of tags) expect(tag.replace(/"[^"]*"/g, '""')).not.toMatch(/[\s"](style|on\w+)=|'/i)
      expect(text).not.toMatch(/<(style|iframe|object|embed|base|form|img)\b/i)
      expect(text).not.toMatch(/(?:src|href)="(?:data|javascript):/i)
    }
  })

  it('escapes every text of the document', () => {
    const text = renderReference(poison(fixture))
    expect(text).not.toContain('<script>alert')
    expect(text).not.toContain('<img')
    expect(text).not.toContain('" style="')
    expect(text).toContain('&lt;script&gt;alert(&quot;x&quot;)&lt;/script&gt;')
    const names = { [hostile]: { type: 'object', properties: { [hostile]: { type: 'string' } } } }
    const named = { ...fixture, components: { schemas: names }, paths: { [hostile]: { get: {} } } }
    expect(renderReference(named)).not.toContain('<script>alert')
  })

  it('does not take an object for markup', () => {
    const odd = { ...fixture, info: { title: { markup: '<script>x()</script>' } } }
    expect(renderReference(odd)).not.toContain('<script>x')
  })

  it('refuses what is not an OpenAPI document', () => {
    expect(() => renderReference(null)).toThrow('not an OpenAPI 3 document')
    expect(() => renderReference({ openapi: '3.1.0', paths: [] })).toThrow('paths must be an object')
  })

  it('stays small with many operations', () => {
    const operation = fixture.paths['/payments'].post
    const paths = Object.fromEntries(
      Array.from({ length: 149 }, (_, index) => [
        `/p${index}`,
        { post: { ...operation, operationId: `op${index}`, tags: [`Tag ${index % 40}`] } },
      ]),
    )
    const text = renderReference({ ...fixture, paths })
    expect(text.length).toBeLessThan(2_000_000)
    for (let index = 0; index < 149; index += 1) expect(text).toContain(`id="op${index}"`)
  })
})

describe('markdown', () => {
  it('knows paragraphs, lists, code, bold and links', () => {
    expect(render(markdown('a\nb\n\nc **d `e`**\n- f\n  g\n- [h](https://i.example/?j=1&k)'))).toBe(
      '<p>a b</p><p>c <strong>d <code>e</code></strong></p>' +
        '<ul><li>f g</li><li><a href="https://i.example/?j=1&amp;k">h</a></li></ul>',
    )
  })

  it('leaves unsafe links and markup as text', () => {
    expect(render(inline('[x](javascript:alert) <b>'))).toBe('[x](javascript:alert) &lt;b&gt;')
    expect(render(inline('[x](//evil.example) `<i>`'))).toBe('[x](//evil.example) <code>&lt;i&gt;</code>')
  })
})

describe('examples', () => {
  it('end for schemas that contain themselves', () => {
    const document = asOpenApi(fixture)
    expect(exampleOf(document, ref('Loop'), 'response')).toBeUndefined()
    expect(exampleOf(document, ref('Nothing'), 'response')).toBeUndefined()
    expect(exampleOf(document, ref('Payment'), 'response')).toMatchObject({ parent: null, children: [] })
  })

  it.each(['^[A-Z]{3}$', '^\\d{12,19}$', '^(0[1-9]|1[0-2])/[0-9]{2}$', '^ma_[a-z0-9]{12}$', '^(?:a|b)+\\.c?[^x]*$'])(
    'match %s',
    (pattern) => expect(matching(pattern)).toMatch(new RegExp(pattern)),
  )

  it('give up on patterns they cannot follow', () => {
    expect(matching('^(?=.*z)(?!q)a$')).toBeUndefined()
    expect(matching('(')).toBeUndefined()
  })
})
