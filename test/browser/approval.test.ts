import { createServer, type Server } from 'node:http'
import type { AddressInfo } from 'node:net'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { card, type Payment, usePayments } from '../payments.ts'
import { folder, type Look, looks, useBrowser } from './use-browser.ts'

/*
 * The sandbox's pages in a real browser, from the payment to the shop and back to the page.
 */

const payments = usePayments()
const { api } = payments
const { open, inspect } = useBrowser()
let shop: Server
let shopUrl = ''

beforeAll(async () => {
  await api.request('PUT', `/payment-services/${payments.service()}`, { body: { three_d_secure_enabled: true } })
  await api.request('PUT', '/merchant-accounts/default', { body: { display_name: 'Fine Books & Söhne' } })
  await payments.makeService({ payment_service_definition_id: 'mock-redirect' })
  // Another origin, as a shop is.
  shop = createServer((_request, response) => {
    response
      .setHeader('content-type', 'text/html; charset=utf-8')
      .end('<!doctype html><title>Shop</title><h1>Shop</h1>')
  })
  await new Promise<void>((resolve) => shop.listen(0, '127.0.0.1', resolve))
  shopUrl = `http://127.0.0.1:${(shop.address() as AddressInfo).port}/thanks`
})
afterAll(() => shop.close())

async function approvalUrl(change: object = {}): Promise<{ id: string; url: string }> {
  const { text, body } = await payments.pay({
    payment_method: card('4111111111111111', { redirect_url: shopUrl }),
    amount: 123456,
    ...change,
  })
  const { approval_url: url } = body['payment_method'] as { approval_url: string | null }
  if (!url) throw new Error(text)
  return { id: body.id, url }
}

const walks = [
  ['Approve', 'authorization_succeeded', 'Approved'],
  ['Reject', 'authorization_declined', 'Rejected'],
  ['Cancel and go back', 'authorization_failed', 'Cancelled'],
  ['Let it run out now', 'authorization_failed', 'Too late'],
] as const

/** One for each look; all of them where pictures are wanted. */
const walksIn = (look: Look) => (folder ? walks : walks.filter((_walk, index) => looks[index]?.[1] === look))

describe.each(looks)('%s', (name, look) => {
  test.each(walksIn(look))('%s: the buyer comes back to the shop, which hears %s', async (label, status, title) => {
    const { page, complaints } = await open(look)
    const { id, url } = await approvalUrl()
    await page.goto(url)
    await inspect(page, `question-${name}`)
    await page.getByRole('button', { name: label, exact: true }).click()
    await page.waitForURL(`${shopUrl}*`)
    const told = new URL(page.url()).searchParams
    expect([told.get('transaction_id'), told.get('transaction_status')]).toEqual([id, status])
    expect((await payments.get<Payment>(`/transactions/${id}`)).status).toBe(status)

    await page.goto(url)
    expect(await page.getByRole('heading', { level: 1 }).textContent()).toBe(title)
    await inspect(page, `${title.toLowerCase().replace(' ', '-')}-${name}`)
    await page.getByRole('link', { name: 'Back to the shop' }).click()
    await page.waitForURL(`${shopUrl}*`)
    expect(complaints).toEqual([])
  })

  test('redirect methods, stored ones, scenarios and what is not there', async () => {
    const { page, complaints } = await open(look)
    const method = { method: 'custom_redirect', currency: 'EUR', country: 'DE', redirect_url: shopUrl }
    await page.goto((await approvalUrl({ payment_method: method })).url)
    await inspect(page, `redirect-${name}`)
    const { body } = await api.request<{ approval_url: string }>('POST', '/payment-methods', { body: method })
    await page.goto(body.approval_url)
    await inspect(page, `enrolment-${name}`)
    await page.getByRole('button', { name: 'Allow' }).click()
    await page.waitForURL(`${shopUrl}*`)
    await api.request('POST', '/three-ds-scenarios', {
      body: {
        conditions: { external_identifier: 'ruled' },
        outcome: { authentication: { transaction_status: 'C' }, result: { transaction_status: 'N' } },
      },
    })
    await page.goto((await approvalUrl({ external_identifier: 'ruled' })).url)
    await inspect(page, `scenario-${name}`)
    expect(complaints).toEqual([])
    await page.goto(`${api.url()}/sandbox/approvals/${crypto.randomUUID()}`)
    await inspect(page, `nothing-${name}`)
  })
})

test('with the keyboard alone, and every stop can be seen', async () => {
  const { page } = await open({ width: 390, height: 844, colorScheme: 'light' })
  const { url } = await approvalUrl()
  await page.goto(url)
  const stops: unknown[] = []
  for (let stop = 0; stop < 4; stop += 1) {
    await page.keyboard.press('Tab')
    stops.push(
      await page.evaluate(
        '[document.activeElement.textContent, getComputedStyle(document.activeElement).outlineStyle]',
      ),
    )
  }
  expect(stops).toEqual(walks.map(([label]) => [label, 'solid']))
  if (folder) await page.screenshot({ path: join(folder, 'focus.png'), fullPage: true })
  await page.goto(url)
  await page.keyboard.press('Tab')
  await page.keyboard.press('Enter')
  await page.waitForURL(`${shopUrl}*transaction_status=authorization_succeeded`)
})

test('at 320 pixels, with the longest names and amounts, nothing is cut off', async () => {
  const { page } = await open({ width: 320, height: 640, colorScheme: 'light' })
  const name = 'Donaudampfschifffahrtselektrizitätenhauptbetriebswerkbauunterbeamtengesellschaft'
  await api.request('PUT', '/merchant-accounts/default', { body: { display_name: name } })
  await page.goto((await approvalUrl({ amount: 99_999_999 })).url)
  await inspect(page, 'narrow')
})

test('a page that wants to run a script, or to be framed, is stopped by the policy', async () => {
  const { page, complaints } = await open({ width: 1280, height: 900, colorScheme: 'light' })
  const { url } = await approvalUrl()
  await page.goto(url)
  await page.evaluate(
    "document.body.append(Object.assign(document.createElement('script'), { textContent: 'window.ran = 1' }))",
  )
  expect(await page.evaluate('window.ran')).toBeUndefined()
  expect(complaints.join()).toContain('Content Security Policy')
  await page.goto(shopUrl)
  await page.setContent(`<iframe src="${url}"></iframe>`)
  await expect.poll(() => complaints.join()).toContain('frame-ancestors')
})
