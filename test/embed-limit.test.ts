import { execFile } from 'node:child_process'
import { randomUUID } from 'node:crypto'
import { join } from 'node:path'
import { describe, expect, test } from 'vitest'
import { type Answer, send, useApi } from './api.ts'
import { checkoutOn } from './checkout.ts'
import { none, planted, simulate } from './embed-limit/planted.ts'
import { twinsOf } from './embed-limit/twins.ts'
import { judge } from './embed-limit/verdict.ts'

test('proof:embed-limit: three processes, fewer requests', async () => {
  const { stdout, stderr } = await new Promise<{ stdout: string; stderr: string }>((resolve) => {
    const counts = { requests: 300, seconds: 0, twins: 120, fields: 150, server: 200 }
    const args = Object.entries(counts).flatMap(([name, value]) => [`--${name}`, String(value)])
    const cwd = join(import.meta.dirname, '..')
    execFile(process.execPath, ['bench/embed-limit.ts', ...args], { cwd }, (_error, stdout, stderr) =>
      resolve({ stdout, stderr }),
    )
  })
  const report = JSON.parse(stdout.trim().split('\n').at(-1) || '{}') as Record<string, unknown>
  expect(report, stderr).toMatchObject({ proof: 'embed-limit', processes: 3, problems: 0, passed: true })
  expect(report).toMatchObject({ serverToken: { sent: 200, refused: 0 } })
})

describe('the verdict of the proof', () => {
  const promised = { limit: 50, slack: 1, windowMs: 60_000 }

  test('finds nothing wrong with a limiter that is right', async () => {
    const verdict = judge(await simulate(none, promised, 150), promised)
    expect(verdict).toMatchObject({ problems: [], first_window: 50, most_in_a_window: 50, fewest_before_a_refusal: 50 })
  })

  test.each(Object.entries(planted))('finds a limiter that %s', async (_name, plant) => {
    const { problems } = judge(await simulate(plant, promised, 150), promised)
    expect(problems).not.toEqual([])
  })

  test('finds refusals that do not say when to come back', () => {
    const answers = [undefined, '', '0', '1.5', 'soon', '600'].map((retryAfter) => ({
      sentAt: 0,
      receivedAt: 0,
      status: 429,
      retryAfter,
    }))
    expect(judge(answers, { ...promised, limit: 0 }).problems).toEqual([
      '6 refusals without a Retry-After of whole seconds',
    ])
  })
})

describe('an api that lets three requests a minute pass', () => {
  const limit = 3
  const api = useApi({ embedLimit: limit })
  const checkout = checkoutOn(api)
  const browser = (claims: object = {}) => api.makeToken(api.owner(), { scopes: ['embed'], claims: { ...claims } })
  const ask = (token: string, options: { body?: object; rawBody?: string; headers?: Record<string, string> } = {}) =>
    api.request('POST', '/transactions', { token, ...(options.rawBody === undefined && { body: {} }), ...options })
  const uses = () => api.database.query('select from embed_uses')
  const exhaust = async (token: string) => {
    for (let use = 0; use < limit; use += 1) expect((await ask(token)).status).toBe(400)
  }

  function expectRefused(answer: Answer, message: RegExp) {
    expect(answer.status).toBe(429)
    expect(answer.body).toMatchObject({
      type: 'error',
      code: 'too_many_requests',
      status: 429,
      details: [],
      message: expect.stringMatching(message),
    })
    const seconds = Number(answer.headers.get('retry-after'))
    expect(Number.isInteger(seconds) && seconds >= 1 && seconds <= 61).toBe(true)
    expect(answer.headers.get('ratelimit')).toBe(`"embed";r=0;t=${seconds}`)
    expect(answer.headers.get('ratelimit-policy')).toBe('"embed";q=3;w=60')
    expect(answer.headers.get('access-control-allow-origin')).toBe('*')
  }

  test('tells how many are left, and refuses the fourth with when to come back and what to do', async () => {
    const token = await browser()
    for (const left of [2, 1, 0]) {
      const { headers, status } = await ask(token)
      expect(status).toBe(400)
      expect(headers.get('ratelimit')).toMatch(new RegExp(`^"embed";r=${left};t=(60|61|5\\d)$`))
      expect(headers.get('ratelimit-policy')).toBe('"embed";q=3;w=60')
    }
    for (let again = 0; again < 3; again += 1) expectRefused(await ask(token), /sign a new token for every checkout/)
    expect((await ask(await browser())).status).toBe(400)
  })

  test('counts before it reads the body and looks at the account, whatever they are', async () => {
    const token = await browser()
    expect((await ask(token, { rawBody: '{' })).status).toBe(400)
    expect((await ask(token, { headers: { 'X-Service-Merchant-Account-ID': 'nowhere' } })).status).toBe(404)
    expect((await ask(token, { rawBody: 'x'.repeat(2_000_000) })).status).toBe(400)
    expectRefused(await ask(token, { rawBody: '{' }), /too many requests/)
  })

  test('counts nothing that has no valid token or not the scope', async () => {
    const before = (await uses()).length
    for (let use = 0; use <= limit; use += 1) {
      expect((await ask('x')).status).toBe(401)
      expect((await ask(await api.makeToken(api.owner(), { scopes: ['buyers.read'] }))).status).toBe(403)
    }
    expect(await uses()).toHaveLength(before)
  })

  test('counts byte-different twins of one token as one', async () => {
    const now = Math.floor(Date.now() / 1000)
    const claims = { jti: randomUUID(), iat: now, nbf: now, exp: now + 600 }
    const twins = await twinsOf(api.owner().privateKeyPem, claims, 20)
    expect(new Set(twins).size).toBe(20)
    const answers = await Promise.all(twins.map((token) => ask(token)))
    expect(answers.filter(({ status }) => status === 400)).toHaveLength(limit)
    expect(answers.filter(({ status }) => status === 429)).toHaveLength(20 - limit)
  })

  test('counts the same jti of two key pairs apart', async () => {
    const jti = randomUUID()
    const pair = await api.makeKeyPair()
    await exhaust(await browser({ jti }))
    expect((await ask(await api.makeToken(pair, { scopes: ['embed'], claims: { jti } }))).status).toBe(400)
  })

  test('counts no server, and has no row of one', async () => {
    const before = (await uses()).length
    const token = await api.makeToken(api.owner())
    for (let use = 0; use < 4 * limit; use += 1) {
      const answer = await ask(token)
      expect(answer.status).toBe(400)
      expect(answer.headers.has('ratelimit')).toBe(false)
    }
    expect(await uses()).toHaveLength(before)
  })

  test('lets requests pass again when those that count are more than 60 seconds ago', async () => {
    const token = await browser()
    await exhaust(token)
    await api.database.query(
      `update embed_uses set times = array(select at - interval '61 seconds' from unnest(times) as at)`,
    )
    expect((await ask(token)).status).toBe(400)
  })

  test('does not limit what is not said to be limited', async () => {
    const token = await browser({ embed: { buyer_external_identifier: 'buyer-4711' } })
    for (let use = 0; use < 2 * limit; use += 1) {
      const path = '/buyers/payment-methods?buyer_external_identifier=buyer-4711'
      expect((await api.request('GET', path, { token })).status).toBe(200)
    }
  })

  test('counts the fields of a checkout session by either method, whatever is sent, and by the session', async () => {
    const { id } = await checkout.create()
    expect((await checkout.sendCard(id)).headers.get('ratelimit')).toMatch(/^"embed";r=2;t=\d+$/)
    expect((await checkout.fields(id, {}, 'POST')).status).toBe(400)
    expect((await checkout.fields(id, {}, 'PUT')).status).toBe(400)
    expectRefused(await checkout.sendCard(id), /new session for every checkout/)
    expectRefused(await checkout.fields(id, {}, 'POST'), /new session for every checkout/)
    const other = await checkout.create()
    expect((await checkout.sendCard(other.id)).status).toBe(204)
  })

  test('keeps no row of sessions that do not exist', async () => {
    const before = (await uses()).length
    for (const [id, status] of [
      [randomUUID(), 404],
      ['x', 400],
      ["' or true --", 400],
      ['%00', 400],
    ] as const) {
      for (let use = 0; use <= limit; use += 1) expect((await checkout.sendCard(id)).status).toBe(status)
    }
    expect(await uses()).toHaveLength(before)
  })

  test('lets nobody pass while it cannot count', async () => {
    const token = await browser()
    await api.database.query('alter table embed_uses rename to embed_uses_away')
    try {
      expect((await ask(token)).status).toBe(500)
      const { id } = await checkout.create()
      expect((await send(api.url(), 'PUT', `/checkout/sessions/${id}/fields`, { body: {} })).status).toBe(500)
    } finally {
      await api.database.query('alter table embed_uses_away rename to embed_uses')
    }
    await exhaust(token)
  })
})
