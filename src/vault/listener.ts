import { chmod, unlink } from 'node:fs/promises'
import { createServer as createHttpServer, type RequestListener, type Server } from 'node:http'
import { createServer as createHttpsServer } from 'node:https'
import { type AddressInfo, connect } from 'node:net'
import type { Address, TlsIdentity } from './protocol.ts'

export interface Listener {
  /** As a client writes it. */
  url: string
  /** Takes no more connections and lets what is under way finish. */
  close(): Promise<void>
}

export async function startListener(
  address: Address,
  tls: TlsIdentity | undefined,
  handler: RequestListener,
): Promise<Listener> {
  if (address.kind === 'unix') {
    await removeStale(address.path)
    const server = createHttpServer(handler)
    await listenOnSocket(server, address.path)
    await chmod(address.path, 0o660)
    return { url: `unix:${address.path}`, close: closing(server) }
  }
  if (!tls) throw new Error('tls:// needs certificates')
  const server = createHttpsServer(
    { ...tls, requestCert: true, rejectUnauthorized: true, minVersion: 'TLSv1.2' },
    handler,
  )
  await listening(server, () => server.listen(address.port, address.host))
  const { port } = server.address() as AddressInfo
  return { url: `tls://${address.host}:${port}`, close: closing(server) }
}

/** What a vault that was killed leaves behind. One that still answers is not stale. */
async function removeStale(path: string): Promise<void> {
  const code = await new Promise<string | undefined>((resolve) => {
    const probe = connect(path)
    probe.once('connect', () => {
      probe.destroy()
      resolve(undefined)
    })
    probe.once('error', (error: NodeJS.ErrnoException) => resolve(error.code))
  })
  if (code === undefined) throw new Error(`another vault listens on ${path} already`)
  if (code === 'ECONNREFUSED') await unlink(path)
}

async function listenOnSocket(server: Server, path: string): Promise<void> {
  // The file must not be open to others even for the moment until its mode is set.
  const before = process.umask(0o117)
  try {
    await listening(server, () => server.listen(path))
  } finally {
    process.umask(before)
  }
}

function listening(server: Server, listen: () => void): Promise<void> {
  // Connections are kept until one side ends: a client must not run into one that we close in that moment.
  server.keepAliveTimeout = 0
  server.headersTimeout = 10_000
  server.requestTimeout = 10_000
  return new Promise((resolve, reject) => {
    server.once('error', reject)
    server.once('listening', resolve)
    listen()
  })
}

const closing = (server: Server) => () =>
  new Promise<void>((resolve) => {
    // A connection that was busy a moment ago is idle now, and nobody else would close it.
    const sweep = setInterval(() => server.closeIdleConnections(), 20)
    server.close(() => {
      clearInterval(sweep)
      resolve()
    })
  })
