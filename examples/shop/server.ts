import { readFileSync } from 'node:fs'
import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import { join } from 'node:path'
import { Florin } from '@florin/sdk'
import { products } from './catalogue.ts'
import { createOrders, type Order, type Outcome } from './orders.ts'
import { brokenPage, cataloguePage, checkoutPage, missingPage, thanksPage, waitPage } from './pages.ts'

interface ShopOptions {
  /** Where Florin is, for this server and for buyers' browsers. */
  florinUrl: string
  privateKey: string
  port?: number
  /** One line for each request. */
  log?: (line: string) => void
}

const files: Readonly<Record<string, string>> = {
  '/shop.css': 'text/css; charset=utf-8',
  '/checkout.js': 'text/javascript; charset=utf-8',
  '/icon.svg': 'image/svg+xml',
  ...Object.fromEntries(products.map(({ id }) => [`/${id}.svg`, 'image/svg+xml'])),
}

/** A shop that takes cards without ever seeing one. */
export async function startShop({
  florinUrl,
  privateKey,
  port = 0,
  log = () => undefined,
}: ShopOptions): Promise<Shop> {
  const florin = new Florin({ baseUrl: florinUrl, privateKey })
  const orders = createOrders(florin, () => shopUrl)
  // The browser may talk to this shop and to Florin, and to nobody else.
  const policy = `default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self'; connect-src 'self' ${new URL(florinUrl).origin}; form-action 'self'; base-uri 'none'; frame-ancestors 'none'`

  const show = (response: ServerResponse, html: string, status = 200) =>
    response.writeHead(status, { 'content-type': 'text/html; charset=utf-8' }).end(html)
  const lead = (response: ServerResponse, location: string) => response.writeHead(303, { location }).end()

  /** After the buyer was asked: what they see, by how the payment stands. */
  function present(response: ServerResponse, order: Order, outcome: Outcome) {
    switch (outcome.kind) {
      case 'paid':
        return show(response, thanksPage(order))
      case 'open':
        return show(response, waitPage(order))
      case 'approve':
        return lead(response, outcome.url)
      case 'again':
        return show(response, checkoutPage(order, florinUrl, outcome.message))
    }
  }

  /** For the script of the checkout page. */
  function tell(response: ServerResponse, order: Order, outcome: Outcome) {
    const next = outcome.kind === 'approve' ? outcome.url : `/return?order=${order.id}`
    const answer = outcome.kind === 'again' ? { message: outcome.message, session: order.sessionId } : { next }
    return response.writeHead(200, { 'content-type': 'application/json' }).end(JSON.stringify(answer))
  }

  async function answer(request: IncomingMessage, response: ServerResponse): Promise<unknown> {
    const { pathname, searchParams } = new URL(request.url ?? '/', shopUrl)
    const type = files[pathname]
    if (type !== undefined) return response.writeHead(200, { 'content-type': type }).end(readPublic(pathname))
    switch (`${request.method} ${pathname}`) {
      case 'GET /':
        return show(response, cataloguePage())
      case 'POST /orders': {
        const wanted = (await readForm(request)).get('product')
        const product = products.find(({ id }) => id === wanted)
        if (!product) return show(response, missingPage(), 404)
        return lead(response, `/checkout?order=${(await orders.begin(product)).id}`)
      }
      case 'GET /checkout': {
        const order = orders.find(searchParams.get('order'))
        if (!order) return show(response, missingPage(), 404)
        if (order.transactionId !== undefined) return lead(response, `/return?order=${order.id}`)
        return show(response, checkoutPage(order, florinUrl, undefined))
      }
      case 'POST /pay': {
        const order = orders.find((await readForm(request)).get('order'))
        return order ? tell(response, order, await orders.pay(order)) : response.writeHead(404).end()
      }
      case 'GET /return': {
        const order = orders.find(searchParams.get('order'))
        return order ? present(response, order, await orders.look(order)) : show(response, missingPage(), 404)
      }
      default:
        return show(response, missingPage(), 404)
    }
  }

  const server = createServer((request, response) => {
    response.setHeader('content-security-policy', policy)
    response.setHeader('referrer-policy', 'same-origin')
    response.setHeader('x-content-type-options', 'nosniff')
    response.on('finish', () => log(`${request.method} ${request.url} ${response.statusCode}`))
    answer(request, response).catch((error: unknown) => {
      log(`${request.method} ${request.url}: ${String(error)}`)
      show(response, brokenPage(), 502)
    })
  })
  await new Promise<void>((resolve, reject) => server.once('error', reject).listen(port, '127.0.0.1', resolve))
  const shopUrl = `http://127.0.0.1:${(server.address() as AddressInfo).port}`
  return { url: shopUrl, server }
}

export interface Shop {
  url: string
  server: Server
}

const readPublic = (path: string) => readFileSync(join(import.meta.dirname, 'public', path))

const longestForm = 1_000

async function readForm(request: IncomingMessage): Promise<URLSearchParams> {
  let text = ''
  for await (const chunk of request) {
    text += String(chunk)
    if (text.length > longestForm) throw new Error('a form that is too long')
  }
  return new URLSearchParams(text)
}

if (import.meta.main) {
  const {
    API_URL: florinUrl = 'http://127.0.0.1:8080',
    PRIVATE_KEY_FILE: keyFile = join(import.meta.dirname, '../../.florin/private-key.pem'),
    PORT: port = '4000',
  } = process.env
  const giveUp = (message: string): never => {
    console.error(message)
    process.exit(1)
  }
  let privateKey = ''
  try {
    privateKey = readFileSync(keyFile, 'utf8')
  } catch {
    giveUp(`There is no key at ${keyFile}. Start "npm run dev" in another terminal, or name one with PRIVATE_KEY_FILE.`)
  }
  const { url } = await startShop({ florinUrl, privateKey, port: Number(port), log: console.log }).catch(
    (error: NodeJS.ErrnoException) =>
      giveUp(
        error.code === 'EADDRINUSE'
          ? `Port ${port} is in use by another program. Choose another: PORT=4001 npm run example:shop`
          : `The shop cannot open: ${error.message}`,
      ),
  )
  console.log(`The shop is open at ${url}. Payments go to ${florinUrl}. Ctrl-C closes it.`)
}
