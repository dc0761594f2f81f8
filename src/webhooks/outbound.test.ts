import { once } from 'node:events'
import { createServer as createHttpServer, type RequestListener } from 'node:http'
import { createServer as createHttpsServer } from 'node:https'
import { type AddressInfo, createServer, type Server, type Socket } from 'node:net'
import { getCACertificates, setDefaultCACertificates } from 'node:tls'
import { gzipSync } from 'node:zlib'
import { expect, onTestFinished, test } from 'vitest'
import { makeAuthority } from '../../test/certificates.ts'
import { hostileTargets } from '../../test/hostile-targets.ts'
import { startNameServer } from '../../test/name-server.ts'
import { publicAddress, rebind } from '../../test/rebinding.ts'
import { createOutbound, createResolve, type Outbound, OutboundError, type Resolve } from './outbound.ts'

function useOutbound(options: { allowLoopback: boolean; resolve?: Resolve }): Outbound {
  const outbound = createOutbound(options)
  onTestFinished(() => outbound.close())
  return outbound
}

async function listening(server: Server, host = '127.0.0.1', port = 0): Promise<number> {
  const sockets = new Set<Socket>()
  server.on('connection', (socket) => {
    sockets.add(socket)
    socket.on('error', () => undefined)
    socket.once('close', () => sockets.delete(socket))
  })
  server.listen(port, host)
  await once(server, 'listening')
  onTestFinished(async () => {
    for (const socket of sockets) socket.destroy()
    server.close()
    await once(server, 'close')
  })
  return (server.address() as AddressInfo).port
}

/** A receiver that speaks HTTP, and how many connections it has seen. */
async function receive(answer: RequestListener): Promise<{ url: string; connections: () => number }> {
  let connections = 0
  const server = createHttpServer((request, response) => {
    request.resume()
    request.once('end', () => answer(request, response))
  })
  server.on('connection', () => (connections += 1))
  return { url: `http://127.0.0.1:${await listening(server)}/hooks`, connections: () => connections }
}

/** A receiver that does as it likes with a connection once something came over it. */
async function misbehave(behave: (socket: Socket) => void): Promise<string> {
  const server = createServer((socket) => void socket.once('data', () => behave(socket)))
  return `http://127.0.0.1:${await listening(server)}/`
}

const say = (outbound: Outbound, url: string, deadlineMs = 60_000, wantsBody = true) =>
  outbound.post({ url, headers: { 'content-type': 'application/json' }, body: '{"a":"ü"}', deadlineMs, wantsBody })

const kindOf = async (answer: Promise<unknown>) => {
  const error = await answer.then(
    () => undefined,
    (error: unknown) => error,
  )
  return error instanceof OutboundError ? error.kind : error
}

test('the body arrives as it is, with its headers, and the answer comes back as it is', async () => {
  const seen: unknown[] = []
  const server = createHttpServer((request, response) => {
    const chunks: Buffer[] = []
    request.on('data', (chunk: Buffer) => chunks.push(chunk))
    request.once('end', () => {
      const { host, 'content-length': length, 'content-type': type } = request.headers
      seen.push({
        method: request.method,
        url: request.url,
        host,
        length,
        type,
        body: Buffer.concat(chunks).toString(),
      })
      response.writeHead(202, { 'x-answer': 'yes' }).end('taken')
    })
  })
  const port = await listening(server)
  const answer = await say(useOutbound({ allowLoopback: true }), `http://localhost:${port}/hooks?a=b`)
  expect(answer).toMatchObject({ status: 202, headers: { 'x-answer': 'yes' }, body: Buffer.from('taken') })
  expect(seen).toEqual([
    {
      method: 'POST',
      url: '/hooks?a=b',
      host: `localhost:${port}`,
      length: '10',
      type: 'application/json',
      body: '{"a":"ü"}',
    },
  ])
})

test('requests after each other share a connection', async () => {
  const { url, connections } = await receive((_request, response) => response.end())
  const outbound = useOutbound({ allowLoopback: true })
  for (let count = 0; count < 5; count += 1) await say(outbound, url)
  expect(connections()).toBe(1)
})

test('a connection that the receiver closes when it is used again is replaced by a new one', async () => {
  const answered = new Set<Socket>()
  const { url, connections } = await receive((request, response) => {
    if (answered.has(request.socket)) return request.socket.destroy()
    answered.add(request.socket)
    response.end()
  })
  const outbound = useOutbound({ allowLoopback: true })
  await say(outbound, url)
  expect((await say(outbound, url)).status).toBe(200)
  expect(connections()).toBe(2)
})

test('a redirect is an answer like any other and is not followed', async () => {
  const elsewhere = await receive((_request, response) => response.end())
  const targets = ['http://169.254.169.254/latest/meta-data/', elsewhere.url, '//127.0.0.1/', '/again']
  const statuses = [301, 302, 303, 307, 308]
  let requests = 0
  const { url } = await receive((_request, response) => {
    const location = targets[requests % targets.length] ?? ''
    response.writeHead(statuses[requests % statuses.length] ?? 302, { location }).end()
    requests += 1
  })
  const outbound = useOutbound({ allowLoopback: true })
  const answers = []
  for (let count = 0; count < 20; count += 1) answers.push((await say(outbound, url)).status)
  expect(answers).toEqual([...statuses, ...statuses, ...statuses, ...statuses])
  expect(requests).toBe(20)
  expect(elsewhere.connections()).toBe(0)
})

test('a compressed answer stays compressed', async () => {
  const bomb = gzipSync(Buffer.alloc(10_000_000))
  const { url } = await receive((_request, response) => {
    response.writeHead(200, { 'content-encoding': 'gzip' }).end(bomb)
  })
  expect((await say(useOutbound({ allowLoopback: true }), url)).body.equals(bomb)).toBe(true)
})

test('hostile targets are refused when they are called, too', async () => {
  const outbound = useOutbound({ allowLoopback: false, resolve: () => Promise.resolve(['127.0.0.1']) })
  const kinds = await Promise.all(hostileTargets.map((url) => kindOf(say(outbound, url))))
  expect(new Set(kinds)).toEqual(new Set(['forbidden_address']))
})

test('one forbidden address among those of a host refuses all of them, wherever it stands', async () => {
  const port = await listening(createServer())
  for (const forbidden of ['127.0.0.1', '::1', '10.0.0.1', '::ffff:127.0.0.1', '64:ff9b::7f00:1', 'no address']) {
    for (const place of [0, 1, 2]) {
      const addresses = [publicAddress, publicAddress].toSpliced(place, 0, forbidden)
      const outbound = useOutbound({ allowLoopback: false, resolve: () => Promise.resolve(addresses) })
      expect(await kindOf(say(outbound, `https://hooks.example.com:${port}/`, 2_000))).toBe('forbidden_address')
    }
  }
})

test('a name that leads to this machine is refused without TLS where the name says otherwise', async () => {
  const outbound = useOutbound({ allowLoopback: true, resolve: () => Promise.resolve(['127.0.0.1']) })
  expect(await kindOf(say(outbound, 'http://hooks.example.com/'))).toBe('forbidden_address')
})

test('a host whose addresses change all the time never leads to this machine', async () => {
  const { connections, outcomes, tries } = await rebind({ allowLoopback: false, tries: 300 })
  expect(connections).toBe(0)
  expect(tries).toBe(300)
  expect(outcomes['forbidden_address']).toBeGreaterThan(30)
})

test('the same host leads to this machine where that is allowed', async () => {
  expect((await rebind({ allowLoopback: true, tries: 300 })).connections).toBeGreaterThan(0)
})

test('a host that does not exist, and one whose name server is silent', async () => {
  const nameServer = await startNameServer((name) => (name.startsWith('silent') ? undefined : []))
  onTestFinished(() => nameServer.close())
  const outbound = useOutbound({ allowLoopback: false, resolve: createResolve([nameServer.address]) })
  expect(await kindOf(say(outbound, 'https://nobody.example.com/'))).toBe('dns')
  expect(await kindOf(say(outbound, 'https://silent.example.com/', 50))).toBe('timeout')
})

test('a port where nobody listens', async () => {
  const server = createServer()
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  const { port } = server.address() as AddressInfo
  server.close()
  await once(server, 'close')
  const outbound = useOutbound({ allowLoopback: true })
  expect(await kindOf(say(outbound, `http://127.0.0.1:${port}/`))).toBe('connect')
  expect(await kindOf(say(outbound, `http://localhost:${port}/`))).toBe('connect')
})

test('a certificate must be of somebody trusted, and of the host', async () => {
  const authority = makeAuthority('Test')
  const names: unknown[] = []
  const server = createHttpsServer({ ...authority.issue('hooks') }, (request, response) => {
    names.push([request.headers.host, (request.socket as { servername?: string }).servername])
    request.resume()
    response.end()
  })
  const port = await listening(server)
  const resolve = () => Promise.resolve(['127.0.0.1'])
  expect(await kindOf(say(useOutbound({ allowLoopback: true, resolve }), `https://localhost:${port}/`))).toBe('tls')
  const before = getCACertificates('default')
  setDefaultCACertificates([authority.ca])
  onTestFinished(() => setDefaultCACertificates(before))
  const outbound = useOutbound({ allowLoopback: true, resolve })
  expect((await say(outbound, `https://localhost:${port}/`)).status).toBe(200)
  expect((await say(outbound, `https://127.0.0.1:${port}/`)).status).toBe(200)
  expect(await kindOf(say(outbound, `https://hooks.example.com:${port}/`))).toBe('tls')
  expect(names).toEqual([
    [`localhost:${port}`, 'localhost'],
    [`127.0.0.1:${port}`, false],
  ])
})

const head = 'HTTP/1.1 200 OK\r\n'
/** Until the connection is gone. */
function keepSaying(socket: Socket, text: string, everyMs: number): void {
  const timer = setInterval(() => socket.write(text), everyMs)
  socket.once('close', () => clearInterval(timer))
}

const slow: Record<string, (socket: Socket) => void> = {
  'says nothing': () => undefined,
  'drips its headers': (socket) => {
    socket.write(head)
    keepSaying(socket, 'a', 20)
  },
  'drips its body': (socket) => {
    socket.write(`${head}content-length: 1000000\r\n\r\n`)
    keepSaying(socket, 'a', 20)
  },
  'drips a body without an end': (socket) => {
    socket.write(`${head}transfer-encoding: chunked\r\n\r\n`)
    keepSaying(socket, '1\r\na\r\n', 20)
  },
  'puts the answer off for ever': (socket) => keepSaying(socket, 'HTTP/1.1 102 Processing\r\n\r\n', 20),
}

test.for(Object.entries(slow))('a receiver that %s is cut off at the deadline', async ([, behave]) => {
  const { promise: closed, resolve: close } = Promise.withResolvers<void>()
  const url = await misbehave((socket) => {
    socket.once('close', () => close())
    behave(socket)
  })
  expect(await kindOf(say(useOutbound({ allowLoopback: true }), url, 300))).toBe('timeout')
  await closed
})

test('whoever waits for a connection to a host that hangs is told at the deadline, too', async () => {
  const url = await misbehave(() => undefined)
  const outbound = useOutbound({ allowLoopback: true })
  const kinds = await Promise.all(Array.from({ length: 200 }, () => kindOf(say(outbound, url, 300))))
  expect(new Set(kinds)).toEqual(new Set(['timeout']))
})

/** As fast as it is taken, a gigabyte at most. Tells how much was taken when the connection is gone. */
async function flood(start: string, piece: Buffer): Promise<{ url: string; taken: Promise<number> }> {
  const { promise: taken, resolve } = Promise.withResolvers<number>()
  const url = await misbehave((socket) => {
    let left = 2 ** 30
    const pour = () => {
      while (left > 0 && !socket.destroyed) {
        left -= piece.length
        if (!socket.write(piece)) return
      }
    }
    socket.once('close', () => resolve(2 ** 30 - left))
    socket.on('drain', pour)
    socket.write(start)
    pour()
  })
  return { url, taken }
}

const fewMegabytes = 32 * 2 ** 20

test('of a gigabyte the first 64 KB are read, and the connection is cut', async () => {
  const { url, taken } = await flood(`${head}content-length: ${2 ** 30}\r\n\r\n`, Buffer.alloc(65_536, 'a'))
  const answer = await say(useOutbound({ allowLoopback: true }), url)
  expect(answer.status).toBe(200)
  expect(answer.body).toHaveLength(65_536)
  expect(await taken).toBeLessThan(fewMegabytes)
})

test('of a gigabyte that nobody wants nothing is kept, and the connection is cut', async () => {
  const { url, taken } = await flood(`${head}content-length: ${2 ** 30}\r\n\r\n`, Buffer.alloc(65_536, 'a'))
  const answer = await say(useOutbound({ allowLoopback: true }), url, 60_000, false)
  expect(answer.status).toBe(200)
  expect(answer.body).toHaveLength(0)
  expect(await taken).toBeLessThan(fewMegabytes)
})

test('headers without an end are cut off', async () => {
  const { url, taken } = await flood(head, Buffer.from(`x-more: ${'a'.repeat(1_000)}\r\n`))
  expect(await kindOf(say(useOutbound({ allowLoopback: true }), url))).toBe('bad_response')
  expect(await taken).toBeLessThan(fewMegabytes)
})

test('a receiver that breaks off, one that speaks something else, and one that says less than it promised', async () => {
  const outbound = useOutbound({ allowLoopback: true })
  const resetting = await misbehave((socket) => socket.resetAndDestroy())
  const closing = await misbehave((socket) => socket.end())
  const babbling = await misbehave((socket) => socket.end('SSH-2.0-OpenSSH_9.6\r\n'))
  const lying = await misbehave((socket) => socket.end(`${head}content-length: 10\r\n\r\nshort`))
  const switching = await misbehave((socket) =>
    socket.write('HTTP/1.1 101 Switching Protocols\r\nupgrade: other\r\nconnection: upgrade\r\n\r\n'),
  )
  expect(await kindOf(say(outbound, resetting))).toBe('reset')
  expect(await kindOf(say(outbound, closing))).toBe('reset')
  expect(await kindOf(say(outbound, babbling))).toBe('bad_response')
  expect(await kindOf(say(outbound, lying))).toBe('reset')
  expect(await kindOf(say(outbound, switching))).toBe('bad_response')
})
