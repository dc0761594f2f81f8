import { errorOf, FlorinConnectionError } from './errors.ts'
import { type AnyPage, List } from './pages.ts'
import { delayOf, type Failure, mayRepeat, sleep } from './retry.ts'
import { readEvents } from './stream.ts'
import type { TokenKeeper } from './token.ts'

export interface CallOptions {
  /** Stops the call, retries included. */
  signal?: AbortSignal
}

export interface AccountOptions extends CallOptions {
  /** Instead of the client's own. Lists also take `*`: all that the key pair can reach. */
  merchantAccountId?: string
}

export interface IdempotentOptions extends AccountOptions {
  /** Your own name for this one request: the same key within 24 hours gets the same answer, and nothing happens twice. Default: one for each call. */
  idempotencyKey?: string
}

export interface RequestOptions extends IdempotentOptions {
  /** What to answer with instead, where an operation has a choice. */
  prefer?: string
}

/** One request, in the words of the API. */
export interface FlorinRequest {
  method: 'GET' | 'POST' | 'PUT' | 'DELETE'
  /** Begins with `/`, below `baseUrl`; ids in it are encoded. */
  path: string
  /** By name; a list is sent as several of that name. */
  query?: object | undefined
  /** Goes as JSON. */
  body?: unknown
  /** Instead of `body`: goes as it is, with headers of the caller's. */
  raw?: RawMessage
  /** Goes without a token. */
  open?: true
}

/** And what the operation takes, which the generated methods know. */
interface Operation extends FlorinRequest {
  /** Takes the merchant account header. */
  account?: true
  /** Takes `Idempotency-Key`. */
  idempotent?: true
}

/** A message of somebody else's, byte by byte: what a signature is about. */
export interface RawMessage {
  body: string | Uint8Array<ArrayBuffer>
  headers: Readonly<Record<string, string>>
}

export interface Transport {
  ask<Answer>(operation: Operation, options: RequestOptions | undefined): Promise<Answer>
  list<Page extends AnyPage>(operation: Operation, options: RequestOptions | undefined): List<Page>
  follow<Event>(operation: Operation, options: RequestOptions | undefined): AsyncGenerator<Event, void, undefined>
  /** An answer that has begun; the rest of it comes when it comes. */
  begin(operation: Operation, options: RequestOptions | undefined): Promise<Response>
}

export interface TransportSettings {
  baseUrl: string
  token: TokenKeeper | undefined
  headerPrefix: string
  merchantAccountId: string | undefined
  maxRetries: number
  timeoutMs: number
  fetch: typeof fetch
}

export function createTransport(settings: TransportSettings): Transport {
  const ask = async <Answer>(operation: Operation, options: RequestOptions = {}) => {
    const { text } = await send(settings, operation, options, (response) => response.text())
    return (text === '' ? undefined : JSON.parse(text)) as Answer
  }
  const begin = async (operation: Operation, options: RequestOptions = {}) => {
    const { response } = await send(settings, operation, options, async (begun) => (begun.ok ? '' : begun.text()))
    return response
  }
  return {
    ask,
    begin,
    list: (operation, options) =>
      new List((cursor) =>
        ask(cursor === undefined ? operation : { ...operation, query: { ...operation.query, cursor } }, options),
      ),
    async *follow(operation, options) {
      const { body } = await begin(operation, options)
      if (body) yield* readEvents(body)
    },
  }
}

interface Answer {
  response: Response
  text: string
}
/** As much of an answer as must be there in time. */
type Read = (response: Response) => Promise<string>

async function send(
  settings: TransportSettings,
  operation: Operation,
  options: RequestOptions,
  read: Read,
): Promise<Answer> {
  const key = operation.idempotent && (options.idempotencyKey ?? crypto.randomUUID())
  const isRepeatable = operation.method !== 'POST' || key !== undefined
  let attempt = 0
  let isRenewed = false
  for (;;) {
    const token = operation.open ? undefined : await tokenOf(settings)
    const request = requestOf(settings, operation, options, { token, key })
    const outcome = await attemptOnce(settings, request, options.signal, read)
    if ('response' in outcome && outcome.response.ok) return outcome

    const { error, failure, retryAfter } = explain(outcome, request.url)
    if (failure.status === 401 && !isRenewed && token !== undefined && (await settings.token?.renew(token))) {
      isRenewed = true
      continue
    }
    const isWorthIt = attempt < settings.maxRetries && mayRepeat(isRepeatable, failure)
    const delay = isWorthIt ? delayOf(attempt, retryAfter) : undefined
    if (delay === undefined) throw error
    await sleep(delay, options.signal)
    attempt += 1
  }
}

async function tokenOf({ token }: TransportSettings): Promise<string> {
  if (!token) throw new TypeError('This operation needs a token: give Florin a privateKey, or a token')
  return await token.get()
}

interface Request {
  url: string
  init: RequestInit
}

function requestOf(
  { baseUrl, headerPrefix, merchantAccountId }: TransportSettings,
  { method, path, query, body, raw, account }: Operation,
  options: RequestOptions,
  { token, key }: { token: string | undefined; key: string | undefined },
): Request {
  const accountId = account && (options.merchantAccountId ?? merchantAccountId)
  const headers = {
    ...raw?.headers,
    ...(token !== undefined && { authorization: `Bearer ${token}` }),
    ...(accountId !== undefined && { [`${headerPrefix}Merchant-Account-ID`]: accountId }),
    ...(key !== undefined && { 'idempotency-key': key }),
    ...(options.prefer !== undefined && { prefer: `resource=${options.prefer}` }),
    ...(body !== undefined && { 'content-type': 'application/json' }),
  }
  const content = raw ? raw.body : body === undefined ? null : JSON.stringify(body)
  return { url: baseUrl + path + queryText(query), init: { method, headers, body: content, redirect: 'manual' } }
}

type QueryValue = string | number | boolean | undefined

function queryText(query: object | undefined): string {
  const pairs = Object.entries(query ?? {}).flatMap(([name, value]: [string, QueryValue | readonly QueryValue[]]) =>
    [value].flat().flatMap((item): [string, string][] => (item === undefined ? [] : [[name, String(item)]])),
  )
  return pairs.length === 0 ? '' : `?${new URLSearchParams(pairs).toString()}`
}

async function attemptOnce(
  { fetch, timeoutMs }: TransportSettings,
  { url, init }: Request,
  signal: AbortSignal | undefined,
  read: Read,
): Promise<Answer | { thrown: unknown }> {
  signal?.throwIfAborted()
  const deadline = new AbortController()
  const timer = setTimeout(() => deadline.abort(new Error(`no answer within ${timeoutMs} ms`)), timeoutMs)
  try {
    const ended = signal ? AbortSignal.any([signal, deadline.signal]) : deadline.signal
    const response = await fetch(url, { ...init, signal: ended })
    return { response, text: await read(response) }
  } catch (thrown) {
    signal?.throwIfAborted()
    return { thrown }
  } finally {
    clearTimeout(timer)
  }
}

interface Explained {
  error: Error
  failure: Failure
  retryAfter: string | null
}

function explain(outcome: Answer | { thrown: unknown }, url: string): Explained {
  if ('thrown' in outcome) {
    const { thrown } = outcome
    const message = `${new URL(url).origin} did not answer (${reasonOf(thrown)}). Does it run, and is it reachable from here?`
    return { error: new FlorinConnectionError(message, { cause: thrown }), failure: { thrown }, retryAfter: null }
  }
  const error = errorOf(outcome.response, outcome.text)
  const { status, code } = error
  return { error, failure: { status, code }, retryAfter: outcome.response.headers.get('retry-after') }
}

/** `fetch` says only that it failed; what happened is its cause. */
function reasonOf(thrown: unknown): string {
  const { cause, message } = thrown as { cause?: { code?: unknown; message?: unknown }; message?: unknown }
  return String(cause?.code ?? cause?.message ?? message)
}

/** An id in a path. What a URL would take for a step up, or for nothing, is no id. */
export function segment(id: string): string {
  if (typeof id !== 'string' || ['', '.', '..'].includes(id)) throw new TypeError(`"${String(id)}" is not an id`)
  return encodeURIComponent(id)
}

/** Operations under one name; generated classes say which. */
export class Group {
  protected readonly transport: Transport

  constructor(transport: Transport) {
    this.transport = transport
  }
}
