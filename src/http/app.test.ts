import { connect as connectSocket } from 'node:net'
import { type Span, type SpanContext, trace } from '@opentelemetry/api'
import { afterAll, expect, test } from 'vitest'
import { apiConfig, type RequestOptions, send, useApi } from '../../test/api.ts'
import { startApi } from '../main/api.ts'

const api = useApi()

/** Sends bytes as they are and returns what comes back until the server closes. */
function raw(bytes: string): Promise<string> {
  const { hostname, port } = new URL(api.url())
  return new Promise((resolve, reject) => {
    let answer = ''
    const socket = connectSocket(Number(port), hostname, () => socket.write(bytes))
    socket.on('data', (chunk) => (answer += chunk.toString()))
    socket.on('close', () => resolve(answer))
    socket.on('error', reject)
    socket.setTimeout(5_000, () => socket.destroy())
  })
}

test.each([
  ['not HTTP at all', 'hello\r\n\r\n'],
  ['headers beyond 16 KiB', `GET /roles HTTP/1.1\r\nhost: x\r\nx-long: ${'a'.repeat(20_000)}\r\n\r\n`],
  ['a bad chunk', 'POST /merchant-accounts HTTP/1.1\r\nhost: x\r\ntransfer-encoding: chunked\r\n\r\nzz\r\n'],
  [
    'length and chunks at once',
    'POST /merchant-accounts HTTP/1.1\r\nhost: x\r\ncontent-length: 3\r\ntransfer-encoding: chunked\r\n\r\n0\r\n\r\n',
  ],
])('%s is answered with 400 in the usual shape, and the connection is closed', async (_name, bytes) => {
  const answer = await raw(bytes)
  expect(answer).toMatch(/^HTTP\/1\.1 400 /)
  expect(answer).toMatch(/x-request-id: /i)
  expect(JSON.parse(answer.slice(answer.indexOf('\r\n\r\n')))).toMatchObject({
    type: 'error',
    code: 'bad_request',
    status: 400,
  })
})

test('every error leads to a page about its code that is there', async () => {
  const helps = async (method: string, path: string, options: RequestOptions = {}) => {
    const { status, headers, body } = await api.request(method, path, options)
    const [, page = ''] = /^<([^>]+)>; rel="help"$/.exec(headers.get('link') ?? '') ?? []
    expect((await api.request('GET', page, { token: '' })).status, `${method} ${path}`).toBe(200)
    return [status, body['code'], page.split('/').at(-1)]
  }
  expect(await helps('GET', '/nowhere')).toEqual([404, 'not_found', 'not_found'])
  expect(await helps('GET', '/%ff')).toEqual([404, 'not_found', 'not_found'])
  expect(await helps('GET', '/docs/guides/nowhere')).toEqual([404, 'not_found', 'not_found'])
  expect(await helps('DELETE', '/roles')).toEqual([405, 'method_not_allowed', 'method_not_allowed'])
  expect(await helps('GET', '/roles', { token: 'x' })).toEqual([401, 'unauthorized', 'unauthorized'])
  expect(await helps('POST', '/api-key-pairs', { body: {} })).toEqual([422, undefined, 'bad_request'])
  expect(await helps('POST', '/buyers', { rawBody: '{' })).toEqual([400, 'bad_request', 'bad_request'])
  expect(await raw('hello\r\n\r\n')).toContain('link: </docs/errors/bad_request>; rel="help"\r\n')
})

test('a body that is too large is read to its end, so that the client that sends it hears why', async () => {
  const body = { display_name: 'x'.repeat(8 * 1024 * 1024) }
  const { status, headers } = await api.request('POST', '/buyers', { body })
  expect([status, headers.get('connection')]).toEqual([400, null])
})

test('files are served with a strict policy, and not again to those who have them', async () => {
  for (const path of [
    '/docs',
    '/docs/reference.css',
    '/docs/page.js',
    '/docs/guides',
    '/docs/guides/quickstart',
    '/docs/guides/quickstart.md',
    '/docs/errors/not_found',
    '/docs/florin.http',
    '/llms.txt',
    '/openapi.json',
    '/card-schemes/visa.svg',
  ]) {
    const first = await api.request('GET', path, { token: '' })
    expect(first.status, path).toBe(200)
    const policy = first.headers.get('content-security-policy') ?? ''
    expect(policy).toContain("default-src 'none'")
    expect(policy).not.toContain('unsafe')
    const again = await api.request('GET', path, {
      token: '',
      headers: { 'if-none-match': first.headers.get('etag') ?? '' },
    })
    expect([again.status, again.text]).toEqual([304, ''])
  }
  for (const path of ['/openapi.json', '/docs/guides/quickstart'])
    expect((await api.request('POST', path)).status).toBe(405)
  for (const path of [
    '/docs/../package.json',
    '/docs/%2e%2e/package.json',
    '/docs/%2e%2e%2fpackage.json',
    '/docs/decisions/0001-record-decisions.md',
    '/card-schemes/',
    '/docs//',
    '/docs/nowhere/',
  ]) {
    expect((await api.request('GET', path, { token: '' })).status, path).toBe(404)
  }
})

test('who opens the address alone, or a path with a slash behind it, is led to the page', async () => {
  const leadsTo = async (path: string) => {
    const { status, headers } = await fetch(api.url() + path, { redirect: 'manual' })
    return [status, headers.get('location')]
  }
  expect(await leadsTo('/')).toEqual([302, '/docs/guides'])
  expect(await leadsTo('/docs/')).toEqual([308, '/docs'])
  expect(await leadsTo('/docs/guides/')).toEqual([308, '/docs/guides'])
})

test('every scheme has an icon where its definition says', async () => {
  const { body } = await api.request<{ items: { id: string; icon_url: string }[] }>('GET', '/card-scheme-definitions')
  expect(body.items).toHaveLength(25)
  for (const { icon_url } of body.items) {
    const icon = await fetch(icon_url)
    expect([icon.status, icon.headers.get('content-type')]).toEqual([200, 'image/svg+xml'])
  }
})

test('health and metrics are on the private port alone', async () => {
  expect((await send(api.privateUrl(), 'GET', '/livez')).status).toBe(200)
  expect((await send(api.privateUrl(), 'GET', '/readyz')).status).toBe(200)
  await api.request('GET', '/roles')
  const metrics = await send(api.privateUrl(), 'GET', '/metrics')
  expect(metrics.text).toMatch(/florin_http_request_duration_seconds_count\{operation="listRoles",status="200"\} \d+/)
  expect(metrics.text).toContain('florin_log_lines_scrubbed_total 0')
  for (const path of ['/livez', '/readyz', '/metrics']) expect((await api.request('GET', path)).status).toBe(404)
})

test('a process whose database lacks a migration is not ready, and says which', async () => {
  await api.database.query("update florin_migrations set name = 'moved' where name = '0005_jobs'")
  const answer = await send(api.privateUrl(), 'GET', '/readyz')
  await api.database.query("update florin_migrations set name = '0005_jobs' where name = 'moved'")
  expect(answer.status).toBe(503)
  expect(answer.text).toContain('0005_jobs')
})

test('while the database does not answer, requests get 504 and nothing of the cause', async () => {
  const down = await startApi(apiConfig('postgresql://florin_api@127.0.0.1:1/none', { logLevel: 'silent' }))
  try {
    const answer = await send(down.url, 'GET', '/roles', { token: api.token() })
    expect(answer.status).toBe(504)
    expect(answer.body).toEqual({
      type: 'error',
      code: 'gateway_timeout',
      status: 504,
      message: 'Request could not be processed',
      details: [],
    })
    expect((await send(down.privateUrl, 'GET', '/readyz')).status).toBe(503)
    expect((await send(down.privateUrl, 'GET', '/livez')).status).toBe(200)
  } finally {
    await down.close()
  }
})

test('each request is one log line of named fields, with the id the caller sees', async () => {
  const answer = await api.request('GET', '/roles?limit=1')
  const id = answer.headers.get('x-request-id') ?? ''
  await expect.poll(() => api.logs.some((line) => line.includes(id))).toBe(true)
  const line = JSON.parse(api.logs.find((entry) => entry.includes(id)) ?? '{}') as Record<string, unknown>
  expect(line).toMatchObject({ operation: 'listRoles', method: 'GET', status: 200, key_pair_id: api.owner().id })
  expect(api.logs.join('')).not.toContain(api.token())
})

test('an operation is a span that continues the trace of the caller, if somebody listens', async () => {
  const spans: { name: string; parent: SpanContext | undefined }[] = []
  const silent = trace.wrapSpanContext({ traceId: '1'.repeat(32), spanId: '2'.repeat(16), traceFlags: 0 })
  const tracer = {
    startSpan: () => silent,
    startActiveSpan: (name: string, ...rest: unknown[]) => {
      spans.push({ name, parent: undefined })
      return (rest.at(-1) as (span: Span) => unknown)(silent)
    },
  }
  trace.setGlobalTracerProvider({ getTracer: () => tracer as never })
  await api.request('GET', '/roles')
  expect(spans.map(({ name }) => name)).toEqual(['listRoles'])
})
afterAll(() => trace.disable())
