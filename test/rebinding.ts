import { once } from 'node:events'
import { type AddressInfo, createServer, type Server, type Socket } from 'node:net'
import { createOutbound, createResolve, OutboundError } from '../src/webhooks/outbound.ts'
import { startNameServer } from './name-server.ts'

/** Unassigned, and so nobody's. */
export const publicAddress = '3f00::1'

/** A host whose addresses change with every question: public ones, ours, and both together. */
const faces: readonly { A: readonly string[]; AAAA: readonly string[] }[] = [
  { A: [], AAAA: [publicAddress] },
  { A: ['127.0.0.1'], AAAA: [] },
  { A: [], AAAA: [publicAddress, '3f00::2'] },
  { A: ['127.0.0.1'], AAAA: [publicAddress] },
  { A: [], AAAA: ['::1'] },
  { A: [], AAAA: [publicAddress, '::1'] },
  { A: [], AAAA: ['::ffff:7f00:1'] },
  { A: ['0.0.0.0'], AAAA: [publicAddress] },
  { A: [], AAAA: ['64:ff9b::7f00:1'] },
]
const atOnce = 50

/** Tries to be led to this machine by a name server that answers differently each time. */
export async function rebind(options: { allowLoopback: boolean; tries: number }) {
  let connections = 0
  const count = (socket: Socket) => {
    connections += 1
    socket.on('error', () => undefined)
    socket.destroy()
  }
  const servers: [Server, Server] = [createServer(count), createServer(count)]
  await once(servers[0].listen(0, '127.0.0.1'), 'listening')
  const { port } = servers[0].address() as AddressInfo
  await once(servers[1].listen(port, '::1'), 'listening')
  const questions = new Map<string, number>()
  const nameServer = await startNameServer((name, type) => {
    const turn = questions.get(name + type) ?? 0
    questions.set(name + type, turn + 1)
    return faces[turn % faces.length]?.[type]
  })
  const { allowLoopback } = options
  const outbound = createOutbound({ allowLoopback, resolve: createResolve([nameServer.address]) })
  const outcomes: Record<string, number> = {}
  let left = options.tries
  const work = async (name: string) => {
    while (left > 0) {
      left -= 1
      const outcome = await outbound
        .post({ url: `https://${name}:${port}/`, headers: {}, body: '{}', deadlineMs: 1_500, wantsBody: false })
        .then(
          () => 'answered',
          (error: unknown) => (error instanceof OutboundError ? error.kind : String(error)),
        )
      outcomes[outcome] = (outcomes[outcome] ?? 0) + 1
    }
  }
  try {
    await Promise.all(Array.from({ length: atOnce }, (_none, index) => work(`host${index % 10}.example.com`)))
  } finally {
    outbound.close()
    await nameServer.close()
    for (const server of servers) await once(server.close(), 'close')
  }
  const tries = Object.values(outcomes).reduce((sum, some) => sum + some, 0)
  return { connections, outcomes, tries }
}
