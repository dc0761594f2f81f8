import { once } from 'node:events'
import { createServer, type IncomingHttpHeaders, type IncomingMessage, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import { text } from 'node:stream/consumers'
import { rolledBack } from './points.ts'
import { acceptsHexForm, acceptsStandardForm } from './verify.ts'

/** Somebody who knows one secret, and whom every process from the given one on must convince. */
interface Verifier {
  secret: string
  sinceProcess: number
}

export interface Mailbox {
  verifiers: Verifier[]
  /** How often each event was taken, by its id. */
  taken: Map<string, number>
  /** When the last request came. */
  lastAt: number
}

/** Which process sends, by its password. */
function processOf({ authorization = '' }: IncomingHttpHeaders): number {
  const [, password] = Buffer.from(authorization.replace('Basic ', ''), 'base64').toString().split(':')
  return Number(password)
}

/** The other end of several subscriptions, each at a path of its own: takes events, and fails now and then. */
export async function startReceiver() {
  const mailboxes = new Map<string, Mailbox>()
  const counts = { requests: 0, failed: 0, cut: 0, answers_lost: 0, convinced_by_two: 0, refused: 0, of_rolled_back: 0 }
  const complaints: string[] = []
  let isCalm = false

  function look(mailbox: Mailbox, { headers }: IncomingMessage, body: string): boolean {
    const from = processOf(headers)
    const verifiers = mailbox.verifiers.filter(({ sinceProcess }) => from >= sinceProcess)
    if (verifiers.length > 1) counts.convinced_by_two += 1
    return (
      verifiers.length > 0 &&
      verifiers.every(
        ({ secret }) => acceptsHexForm(secret, headers, body) && acceptsStandardForm(secret, headers, body),
      )
    )
  }

  async function receive(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const mailbox = mailboxes.get(request.url ?? '')
    if (mailbox) mailbox.lastAt = Date.now()
    const body = await text(request)
    const answer = (status: number) => response.writeHead(status).end()
    counts.requests += 1
    const { id, target } = JSON.parse(body) as { id: string; target: { external_identifier: string | null } }
    if (!mailbox || !look(mailbox, request, body) || request.headers['webhook-id'] !== id) {
      counts.refused += 1
      if (complaints.length < 20) complaints.push(`refused: ${request.url} ${JSON.stringify(request.headers)} ${body}`)
      answer(401)
      return
    }
    const luck = isCalm ? 1 : Math.random()
    if (luck < 0.02) {
      counts.failed += 1
      answer(500)
    } else if (luck < 0.03) {
      counts.cut += 1
      request.socket.destroy()
    } else {
      mailbox.taken.set(id, (mailbox.taken.get(id) ?? 0) + 1)
      if (target.external_identifier === rolledBack) counts.of_rolled_back += 1
      if (luck < 0.035) {
        counts.answers_lost += 1
        request.socket.destroy()
      } else answer(204)
    }
  }

  // The sender may be killed while it sends.
  const server = createServer((request, response) => void receive(request, response).catch(() => request.destroy()))
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  const { port } = server.address() as AddressInfo
  return {
    counts,
    complaints,
    mailboxOf: (subscriptionId: string): Mailbox => {
      const path = `/${subscriptionId}`
      const mailbox = mailboxes.get(path) ?? { verifiers: [], taken: new Map<string, number>(), lastAt: 0 }
      mailboxes.set(path, mailbox)
      return mailbox
    },
    urlOf: (subscriptionId: string) => `http://127.0.0.1:${port}/${subscriptionId}`,
    calmDown: () => void (isCalm = true),
    async close(): Promise<void> {
      server.closeAllConnections()
      server.close()
      await once(server, 'close')
    },
  }
}

export type Receiver = Awaited<ReturnType<typeof startReceiver>>
