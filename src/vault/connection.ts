import { Agent as HttpAgent, type ClientRequest, type IncomingMessage, request as httpRequest } from 'node:http'
import { Agent as HttpsAgent, request as httpsRequest } from 'node:https'
import {
  type Address,
  type Answers,
  type CallName,
  decodeMessage,
  encodeMessage,
  parseAddress,
  type Refusal,
  type TlsIdentity,
} from './protocol.ts'

/** The vault cannot be reached, or did not answer in time. Whether it did what was asked is not known. */
export class VaultUnavailableError extends Error {
  override name = 'VaultUnavailableError'
  readonly code = 'VAULT_UNAVAILABLE'
}

/** The vault answered, and the answer is no. */
export class VaultError extends Error {
  override name = 'VaultError'
  readonly code = 'VAULT_REFUSED'
}

export interface ConnectionOptions {
  /** `unix:/path` or `tls://host:port`. */
  url: string
  /** For `tls://`. */
  tls?: TlsIdentity | undefined
  /** For one call, whatever happens in it. */
  timeoutMs?: number | undefined
  /** Calls under way at the same time; more wait. */
  maxSockets?: number | undefined
}

export interface Connection {
  call<Name extends CallName>(
    name: Name,
    head: object,
    values?: readonly Buffer[],
  ): Promise<{ answer: Answers[Name]; values: Buffer[] }>
  /** An answer of many lines; it may be silent for so long before it counts as lost. */
  stream(name: CallName, onLine: (line: string) => void, silenceMs: number): Promise<void>
  close(): void
}

/** Doing these twice is not the same as doing them once, so they are not tried again when a connection breaks. */
const onceOnly: readonly CallName[] = ['applyReplacement', 'rotateKey', 'destroyKey']

export function openConnection({ url, tls, timeoutMs = 1_500, maxSockets = 64 }: ConnectionOptions): Connection {
  const address = parseAddress(url)
  const { agent, start } = transport(address, tls, maxSockets)

  function once(name: CallName, message: Buffer, deadline: number): Promise<Buffer> {
    return new Promise((resolve, reject) => {
      const request = start(name, message.length)
      const late = setTimeout(
        () => request.destroy(new VaultUnavailableError(`the vault did not answer within ${timeoutMs} ms`)),
        Math.max(1, deadline - performance.now()),
      )
      const fail = (error: Error) => {
        clearTimeout(late)
        reject(unavailable(error, request))
      }
      request.once('error', fail)
      request.once('response', (response) => {
        collect(response).then((body) => {
          clearTimeout(late)
          if (response.statusCode === 200) resolve(body)
          else reject(refusalError(body))
        }, fail)
      })
      request.end(message)
    })
  }

  return {
    async call(name, head, values = []) {
      const message = encodeMessage(head, values)
      const deadline = performance.now() + timeoutMs
      try {
        const body = await once(name, message, deadline).catch((error: unknown) => {
          if (!isStaleConnection(error) || onceOnly.includes(name)) throw error
          return once(name, message, deadline)
        })
        const decoded = decodeMessage(body)
        if (!decoded) throw new VaultError('the vault answered something that is not an answer')
        return { answer: decoded.head as Answers[typeof name], values: decoded.values }
      } finally {
        message.fill(0)
      }
    },

    stream(name, onLine, silenceMs) {
      return new Promise((resolve, reject) => {
        const message = encodeMessage({})
        const request = start(name, message.length)
        const fail = (error: Error) => reject(unavailable(error, request))
        request.setTimeout(silenceMs, () => request.destroy(new VaultUnavailableError('the vault went silent')))
        request.once('error', fail)
        request.once('response', (response) => {
          const isFine = response.statusCode === 200
          readLines(response, isFine ? onLine : () => undefined).then(
            (rest) => (isFine ? resolve() : reject(refusalError(Buffer.from(rest)))),
            (error: Error) => (error instanceof VaultError ? reject(error) : fail(error)),
          )
        })
        request.end(message)
      })
    },

    close: () => agent.destroy(),
  }
}

/** One call at a time on a connection, and as many connections as calls under way: a slow call holds up nobody. */
function transport(address: Address, tls: TlsIdentity | undefined, maxSockets: number) {
  const pool = { keepAlive: true, maxSockets, maxFreeSockets: maxSockets, scheduling: 'lifo' } as const
  const common = (name: CallName, length: number) => ({
    method: 'POST',
    path: `/v1/${name}`,
    headers: { 'content-length': length },
  })
  if (address.kind === 'unix') {
    const agent = new HttpAgent(pool)
    return {
      agent,
      start: (name: CallName, length: number): ClientRequest =>
        httpRequest({ ...common(name, length), agent, socketPath: address.path }),
    }
  }
  if (!tls) throw new Error('tls:// needs certificates: FLORIN_VAULT_TLS_CA, _CERT and _KEY')
  const agent = new HttpsAgent({ ...pool, ...tls, minVersion: 'TLSv1.2' })
  const { host, port } = address
  return {
    agent,
    start: (name: CallName, length: number): ClientRequest =>
      httpsRequest({ ...common(name, length), agent, host, port }),
  }
}

async function collect(response: IncomingMessage): Promise<Buffer> {
  const chunks: Buffer[] = []
  for await (const chunk of response as AsyncIterable<Buffer>) chunks.push(chunk)
  const [only] = chunks
  return chunks.length === 1 && only ? only : Buffer.concat(chunks)
}

/** Hands over whole lines; what follows the last of them is the result. */
async function readLines(response: IncomingMessage, onLine: (line: string) => void): Promise<string> {
  let rest = ''
  for await (const chunk of response as AsyncIterable<Buffer>) {
    const lines = (rest + chunk.toString('utf8')).split('\n')
    rest = lines.pop() ?? ''
    for (const line of lines) {
      const { error } = JSON.parse(line) as { error?: Refusal }
      if (error) throw refusalError(Buffer.from(JSON.stringify(error)))
      onLine(line)
    }
  }
  return rest
}

function refusalError(body: Buffer): Error {
  let refusal: Partial<Refusal> = {}
  try {
    refusal = JSON.parse(body.toString('utf8')) as Refusal
  } catch {
    // A proxy in between, or worse: told by the message below.
  }
  const message = refusal.message ?? 'the vault answered something that is not an answer'
  return refusal.code === 'unavailable' ? new VaultUnavailableError(message) : new VaultError(message)
}

interface Stale {
  isStale?: boolean
}

function unavailable(error: Error, request: ClientRequest): Error {
  if (error instanceof VaultUnavailableError) return error
  const { code = error.message } = error as NodeJS.ErrnoException
  const isStale = request.reusedSocket && ['ECONNRESET', 'EPIPE'].includes(code)
  const wrapped = new VaultUnavailableError(`the vault cannot be reached (${code})`, { cause: error })
  return Object.assign(wrapped, { isStale } satisfies Stale)
}

/** The vault closed it before it could see the request; a new connection may do. */
const isStaleConnection = (error: unknown) => error instanceof Error && (error as Stale).isStale === true
