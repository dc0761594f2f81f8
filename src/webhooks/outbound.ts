import { Resolver } from 'node:dns/promises'
import { Agent as HttpAgent, type ClientRequest, type IncomingHttpHeaders, request as httpRequest } from 'node:http'
import { Agent as HttpsAgent, request as httpsRequest } from 'node:https'
import { isIP, type LookupFunction, type Socket } from 'node:net'
import { checkTarget, isLocalName, mayDial, type TargetRules } from './addresses.ts'

export type OutboundErrorKind =
  | 'forbidden_address'
  | 'dns'
  | 'connect'
  | 'tls'
  | 'timeout'
  | 'reset'
  | 'bad_response'
  /** No access token was to be had. */
  | 'authentication'

/** There is no answer. The message is for our own log; merchants are told the kind. */
export class OutboundError extends Error {
  override name = 'OutboundError'
  readonly kind: OutboundErrorKind

  constructor(kind: OutboundErrorKind, message: string, options?: ErrorOptions) {
    super(message, options)
    this.kind = kind
  }
}

export interface OutboundRequest {
  url: string
  headers: Readonly<Record<string, string>>
  body: string | Buffer
  /** For all of it: name, connection, TLS, headers and body. */
  deadlineMs: number
  /** Whether the answer's is kept; it is read in any case, so that the connection can be used again. */
  wantsBody: boolean
}

export interface OutboundResponse {
  status: number
  headers: IncomingHttpHeaders
  /** As it came, and no more than the first 64 KB; empty where nobody wants it. */
  body: Buffer
}

/** What merchants name is called through this and nothing else. */
export interface Outbound {
  post(request: OutboundRequest): Promise<OutboundResponse>
  close(): void
}

/** All addresses of a host. */
export type Resolve = (hostname: string) => Promise<readonly string[]>

const mostBody = 64 * 1024
const mostHeaders = 16 * 1024
/** Merchants may share a host; one with a slow path must leave room for the others. */
const mostSocketsOfHost = 64
const mostIdleOfHost = 8
const idleMs = 15_000
const mostAddresses = 8

/** Redirects, proxies of the environment and compressed answers are left alone: the modules of Node know none of them by themselves. */
export function createOutbound({
  allowLoopback,
  resolve = createResolve(),
}: TargetRules & { resolve?: Resolve }): Outbound {
  const rules = { allowLoopback }
  const pool = {
    keepAlive: true,
    maxSockets: mostSocketsOfHost,
    maxFreeSockets: mostIdleOfHost,
    timeout: idleMs,
    // One address after the other; what is left of the deadline is for the last.
    autoSelectFamilyAttemptTimeout: 500,
  }
  const http = new HttpAgent({ ...pool, lookup: checkedLookup(resolve, 'http:', rules) })
  const https = new HttpsAgent({
    ...pool,
    lookup: checkedLookup(resolve, 'https:', rules),
    minVersion: 'TLSv1.2',
    rejectUnauthorized: true,
  })
  checkConnections(http, 'http:', rules)
  checkConnections(https, 'https:', rules)

  const start = (url: URL, headers: Record<string, string | number>): ClientRequest => {
    const options = { method: 'POST', headers, maxHeaderSize: mostHeaders }
    return url.protocol === 'https:'
      ? httpsRequest(url, { ...options, agent: https })
      : httpRequest(url, { ...options, agent: http })
  }

  return {
    async post({ url, headers, body, deadlineMs, wantsBody }) {
      const problem = checkTarget(url, rules)
      if (problem !== undefined) throw new OutboundError('forbidden_address', problem)
      const target = new URL(url)
      const deadline = performance.now() + deadlineMs
      const once = () => {
        const request = start(target, { ...headers, 'content-length': Buffer.byteLength(body) })
        return exchange(request, body, { deadline, wantsBody })
      }
      return await once().catch((error: unknown) => {
        // The receiver closed a kept connection at the moment it was used again.
        if (error instanceof StaleConnection) return once()
        throw error
      })
    },
    close() {
      http.destroy()
      https.destroy()
    },
  }
}

class StaleConnection extends OutboundError {}

function exchange(
  request: ClientRequest,
  body: string | Buffer,
  { deadline, wantsBody }: { deadline: number; wantsBody: boolean },
): Promise<OutboundResponse> {
  return new Promise((resolve, reject) => {
    const end = () => {
      clearTimeout(timer)
      request.destroy()
    }
    // Rejected here: a request that waits for a connection would not tell that it was destroyed.
    const late = () => {
      reject(new OutboundError('timeout', 'it took too long'))
      end()
    }
    const timer = setTimeout(late, Math.max(0, deadline - performance.now()))
    const fail = (error: Error, isReused: boolean) => {
      reject(classify(error, { isReused, isEncrypted: request.protocol === 'https:' }))
      end()
    }
    request.on('error', (error) => fail(error, request.reusedSocket))
    // Without this nobody would say anything.
    request.once('upgrade', (_response, socket) => {
      socket.destroy()
      fail(new OutboundError('bad_response', 'it switches protocols'), false)
    })
    request.once('response', (response) => {
      const chunks: Buffer[] = []
      let length = 0
      const finish = () => {
        clearTimeout(timer)
        const { statusCode: status = 0, headers } = response
        resolve({ status, headers, body: Buffer.concat(chunks).subarray(0, mostBody) })
      }
      response.on('error', (error) => fail(error, false))
      // Nobody reads that much to be able to use a connection again.
      if (!wantsBody && Number(response.headers['content-length'] ?? 0) > mostBody) {
        finish()
        end()
        return
      }
      response.once('end', finish)
      response.on('data', (chunk: Buffer) => {
        if (wantsBody) chunks.push(chunk)
        length += chunk.length
        if (length < mostBody) return
        finish()
        end()
      })
    })
    request.end(body)
  })
}

const resets = ['ECONNRESET', 'ECONNABORTED', 'EPIPE', 'ETIMEDOUT']

function classify(error: Error, connection: { isReused: boolean; isEncrypted: boolean }): OutboundError {
  if (error instanceof OutboundError) return error
  const { code = '', syscall } = error as NodeJS.ErrnoException
  const of = (kind: OutboundErrorKind) => new OutboundError(kind, code || error.message, { cause: error })
  // Several addresses that cannot be reached are one error that has theirs.
  if (syscall === 'connect' || error instanceof AggregateError) return of('connect')
  if (resets.includes(code))
    return connection.isReused ? new StaleConnection('reset', code, { cause: error }) : of('reset')
  return of(code.startsWith('HPE_') || !connection.isEncrypted ? 'bad_response' : 'tls')
}

/**
 * One look at the name, and only what was looked at is dialled: a name that leads somewhere else the next moment leads nowhere.
 * A single forbidden address is enough to refuse all of them.
 */
function checkedLookup(resolve: Resolve, protocol: string, rules: TargetRules): LookupFunction {
  const find = async (hostname: string) => {
    const addresses = isLocalName(hostname) ? ['127.0.0.1', '::1'] : await resolve(hostname)
    if (addresses.length === 0) throw new OutboundError('dns', `${hostname} has no address`)
    const forbidden = addresses.find((address) => !mayDial(address, protocol, rules))
    if (forbidden !== undefined) throw new OutboundError('forbidden_address', `${hostname} leads to ${forbidden}`)
    return addresses.slice(0, mostAddresses).map((address) => ({ address, family: isIP(address) }))
  }
  return (hostname, options, callback) => {
    find(hostname).then(
      (found) => {
        const [first] = found
        if (options.all || !first) callback(null, found)
        else callback(null, first.address, first.family)
      },
      (error: unknown) => {
        const cause =
          error instanceof OutboundError
            ? error
            : new OutboundError('dns', `${hostname} was not found`, { cause: error })
        callback(cause, [])
      },
    )
  }
}

/** Whoever is at the other end after all, is looked at again before a byte is sent. */
function checkConnections(agent: HttpAgent, protocol: string, rules: TargetRules): void {
  const open = agent.createConnection.bind(agent)
  agent.createConnection = (options, callback) => {
    const connection = open(options, callback)
    const socket = connection as Socket | undefined
    socket?.once('connect', () => {
      const { remoteAddress = '' } = socket
      if (mayDial(remoteAddress, protocol, rules)) return
      socket.destroy(new OutboundError('forbidden_address', `connected to ${remoteAddress}`))
    })
    return connection
  }
}

/** Asks the name servers itself: a call of the operating system would hold one of few threads for as long as a name server is silent. */
export function createResolve(servers?: readonly string[]): Resolve {
  const resolver = new Resolver({ timeout: 2_000, tries: 2 })
  if (servers) resolver.setServers(servers)
  return async (hostname) => {
    const answers = await Promise.allSettled([resolver.resolve4(hostname), resolver.resolve6(hostname)])
    const found = answers.flatMap((answer) => (answer.status === 'fulfilled' ? answer.value : []))
    const [failed] = answers.filter((answer) => answer.status === 'rejected')
    if (found.length === 0 && failed) throw failed.reason
    return found
  }
}
