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
    const socket: Socket = connect({ port, host: '127.0.0.1', noDelay: true })
    let received = ''
    let sent = 0
    const ask = () => {
      received = ''
      sent = performance.now()
      socket.write(makeRequest())
    }
    socket.setEncoding('latin1')
    socket.once('connect', ask)
    socket.once('error', reject)
    socket.once('close', () => reject(new Error('the server closed a connection')))
    socket.on('data', (chunk: string) => {
      received += chunk
      if (!isWhole(received)) return
      const now = performance.now()
      latencies.push(now - sent)
      if (!received.startsWith(`HTTP/1.1 ${wantedStatus} `)) {
        reject(new Error(`not the wanted answer: ${received}`))
        socket.destroy()
      } else if (now < end) ask()
      else {
        resolve()
        socket.destroy()
      }
    })
  })
}

function isWhole(answer: string): boolean {
  const headEnd = answer.indexOf('\r\n\r\n')
  if (headEnd < 0) return false
  const length = /\r\ncontent-length: (\d+)/i.exec(answer)?.[1]
  if (length === undefined) throw new Error('an answer without content-length')
  return answer.length >= headEnd + 4 + Number(length)
}
