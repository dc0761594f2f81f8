import { Agent, request as httpRequest } from 'node:http'
import { connect } from 'node:net'

export interface CanaryAnswer {
  status: number
  text: string
}

export interface CanaryClient {
  call(method: string, path: string, options?: CallOptions): Promise<CanaryAnswer>
  /** Sends bytes over a plain connection: waits for the answer, or ends its own side, or cuts the connection. */
  raw(bytes: string, after?: 'wait' | 'end' | 'cut'): Promise<CanaryAnswer>
  token: string
  /** May only read buyers. */
  weakToken: string
  buyerId: string
  close(): void
}

export interface CallOptions {
  body?: unknown
  /** Sent as it is. */
  text?: string
  headers?: Record<string, string>
  token?: string
  /** Without a length in the header. */
  chunked?: boolean
}

export function createClient(url: string, tokens: { token: string; weakToken: string }): Omit<CanaryClient, 'buyerId'> {
  const agent = new Agent({ keepAlive: true, maxSockets: 8 })
  const { hostname, port } = new URL(url)
  return {
    ...tokens,
    call(method, path, { body, text = body === undefined ? '' : JSON.stringify(body), ...options } = {}) {
      const headers = {
        authorization: `Bearer ${options.token ?? tokens.token}`,
        ...(text !== '' && { 'content-type': 'application/json' }),
        ...(text !== '' && !options.chunked && { 'content-length': String(Buffer.byteLength(text)) }),
        ...options.headers,
      }
      return new Promise((resolve, reject) => {
        const sent = httpRequest(url + path, { method, agent, headers }, (response) => {
          const chunks: Buffer[] = []
          const head = JSON.stringify(response.headers)
          response.on('data', (chunk: Buffer) => chunks.push(chunk))
          response.on('error', reject)
          response.on('end', () =>
            resolve({ status: response.statusCode ?? 0, text: head + Buffer.concat(chunks).toString() }),
          )
        })
        sent.on('error', reject)
        sent.end(text)
      })
    },
    // A side that ends before the answer is written gets none: Node closes the other side as well.
    raw(bytes, after = 'wait') {
      return new Promise((resolve, reject) => {
        const chunks: Buffer[] = []
        const socket = connect(Number(port), hostname, () =>
          socket.write(bytes, 'latin1', () => {
            if (after === 'end') socket.end()
            if (after === 'cut') socket.destroy()
          }),
        )
        socket.setTimeout(20_000, () => socket.destroy(new Error('no answer')))
        socket.on('data', (chunk) => chunks.push(chunk))
        socket.on('error', (error: NodeJS.ErrnoException) => error.code !== 'ECONNRESET' && reject(error))
        socket.on('close', () => {
          const text = Buffer.concat(chunks).toString()
          resolve({ status: Number(text.split(' ')[1] ?? 0), text })
        })
      })
    },
    close: () => agent.destroy(),
  }
}
