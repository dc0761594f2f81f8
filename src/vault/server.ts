import type { IncomingMessage, ServerResponse } from 'node:http'
import { setImmediate as nextTurn } from 'node:timers/promises'
import type { TLSSocket } from 'node:tls'
import type { HttpMetrics } from '../platform/metrics.ts'
import { isUnavailable } from '../platform/postgres.ts'
import { compile, type ProblemsOf } from '../platform/validator.ts'
import { OverloadedError } from '../platform/batch.ts'
import { type CallContext, calls, InvalidCallError, rewrap } from './calls.ts'
import { KeyStateError } from './key-life.ts'
import { KeyProviderError } from './key-provider.ts'
import {
  type CallName,
  decodeMessage,
  encodeMessage,
  largestMessage,
  type Question,
  questions,
  type Refusal,
} from './protocol.ts'

export interface ServerContext extends Omit<CallContext, 'caller'> {
  metrics: HttpMetrics
  /** Aborted when the process is to end: what could go on for hours stops then. */
  stopping: AbortSignal
}

const validators = Object.fromEntries(
  Object.entries(questions).map(([name, schema]) => [name, compile(schema)]),
) as Record<CallName, ProblemsOf>

/** Answers one request after the other on a connection; a client that wants more at once opens more connections. */
export function createHandler(ctx: ServerContext): (request: IncomingMessage, response: ServerResponse) => void {
  return (request, response) => {
    response.sendDate = false
    if (ctx.stopping.aborted) response.shouldKeepAlive = false
    void serve(ctx, request, response)
  }
}

async function serve(ctx: ServerContext, request: IncomingMessage, response: ServerResponse): Promise<void> {
  const start = performance.now()
  const callContext: CallContext = { ...ctx, caller: callerOf(request) }
  let status = 200
  let name: CallName | undefined
  let account: string | undefined
  let body: Buffer | undefined
  try {
    body = await readBody(request)
    name = callOf(request)
    const { head, values } = parse(name, body)
    account = (head as { merchant_account_id?: string }).merchant_account_id
    if (await isAbandoned(request, name)) {
      status = abandoned
      response.destroy()
    } else if (name === 'rewrap') await stream(response, callContext, ctx.stopping)
    else await answer(response, callContext, name, head, values)
  } catch (error) {
    status = refuse(ctx, response, error, name)
  } finally {
    body?.fill(0)
    const duration = performance.now() - start
    ctx.metrics.observeRequest(name ?? 'none', status, duration / 1000)
    ctx.log.info('request', {
      operation: name ?? 'none',
      status,
      duration_ms: Math.round(duration * 100) / 100,
      ...(account !== undefined && { merchant_account_id: account }),
    })
  }
}

const abandoned = 499

/**
 * A vault that was stopped for a while finds calls whose callers have given up since: working them off would hold up those
 * who still wait. A removal is wanted even so.
 */
async function isAbandoned({ socket }: IncomingMessage, name: CallName): Promise<boolean> {
  if (name === 'remove') return false
  // The end of a connection is seen two turns after what came over it.
  await nextTurn()
  await nextTurn()
  return socket.readableEnded || socket.destroyed
}

/** The subject of the client's certificate; on a Unix socket whoever the file's permissions let in. */
function callerOf({ socket }: IncomingMessage): string {
  if (!('getPeerCertificate' in socket)) return 'unix'
  const { CN } = (socket as TLSSocket).getPeerCertificate().subject ?? {}
  return String(CN ?? 'unnamed certificate')
}

function readBody(request: IncomingMessage): Promise<Buffer> {
  return new Promise((resolve, reject) => {
    const chunks: Buffer[] = []
    let length = 0
    request.on('data', (chunk: Buffer) => {
      length += chunk.length
      if (length > largestMessage) reject(new InvalidCallError('the message is too long'))
      else chunks.push(chunk)
    })
    request.once('error', reject)
    request.once('end', () => {
      const [only] = chunks
      if (chunks.length === 1 && only) return resolve(only)
      resolve(Buffer.concat(chunks))
      for (const chunk of chunks) chunk.fill(0)
    })
  })
}

function callOf({ method, url = '' }: IncomingMessage): CallName {
  const name = url.replace(/^\/v1\//, '')
  if (method !== 'POST' || !Object.hasOwn(questions, name)) throw new InvalidCallError('there is no such call')
  return name as CallName
}

function parse(name: CallName, body: Buffer): { head: unknown; values: Buffer[] } {
  const message = decodeMessage(body)
  if (!message) throw new InvalidCallError('the message cannot be read')
  const problems = validators[name](message.head).map(({ instancePath, message: text }) => `${instancePath} ${text}`)
  if (problems.length > 0) throw new InvalidCallError(`the question is wrong: ${problems.join(', ')}`)
  return message
}

async function answer<Name extends Exclude<CallName, 'rewrap'>>(
  response: ServerResponse,
  ctx: CallContext,
  name: Name,
  head: unknown,
  values: readonly Buffer[],
): Promise<void> {
  // What `parse` has checked against the schema of this very call.
  const result = await calls[name](ctx, head as Question<Name>, values)
  const message = encodeMessage(result.answer, result.values)
  for (const value of result.values ?? []) value.fill(0)
  response.writeHead(200, { 'content-length': message.length })
  await new Promise<void>((resolve) => {
    response.once('close', resolve)
    response.end(message, resolve)
  })
  message.fill(0)
}

async function stream(response: ServerResponse, ctx: CallContext, stopping: AbortSignal): Promise<void> {
  const gone = new AbortController()
  response.once('close', () => gone.abort())
  response.writeHead(200, { 'content-type': 'application/x-ndjson' })
  response.flushHeaders()
  try {
    for await (const line of rewrap(ctx, AbortSignal.any([gone.signal, stopping]))) response.write(line)
    response.end()
  } catch (error) {
    if (!gone.signal.aborted) throw error
  }
}

function refuse(ctx: ServerContext, response: ServerResponse, error: unknown, name: CallName | undefined): number {
  const [status, refusal] = refusalOf(error)
  if (refusal.code === 'fault') ctx.log.error('a call failed', { operation: name ?? 'none', error })
  if (refusal.code === 'unavailable') ctx.log.warn('a call could not be served', { operation: name ?? 'none', error })
  if (response.headersSent) {
    if (!response.writableEnded) response.end(`${JSON.stringify({ error: refusal })}\n`)
    return status
  }
  const body = JSON.stringify(refusal)
  response.writeHead(status, { 'content-length': Buffer.byteLength(body) }).end(body)
  return status
}

/** Our own words only: a driver's message can hold the row. */
function refusalOf(error: unknown): [status: number, refusal: Refusal] {
  if (error instanceof InvalidCallError) return [400, { code: 'invalid', message: error.message }]
  if (error instanceof KeyStateError) return [409, { code: 'refused', message: error.message }]
  if (error instanceof KeyProviderError) return [503, { code: 'unavailable', message: error.message }]
  if (error instanceof OverloadedError) return [503, { code: 'unavailable', message: 'too many calls wait already' }]
  if (error instanceof Error && error.name === 'AbortError') {
    return [503, { code: 'unavailable', message: 'the vault is stopping' }]
  }
  if (isUnavailable(error)) return [503, { code: 'unavailable', message: 'the database of the vault does not answer' }]
  return [500, { code: 'fault', message: 'the vault failed; its log says why' }]
}
