import { readFileSync } from 'node:fs'
import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import { join } from 'node:path'
import { Florin, verifyWebhook, WebhookVerificationError } from '@florin/sdk'
import { page } from './page.ts'
import { createSeen } from './seen.ts'

interface ReceiverOptions {
  port?: number
  /** Of the subscription. A function, because the subscription can be made only when the address is known. */
  secret: () => string
}

export interface Receiver {
  url: string
  server: Server
}

const files: Readonly<Record<string, string>> = {
  '/receiver.css': 'text/css; charset=utf-8',
  '/live.js': 'text/javascript; charset=utf-8',
}
const policy =
  "default-src 'none'; script-src 'self'; style-src 'self'; connect-src 'self'; base-uri 'none'; frame-ancestors 'none'; form-action 'none'; img-src data:"

/** Takes webhooks at /hooks, and shows at / what came. */
export async function startReceiver({ port = 0, secret }: ReceiverOptions): Promise<Receiver> {
  const seen = createSeen()
  const watchers = new Set<ServerResponse>()
  const tellWatchers = () => {
    for (const watcher of watchers) watcher.write('data: changed\n\n')
  }

  async function receive(request: IncomingMessage, response: ServerResponse): Promise<void> {
    try {
      const event = await verifyWebhook({ body: await readBody(request), headers: request.headers, secret: secret() })
      // It may come twice; what follows from it must happen once. Real work belongs into a queue: answer within 5 seconds.
      seen.add(event)
      console.log(`${event.created_at} ${event.name}, verified`)
      response.writeHead(204).end()
    } catch (error) {
      if (!(error instanceof WebhookVerificationError)) throw error
      seen.refuse(error.message)
      console.error(`refused: ${error.message}`)
      response.writeHead(400).end(error.message)
    }
    tellWatchers()
  }

  function watch(response: ServerResponse): void {
    response.writeHead(200, { 'content-type': 'text/event-stream', 'cache-control': 'no-store' }).write(':\n\n')
    watchers.add(response)
    response.on('close', () => watchers.delete(response))
  }

  async function answer(request: IncomingMessage, response: ServerResponse): Promise<unknown> {
    const path = request.url ?? '/'
    const type = files[path]
    if (type !== undefined) {
      return response
        .writeHead(200, { 'content-type': type })
        .end(readFileSync(join(import.meta.dirname, 'public', path)))
    }
    if (request.method === 'POST' && path === '/hooks') return await receive(request, response)
    if (path === '/live') return watch(response)
    if (path === '/') return response.writeHead(200, { 'content-type': 'text/html; charset=utf-8' }).end(page(seen))
    return response.writeHead(404).end('Webhooks go to /hooks, people to /.')
  }

  const server = createServer((request, response) => {
    response.setHeader('content-security-policy', policy)
    answer(request, response).catch((error: unknown) => {
      console.error(String(error))
      response.writeHead(500).end()
    })
  })
  await new Promise<void>((resolve, reject) => server.once('error', reject).listen(port, '127.0.0.1', resolve))
  return { url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`, server }
}

const largestBody = 1_048_576

/** The bytes as they came: that is what is signed. */
async function readBody(request: IncomingMessage): Promise<Uint8Array<ArrayBuffer>> {
  const chunks: Buffer[] = []
  let size = 0
  for await (const chunk of request as AsyncIterable<Buffer>) {
    size += chunk.length
    if (size > largestBody) throw new WebhookVerificationError('The body is larger than any webhook')
    chunks.push(chunk)
  }
  return new Uint8Array(Buffer.concat(chunks))
}

/** Subscribes with the key of `npm run dev`, and unsubscribes at the end. */
async function subscribe(url: string): Promise<string> {
  const {
    API_URL: baseUrl = 'http://127.0.0.1:8080',
    PRIVATE_KEY_FILE: keyFile = join(import.meta.dirname, '../../.florin/private-key.pem'),
  } = process.env
  const florin = new Florin({ baseUrl, privateKey: readFileSync(keyFile, 'utf8') })
  // Of a run that could not tidy up after itself.
  for await (const old of florin.webhookSubscriptions.list()) {
    if (old.url === url) await florin.webhookSubscriptions.delete(old.id)
  }
  const { id, secret } = await florin.webhookSubscriptions.create({ url })
  const leave = () =>
    florin.webhookSubscriptions.delete(id).then(
      () => process.exit(0),
      () => process.exit(1),
    )
  for (const signal of ['SIGINT', 'SIGTERM']) process.once(signal, () => void leave())
  return secret ?? ''
}

if (import.meta.main) {
  const { PORT: port = '3000', WEBHOOK_SECRET: given = '' } = process.env
  const giveUp = (message: string): never => {
    console.error(message)
    process.exit(1)
  }
  let secret = given
  const { url } = await startReceiver({ port: Number(port), secret: () => secret }).catch(
    (error: NodeJS.ErrnoException) =>
      giveUp(
        error.code === 'EADDRINUSE'
          ? `Port ${port} is in use by another program. Choose another: PORT=3001 npm run example:webhook-receiver`
          : `The receiver cannot start: ${error.message}`,
      ),
  )
  if (secret === '') {
    secret = await subscribe(`${url}/hooks`).catch((error: Error) =>
      giveUp(
        `It could not subscribe: ${error.message}\nStart "npm run dev" in another terminal, or set WEBHOOK_SECRET to the secret of a subscription you made.`,
      ),
    )
  }
  console.log(`Webhooks are taken at ${url}/hooks and shown at ${url}. Ctrl-C ends it.`)
}
