import { randomUUID } from 'node:crypto'
import { beforeAll, expect, test } from 'vitest'
import { apiConfig, send } from '../../../../test/api.ts'
import { card, type Payment, usePayments } from '../../../../test/payments.ts'
import { startApi } from '../../../main/api.ts'

const payments = usePayments()
const { api } = payments
const hostile = `"><script>alert(1)</script><img src=x onerror='alert(2)'> & Söhne`

beforeAll(async () => {
  await api.request('PUT', `/payment-services/${payments.service()}`, { body: { three_d_secure_enabled: true } })
})

/** A payment whose buyer is asked, and the path of the page. */
async function asked(change: object = {}): Promise<{ transaction: string; path: string }> {
  const { text, body } = await payments.pay({
    payment_method: card('4111111111111111', { redirect_url: 'https://shop.example/done' }),
    ...change,
  })
  const { approval_url: url } = body['payment_method'] as { approval_url: string | null }
  if (!url?.startsWith(`${api.url()}/sandbox/approvals/`)) throw new Error(text)
  return { transaction: `/transactions/${body.id}`, path: new URL(url).pathname }
}

const look = (path: string) => send(api.url(), 'GET', path)
const press = (path: string, decision: string) =>
  send(api.url(), 'POST', path, {
    rawBody: new URLSearchParams({ decision }).toString(),
    headers: { 'content-type': 'application/x-www-form-urlencoded' },
  })
const statusOf = async (transaction: string) => (await payments.act<Payment>(`${transaction}/sync`)).body.status

test('the page asks with shop, amount and four digits of the card, under a policy that allows no script', async () => {
  const { path } = await asked({ amount: 123456 })
  const { status, headers, text } = await look(path)
  expect(status).toBe(200)
  expect(headers.get('content-type')).toBe('text/html; charset=utf-8')
  expect(headers.get('cache-control')).toBe('no-store')
  expect(headers.get('referrer-policy')).toBe('no-referrer')
  expect(headers.get('content-security-policy')).toBe(
    "default-src 'none'; style-src 'self'; img-src 'self'; base-uri 'none'; frame-ancestors 'none'",
  )
  expect(text).toContain('€1,234.56')
  expect(text).toContain('1111')
  expect(text).not.toContain('11111')
  expect(text).toMatch(/<dd>default<\/dd>/)
  expect(text).toMatch(/<time datetime="\d{4}-/)
  expect(text).not.toMatch(/<script|style="| on\w+=/)
  for (const decision of ['approved', 'rejected', 'cancelled', 'expired']) expect(text).toContain(`value="${decision}"`)
})

test.each([
  ['approved', 'authorization_succeeded', null],
  ['rejected', 'authorization_declined', 'failed_buyer_approval'],
  ['cancelled', 'authorization_failed', 'cancelled_buyer_approval'],
  ['expired', 'authorization_failed', 'incomplete_buyer_approval'],
])('%s: the browser is sent back, and the payment is %s %s', async (decision, status, code) => {
  const { transaction, path } = await asked()
  const answer = await press(path, decision)
  expect(answer.status).toBe(303)
  const back = answer.headers.get('location') ?? ''
  expect(back).toMatch(new RegExp(`^${api.url()}/approvals/[0-9a-f-]{36}$`))
  expect((await payments.act<Payment>(`${transaction}/sync`)).body).toMatchObject({ status, error_code: code })
  const after = await look(path)
  expect([after.status, after.text.includes(`href="${back}"`)]).toEqual([200, true])
  expect(after.text).not.toContain('<form')
})

test('a second press changes nothing and leads back all the same', async () => {
  const { transaction, path } = await asked()
  const first = await press(path, 'rejected')
  for (const decision of ['approved', 'rejected', 'cancelled']) {
    const again = await press(path, decision)
    expect([again.status, again.headers.get('location')]).toEqual([303, first.headers.get('location')])
  }
  expect(await statusOf(transaction)).toBe('authorization_declined')
})

test('after its time the page says so, and a press changes nothing', async () => {
  const { transaction, path } = await asked()
  const id = path.slice(path.lastIndexOf('/') + 1)
  await api.database.query("update sandbox_approvals set expires_at = now() - interval '1 second' where id = $1", [id])
  expect((await look(path)).text).toContain('Too late')
  expect((await press(path, 'approved')).status).toBe(303)
  expect(await statusOf(transaction)).toBe('buyer_approval_pending')
})

test('a payment that the merchant cancels: the page says so', async () => {
  const { transaction, path } = await asked()
  expect((await payments.act(`${transaction}/cancel`)).body).toMatchObject({ status: 'succeeded' })
  expect((await look(path)).text).toContain('Withdrawn')
  await press(path, 'approved')
  expect(await statusOf(transaction)).toBe('authorization_failed')
})

test('an answer that is none is refused, and the question stays open', async () => {
  const { transaction, path } = await asked()
  for (const decision of ['', 'open', 'withdrawn', 'APPROVED', '__proto__']) {
    const { status, text } = await press(path, decision)
    expect([status, text.includes('<form')]).toEqual([400, true])
  }
  const json = await send(api.url(), 'POST', path, { body: { decision: 'approved' } })
  expect(json.status).toBe(400)
  const long = await press(path, 'x'.repeat(10_000))
  expect(long.status).toBe(400)
  expect(await statusOf(transaction)).toBe('buyer_approval_pending')
})

test('an id that nobody was given is not found, and no other method is there', async () => {
  const { path } = await asked()
  for (const id of [randomUUID(), 'x', '%27', randomUUID().toUpperCase()]) {
    const there = `/sandbox/approvals/${id}`
    for (const answer of [await look(there), await press(there, 'approved')]) {
      expect([answer.status, answer.headers.get('content-type')]).toEqual([404, 'text/html; charset=utf-8'])
      expect(answer.text).toContain('Nothing here')
    }
  }
  const other = await send(api.url(), 'DELETE', path)
  expect([other.status, other.headers.get('allow')]).toEqual([405, 'GET, HEAD, POST'])
  expect((await send(api.url(), 'HEAD', path)).status).toBe(200)
})

test('a hostile name of a shop is shown as it is written, and nothing else', async () => {
  await api.request('PUT', '/merchant-accounts/default', { body: { display_name: hostile } })
  const { path } = await asked()
  const question = await look(path)
  await press(path, 'approved')
  for (const { text } of [question, await look(path)]) {
    expect(text).not.toContain('<script')
    expect(text).not.toContain('<img')
    expect(text).toContain(
      '&quot;&gt;&lt;script&gt;alert(1)&lt;/script&gt;&lt;img src=x onerror=&#39;alert(2)&#39;&gt; &amp; Söhne',
    )
  }
})

test('forms are for pages: an API route refuses one, and a page does not read JSON', async () => {
  const form = { rawBody: 'display_name=x', headers: { 'content-type': 'application/x-www-form-urlencoded' } }
  const { status, body } = await api.request('POST', '/buyers', form)
  expect([status, body['code']]).toEqual([400, 'bad_request'])
})

test('in production there are no such pages', async () => {
  const { path } = await asked()
  const config = apiConfig(api.database.url('florin_api'), { environment: 'production', vaultUrl: api.vault.url() })
  const production = await startApi(config, () => undefined)
  try {
    for (const method of ['GET', 'POST']) {
      const answer = await send(production.url, method, path)
      expect([answer.status, answer.headers.get('content-type')]).toEqual([404, 'application/json; charset=utf-8'])
    }
  } finally {
    await production.close()
  }
})
