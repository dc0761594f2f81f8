import { createServer, type Server } from 'node:http'
import type { AddressInfo } from 'node:net'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { findStaticFiles } from '../../src/http/static-files.ts'
import { folder, type Look, useBrowser } from './use-browser.ts'

/*
 * The documents in a real browser, as the api serves them and under its policy. A page of each kind; with SCREENSHOTS=<folder> every page,
 * with a picture of each.
 */

const files = findStaticFiles()
const kinds = [
  '/docs/guides',
  '/docs/guides/quickstart',
  '/docs/errors/insufficient_service_permissions',
  '/docs/statuses',
]
const all = [...files.keys()].filter((path) => files.get(path)?.().headers['content-type']?.startsWith('text/html'))
const pages = folder ? all : kinds

const browser = useBrowser()
let server: Server
let url = ''

beforeAll(async () => {
  server = createServer((request, response) => {
    const file = files.get(decodeURIComponent(request.url ?? ''))?.()
    response.writeHead(file ? 200 : 404, file?.headers).end(file?.content)
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`
})
afterAll(() => server.close())

const phone: Look = { width: 390, height: 844, colorScheme: 'light' }
const desktop: Look = { width: 1400, height: 900, colorScheme: 'dark' }
const looks: [name: string, look: Look][] = [
  ['phone', phone],
  ['desktop-dark', desktop],
  ...(folder ? [['desktop', { ...desktop, colorScheme: 'light' }] satisfies [string, Look]] : []),
]

/** All of the reference at once would take axe minutes: what its sections have in common, and one operation, open. */
const partsOfReference = [
  'body > header',
  'nav',
  '#section-introduction',
  '#section-errors',
  'details:has(> #createTransaction)',
]

describe.each(looks)('%s', (name, look) => {
  test.each(pages)('%s: nothing is cut off, and nothing keeps anybody out', async (path) => {
    const { page, complaints } = await browser.open(look)
    await page.goto(url + path)
    await page.evaluate("document.querySelector('details:has(> #createTransaction)')?.setAttribute('open', '')")
    const parts = path === '/docs' ? partsOfReference : undefined
    await browser.inspect(page, `${path.slice(1).replaceAll('/', '-')}-${name}`, parts)
    expect(complaints).toEqual([])
  })
})

test('a reader finds a page with the keyboard, and everything on it', async () => {
  const { page, complaints } = await browser.open(desktop)
  await page.goto(`${url}/docs/guides`)
  await page.keyboard.press('Tab')
  expect(await page.evaluate('document.activeElement.textContent')).toBe('Skip to the content')
  await page.keyboard.press('/')
  await page.keyboard.type('insufficient funds')
  await page.getByText('1 found').waitFor()
  await page.keyboard.press('Enter')
  await page.waitForURL(`${url}/docs/errors/insufficient_funds`)
  await page.keyboard.press('/')
  await page.keyboard.type('nothing like this')
  await page.getByText('Nothing matches').waitFor()
  await page.keyboard.press('Escape')
  await page.getByRole('link', { name: 'Quickstart', exact: true }).click()
  await page.waitForURL(`${url}/docs/guides/quickstart`)
  await page.getByRole('button', { name: 'Copy: Shell' }).first().click()
  await page
    .getByRole('button', { name: 'Copy: Shell' })
    .first()
    .getByText(/^(Copied|Select and copy)$/)
    .waitFor()
  expect(await page.getByRole('link', { name: 'Reference', exact: true }).getAttribute('href')).toBe('/docs')
  expect(complaints).toEqual([])
})

test('on a phone the contents are out of the way until they are asked for', async () => {
  const { page } = await browser.open(phone)
  await page.goto(`${url}/docs/guides/quickstart`)
  const link = page.getByRole('navigation').getByRole('link', { name: 'Error codes' })
  expect(await link.isVisible()).toBe(false)
  await page.getByText('Contents', { exact: true }).click()
  await link.click()
  await page.waitForURL(`${url}/docs/errors`)
})

test('commands of the reference are for the Florin that serves it', async () => {
  const { page, complaints } = await browser.open(desktop)
  await page.goto(`${url}/docs`)
  await page.getByText(`export BASE_URL='${url}'`).waitFor()
  expect(complaints).toEqual([])
})
