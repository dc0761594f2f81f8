import type { Page } from 'playwright-core'
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest'
import { type Receiver, startReceiver } from '../../examples/webhook-receiver/server.ts'
import { type Shop, startShop } from '../../examples/shop/server.ts'
import { startWorker, type Worker } from '../../src/main/worker.ts'
import { signatureHeaders } from '../../src/webhooks/sign.ts'
import { usePayments } from '../payments.ts'
import { workerConfig } from '../worker.ts'
import { folder, looks, useBrowser } from './use-browser.ts'

/* The examples as a buyer and a developer meet them: in a real browser, on a real API, with a real worker. */

const payments = usePayments({ webhookLoopback: true })
const { api } = payments
const { open, inspect } = useBrowser()
const desktop = { width: 1280, height: 900, colorScheme: 'light' } as const

let shop: Shop
let receiver: Receiver
let worker: Worker
let secret = ''
let logs: string[] = []

beforeAll(async () => {
  await api.request('PUT', `/payment-services/${payments.service()}`, { body: { three_d_secure_enabled: true } })
  shop = await startShop({
    florinUrl: api.url(),
    privateKey: api.owner().privateKeyPem,
    log: (line) => logs.push(line),
  })
  receiver = await startReceiver({ secret: () => secret })
  worker = await startWorker(workerConfig(api))
})
afterAll(async () => {
  await worker.close()
  for (const { server } of [shop, receiver]) {
    server.closeAllConnections()
    server.close()
  }
})
beforeEach(() => {
  logs = []
})

interface Card {
  number?: string
  expires?: string
  code?: string
}

async function begin(page: Page, product = 'Notebook'): Promise<void> {
  await page.goto(shop.url)
  await page.getByRole('button', { name: `Buy ${product}` }).click()
  await page.waitForURL('**/checkout?order=*')
}

async function pay(page: Page, { number = '4111111111111111', expires = '12/30', code = '123' }: Card = {}) {
  await page.getByLabel('Card number').fill(number)
  await page.getByLabel('Expiry date').fill(expires)
  await page.getByLabel('Security code').fill(code)
  await page.getByRole('button', { name: /^Pay/ }).click()
}

const heading = (page: Page, name: string) => page.getByRole('heading', { level: 1, name }).waitFor()

/** The payments of the order that the page is about, by what Florin says. */
async function paymentsOf(page: Page): Promise<string[]> {
  const order = new URL(page.url()).searchParams.get('order')
  const { items } = await payments.get<{ items: { status: string; amount: number }[] }>(
    `/transactions?external_identifier=${order}`,
  )
  return items.map(({ status, amount }) => `${status} ${amount}`)
}

// Two ways to look are enough to find mistakes; all of them are for people who want to see the pictures.
const [phone, , , darkDesktop] = looks
const shown = folder === undefined && phone && darkDesktop ? [phone, darkDesktop] : looks

describe.each(shown)('the shop, %s', (name, look) => {
  test('a buyer pays, with 3-D Secure, and every page is fit to be seen', async () => {
    const { page, complaints } = await open(look)
    await page.goto(shop.url)
    await inspect(page, `shop-catalogue-${name}`)
    await begin(page)
    await inspect(page, `shop-checkout-${name}`)
    await pay(page, { number: '123', expires: '13/30', code: '' })
    await expect.poll(() => page.locator('[aria-invalid]').count()).toBe(3)
    await inspect(page, `shop-fields-${name}`)
    await pay(page)
    await page.getByRole('button', { name: 'Approve', exact: true }).click()
    await heading(page, 'Thank you')
    await inspect(page, `shop-thanks-${name}`)
    expect(await paymentsOf(page)).toEqual(['capture_succeeded 1290'])
    expect(complaints).toEqual([])
  })
})

test('the card number and the security code reach Florin and never the shop', async () => {
  const { page } = await open(desktop)
  const sent: { url: string; text: string }[] = []
  page.on('request', (request) => {
    const text = [request.url(), JSON.stringify(request.headers()), request.postData() ?? ''].join(' ')
    sent.push({ url: request.url(), text })
  })
  await begin(page)
  await pay(page, { number: '4000000000005001', code: '987' })
  await heading(page, 'Thank you')
  // Not as a part of a port, an id or a time.
  const secrets = /4000\D?0000|(?<![\w.])987(?!\w)/
  const carries = ({ text }: { text: string }) => text.includes('4000000000005001') || text.includes('"987"')
  expect(sent.filter(carries).map(({ url }) => new URL(url).origin)).toEqual([new URL(api.url()).origin])
  const toShop = sent.filter(({ url }) => url.startsWith(shop.url))
  expect(toShop.length).toBeGreaterThan(3)
  expect(toShop.filter(({ text }) => secrets.test(text))).toEqual([])
  expect(logs.length).toBeGreaterThan(3)
  expect(logs.join('\n')).not.toMatch(secrets)
})

test('a buyer who rejects the payment is told so, and can pay after all', async () => {
  const { page, complaints } = await open(desktop)
  await begin(page, 'Postcards')
  await pay(page)
  await page.getByRole('button', { name: 'Reject', exact: true }).click()
  await page.getByText('Your bank did not confirm the payment').waitFor()
  await inspect(page, 'shop-rejected')
  expect(await paymentsOf(page)).toEqual(['authorization_declined 950'])
  await pay(page, { number: '4000000000005001' })
  await heading(page, 'Thank you')
  expect(await paymentsOf(page)).toEqual(['capture_succeeded 950', 'authorization_declined 950'])
  expect(complaints).toEqual([])
})

test('a declined card gets a friendly message on the same page, and another card is paid', async () => {
  const { page, complaints } = await open({ ...desktop, width: 390, height: 844 })
  await begin(page)
  await pay(page, { number: '4000000000005035' })
  await page.getByRole('alert').getByText('Your bank did not confirm').waitFor()
  await inspect(page, 'shop-declined-phone')
  await pay(page, { number: '4000000000005001' })
  await heading(page, 'Thank you')
  expect(complaints).toEqual([])
})

test('what a page says of a price, or of an outcome, is not believed', async () => {
  const { page } = await open(desktop)
  await begin(page)
  const order = new URL(page.url()).searchParams.get('order')
  await page.goto(`${shop.url}/return?order=${order}&transaction_status=capture_succeeded&amount=1`)
  await page.getByText('This order is not paid yet').waitFor()
  await page.evaluate("document.getElementById('payment').dataset.amount = '1'")
  await pay(page, { number: '4000000000005001' })
  await heading(page, 'Thank you')
  expect(await paymentsOf(page)).toEqual(['capture_succeeded 1290'])
})

test('a script that is not the shop’s is not run', async () => {
  const { page, complaints } = await open(desktop)
  await begin(page)
  await page.evaluate(
    "document.body.append(Object.assign(document.createElement('script'), { textContent: 'ran = 1' }))",
  )
  expect(await page.evaluate('typeof ran')).toBe('undefined')
  expect(complaints.join()).toContain('Content Security Policy')
})

test('the receiver says what to do first, then shows a webhook when it comes; a copy once, a forged one not at all', async () => {
  const { page, complaints } = await open(desktop)
  await page.goto(receiver.url)
  await page.getByText('Live', { exact: true }).waitFor()
  expect(await page.locator('code').textContent()).toBe('npx florin trigger transaction.captured')
  await inspect(page, 'receiver-empty')

  const url = `${receiver.url}/hooks`
  const { body: made } = await api.request<{ secret: string }>('POST', '/webhook-subscriptions', { body: { url } })
  secret = made.secret
  await api.request('POST', '/buyers', { body: { display_name: 'Ada' } })
  await page.getByText('buyer.created').waitFor()

  const event = {
    id: '0192f4a6-7e0c-7c33-b1de-3f1a2b4c5d6e',
    name: 'refund.succeeded',
    target: { type: 'refund', id: '<b>1' },
  }
  const body = JSON.stringify(event)
  const headers = signatureHeaders({ prefix: 'X-Service-', id: event.id, now: new Date(), body, secrets: [secret] })
  const send = (text: string) => fetch(url, { method: 'POST', headers, body: text }).then(({ status }) => status)
  expect([await send(body), await send(body), await send(body.replace('succeeded', 'failed'))]).toEqual([204, 204, 400])
  await page.getByText('2 times, taken once').waitFor()
  await page.getByText('1 refused.').waitFor()
  expect(await page.locator('li').count()).toBe(2)
  await inspect(page, 'receiver-events')
  await page.setViewportSize({ width: 390, height: 844 })
  await inspect(page, 'receiver-events-phone')
  expect(complaints).toEqual([])
})
