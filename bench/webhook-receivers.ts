import { createServer, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'

/**
 * Receivers of webhooks in a process of their own, one port for each behaviour in the arguments. First says its ports over IPC, then to each question
 * what has arrived since the last, and takes other behaviours.
 */
export type Behaviour = 'good' | 'hang' | 'error' | 'drip' | 'gigabyte'

/** Of each event that arrived, in order: its id, which receiver it was and when. */
export interface Arrivals {
  events: string[]
  receivers: number[]
  times: number[]
}

export interface Change {
  receiver: number
  behaviour: Behaviour
}

const behaviours = process.argv.slice(2) as Behaviour[]
const nothing = (): Arrivals => ({ events: [], receivers: [], times: [] })
let arrivals = nothing()

const answers: Record<Behaviour, (response: ServerResponse) => void> = {
  good: (response) => response.writeHead(204).end(),
  hang: () => undefined,
  error: (response) => response.writeHead(500).end(),
  drip(response) {
    response.writeHead(200)
    const timer = setInterval(() => response.write('.'), 1_000)
    response.once('close', () => clearInterval(timer))
  },
  gigabyte(response) {
    const chunk = Buffer.alloc(64 * 1024)
    let left = 2 ** 30
    response.writeHead(200, { 'content-length': left })
    const pour = () => {
      while (left > 0 && !response.destroyed) {
        left -= chunk.length
        if (!response.write(chunk)) return
      }
      response.end()
    }
    response.on('drain', pour)
    pour()
  },
}

const ports = behaviours.map(async (_behaviour, receiver) => {
  const server = createServer({ keepAliveTimeout: 60_000 }, (request, response) => {
    arrivals.events.push(String(request.headers['webhook-id']))
    arrivals.receivers.push(receiver)
    arrivals.times.push(Date.now())
    request.resume()
    request.once('end', () => answers[behaviours[receiver] ?? 'good'](response))
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  return (server.address() as AddressInfo).port
})

process.on('message', (message: 'totals' | Change) => {
  if (message !== 'totals') {
    behaviours[message.receiver] = message.behaviour
    return
  }
  process.send?.(arrivals)
  arrivals = nothing()
})
process.once('disconnect', () => process.exit(1))
process.send?.(await Promise.all(ports))
