import { connect, type Socket } from 'node:net'

export interface Load {
  answers: number
  seconds: number
  /** Of each answer, sorted. */
  latencies: number[]
}

/** Requests over kept connections, the next one when the last is answered. As little work as can be: the server shares the machine. */
export async function load(options: {
  port: number
  connections: number
  seconds: number
  makeRequest: () => string
  wantedStatus: number
}): Promise<Load> {
  const latencies: number[] = []
  const start = performance.now()
  const end = start + options.seconds * 1000
  await Promise.all(Array.from({ length: options.connections }, () => keepAsking(options, end, latencies)))
  return {
    answers: latencies.length,
    seconds: (performance.now() - start) / 1000,
    latencies: latencies.sort((left, right) => left - right),
  }
}

function keepAsking(
  { port, makeRequest, wantedStatus }: Parameters<typeof load>[0],
  end: number,
  latencies: number[],
): Promise<void> {
  return new Promise((resolve, reject) => {
    let head = ''
    let missing: number | undefined
    let sent = 0
    const ask = () => {
      head = ''
      missing = undefined
      sent = performance.now()
      socket.write(makeRequest())
    }
    const take = (count: number, buffer: Uint8Array) => {
      if (missing === undefined) {
        head += Buffer.from(buffer.buffer, buffer.byteOffset, count).toString('latin1')
        missing = missingAfter(head)
      } else missing -= count
      if (missing === undefined || missing > 0) return true
      const now = performance.now()
      latencies.push(now - sent)
      if (!head.startsWith(`HTTP/1.1 ${wantedStatus} `)) {
        reject(new Error(`not the wanted answer: ${head}`))
        socket.destroy()
      } else if (now < end) ask()
      else {
        resolve()
        socket.destroy()
      }
      return true
    }
    // Always into the same memory, as pgbench does.
    const onread = { buffer: Buffer.alloc(256 * 1024), callback: take }
    const socket: Socket = connect({ port, host: '127.0.0.1', noDelay: true, onread })
    socket.once('connect', ask)
    socket.once('error', reject)
    socket.once('close', () => reject(new Error('the server closed a connection')))
  })
}

/** How many bytes of an answer are still to come; undefined until its head is there. */
function missingAfter(begun: string): number | undefined {
  const headEnd = begun.indexOf('\r\n\r\n')
  if (headEnd < 0) return undefined
  const length = /\r\ncontent-length: (\d+)/i.exec(begun)?.[1]
  if (length === undefined) throw new Error('an answer without content-length')
  return headEnd + 4 + Number(length) - begun.length
}
