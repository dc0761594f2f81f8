import { randomUUID } from 'node:crypto'
import compileSerializer, { type AnySchema } from 'fast-json-stringify'
import Fastify, { type FastifyInstance, type FastifyReply, type FastifyRequest } from 'fastify'
import { type Clocks, realTime } from '../clocks.ts'
import type { AntiFraudConnectors } from '../connectors/anti-fraud.ts'
import type { GiftCardConnectors } from '../connectors/gift-card.ts'
import type { Connectors } from '../connectors/payment.ts'
import type { Caller, Context } from '../context.ts'
import { ApiError } from '../errors.ts'
import type { Accounts } from '../platform/accounts.ts'
import { failpoint } from '../platform/failpoint.ts'
import type { Log } from '../platform/log.ts'
import type { HttpMetrics } from '../platform/metrics.ts'
import type { Db } from '../platform/postgres.ts'
import { Streamed } from '../streamed.ts'
import type { Vault } from '../vault/client.ts'
import type { WebPage } from '../web-page.ts'
import { sendAnswer } from './answer.ts'
import { type Authenticate, requireScope } from './authenticate.ts'
import { acceptAnything, acceptJsonOnly, bodyLimitBytes } from './body.ts'
import { browser, isForBrowsers, isOpen, openHeaders, type Preflight, preflightsOf } from './browsers.ts'
import type { CursorCodec } from './cursor.ts'
import { answerBrokenRequest } from './broken-request.ts'
import { answerError } from './errors.ts'
import { messageOf, noMessage, prefers, readIdempotencyKey, refuseRepeated, singleHeader } from './headers.ts'
import { type Limiter, subjectOf } from './limiter.ts'
import { type AccountDirectory, selectAccounts } from './merchant-account.ts'
import { openPage } from './pages.ts'
import { isShadowed, shadowsOf, unknownPath, urlOf } from './paths.ts'
import { type BuyerDirectory, createPinCheck } from './pins.ts'
import { type Route, scopesOf } from './route.ts'
import { addFiles, type StaticFiles } from './static-files.ts'
import { createStreams } from './streams.ts'
import { traced } from './trace.ts'
import { createValidator } from './validate.ts'
import { addWebPages } from './web-pages.ts'

export interface AppOptions {
  routes: readonly Route[]
  files: StaticFiles
  pages: readonly WebPage[]
  authenticate: Authenticate
  accounts: AccountDirectory
  buyers: BuyerDirectory
  limiter: Limiter
  cursors: CursorCodec
  db: Db
  vault: Vault
  connectors: Connectors
  antiFraud: AntiFraudConnectors
  giftCards: GiftCardConnectors
  instance: string
  environment: 'sandbox' | 'production'
  /** How many gift cards one request may name. */
  maxGiftCards: number
  checkTarget: Context['checkTarget']
  clocks: Clocks
  log: Log
  metrics: HttpMetrics
  headerPrefix: string
  /** Whether the process is about to end. */
  isDraining: () => boolean
  /** The base URL that clients use; known once the server listens. */
  baseUrl: () => string
}

/** What the edge learns of a request before its handler runs. */
interface Admission {
  route: Route | undefined
  caller?: Caller
  accounts?: Accounts
  accountHeader?: string | undefined
}

const admissions = new WeakMap<FastifyRequest, Admission>()
const maxHeaderSize = 16_384

export function buildApp(options: AppOptions): FastifyInstance {
  const app = Fastify({
    logger: false,
    genReqId: () => randomUUID(),
    bodyLimit: bodyLimitBytes,
    requestTimeout: 15_000,
    keepAliveTimeout: 72_000, // longer than the usual 60 s of a load balancer, so that the balancer closes first
    return503OnClosing: false,
    forceCloseConnections: 'idle',
    exposeHeadRoutes: true,
    http: { maxHeaderSize, headersTimeout: 10_000 },
    // An id may be as long as the request line: too long is "no such resource", and only after authentication.
    routerOptions: { maxParamLength: maxHeaderSize },
    clientErrorHandler: answerBrokenRequest,
    // A path that is not even percent-encoded UTF-8 names nothing. No hook runs here.
    frameworkErrors: (_error, request, reply) => {
      void sendError(new ApiError('not_found'), request, reply.headers(commonHeaders(request.id)), options.log)
    },
  })
  app.setSerializerCompiler(({ schema }) => {
    // When it is first needed, as in validate.ts: all of them together are a third of what a process takes to start.
    let write: ReturnType<typeof compileSerializer> | undefined
    return (data) => (write ??= compileSerializer(schema as AnySchema))(data)
  })
  acceptJsonOnly(app)
  const accountHeaderName = `${options.headerPrefix}Merchant-Account-ID`
  const preflights = preflightsOf(options.routes, accountHeaderName)
  const known = [...options.routes, ...preflights, ...options.pages]
  const shadows = shadowsOf(known.map(({ path }) => path))
  const singleHeaders = new Set(
    ['authorization', 'host', 'content-type', 'idempotency-key', 'early-data', accountHeaderName].map((name) =>
      name.toLowerCase(),
    ),
  )

  app.addHook('onRequest', async (request, reply) => {
    void reply.headers(commonHeaders(request.id))
    const { route } = request.routeOptions.config as { route?: Route }
    admissions.set(request, { route })
    // First of all: a page must be able to read why it was refused.
    if (route && isForBrowsers(route)) void reply.headers(openHeaders)
    refuseRepeated(request, singleHeaders)
    const isSafe = request.method === 'GET' || request.method === 'HEAD'
    if (request.headers['early-data'] === '1' && !isSafe) throw new ApiError('too_early', { message: tooEarly })
    // Here and not in a handler, which would run after the body was read and found wanting.
    if (request.is404 || (route && isShadowed(request.url, route.path, shadows)))
      throw unknownPath(request.url, known, options.files)
  })

  // A client that keeps its connection must hear of the end before the connection is closed under its next request.
  app.addHook('onSend', async (_request, reply) => {
    if (options.isDraining()) void reply.header('connection', 'close')
  })

  const edge = { ...options, accountHeaderName, sendStream: createStreams(options) }
  const add = (part: FastifyInstance, route: Route) => addRoute(part, route, edge)
  for (const route of options.routes) if (!route.raw) add(app, route)
  void app.register(async (part) => {
    acceptAnything(part)
    for (const route of options.routes) if (route.raw) add(part, route)
  })
  for (const preflight of preflights) addPreflight(app, preflight)
  addFiles(app, options.files)
  addWebPages(app, options)

  app.setErrorHandler((error, request, reply) => sendError(error, request, reply, options.log))
  app.addHook('onResponse', async (request, reply) => report(request, reply, options))
  return app
}

const commonHeaders = (requestId: string) => ({
  'x-request-id': requestId,
  'cache-control': 'no-store',
  'x-content-type-options': 'nosniff',
  'referrer-policy': 'no-referrer',
  'strict-transport-security': 'max-age=31536000; includeSubDomains',
})

const tooEarly = 'The request came as TLS early data, which can be replayed; send it again after the handshake'

interface Edge extends AppOptions {
  accountHeaderName: string
  sendStream: ReturnType<typeof createStreams>
}

function addRoute(app: FastifyInstance, route: Route, options: Edge): void {
  const { accountHeaderName } = options
  const scopes = scopesOf(route)
  const validate = createValidator(route)
  const holdToPins = createPinCheck(route, options.buyers)
  const [status, schema] = route.returns
  const headerKey = accountHeaderName.toLowerCase()

  app.route({
    method: route.method,
    url: urlOf(route),
    config: { route },
    // What is not in the response schema is not sent: a field cannot leak by being in a row.
    ...(schema && { schema: { response: { [status]: schema } } }),
    // Before the body is read, so that 401 and 403 win over anything that may be wrong with it.
    onRequest: async (request, reply) => {
      const caller = isOpen(route) ? browser : await options.authenticate(request.headers.authorization)
      const admission = admissions.get(request)
      if (admission) admission.caller = caller
      if (!isOpen(route)) requireScope(caller, scopes)
      const subject = subjectOf(route, caller, request.params)
      if (subject) void reply.headers(await options.limiter(subject))
      const value = singleHeader(request, headerKey)
      const accounts = await selectAccounts(route, caller, { name: accountHeaderName, value }, options.accounts)
      if (admission) Object.assign(admission, { accounts, accountHeader: value })
    },
    handler: async (request, reply) => {
      const { caller: admitted, accounts, accountHeader } = admissions.get(request) ?? {}
      if (!admitted || !accounts) throw new Error('a handler ran before the request was admitted')
      const validated = validate({
        params: request.params,
        query: request.query as Record<string, unknown>,
        body: route.raw ? undefined : (request.body ?? undefined),
      })
      const caller = await holdToPins(admitted, accounts, validated)
      const { params, query, body } = validated
      await options.clocks.refresh()
      const ctx: Context = {
        db: options.db,
        vault: options.vault,
        connectors: options.connectors,
        antiFraud: options.antiFraud,
        giftCards: options.giftCards,
        instance: options.instance,
        environment: options.environment,
        maxGiftCards: options.maxGiftCards,
        checkTarget: options.checkTarget,
        clocks: options.clocks,
        ...(route.merchantAccount === 'none' ? realTime : options.clocks.of(accounts)),
        log: options.log,
        requestId: request.id,
        operation: route.id,
        baseUrl: options.baseUrl(),
        caller,
        accounts,
      }
      // A list under another resource is another list.
      const asked = { ...(params as object), ...query }
      const page = openPage(route, asked, { keyPairId: caller.keyPairId ?? '', accountHeader }, options.cursors)
      const idempotencyKey = route.idempotent ? readIdempotencyKey(request) : undefined
      const isPreferred = route.prefers !== undefined && prefers(request, route.prefers)
      const message = route.raw ? messageOf(request) : noMessage
      const input = { params, query, body, page, idempotencyKey, isPreferred, message }
      const output = await traced(route, request, () => route.handle(ctx, input))
      await failpoint('answer: not yet sent')
      if (output instanceof Streamed) {
        const readmit = async () => {
          const now = await options.authenticate(request.headers.authorization)
          requireScope(now, scopes)
          const reached = await selectAccounts(
            route,
            now,
            { name: accountHeaderName, value: accountHeader },
            options.accounts,
          )
          if (String(reached) !== String(accounts)) throw new Error('the caller reaches other accounts than before')
        }
        return options.sendStream(reply, output, { holder: caller.keyPairId ?? '', readmit, requestId: request.id })
      }
      return sendAnswer(reply, route, output)
    },
  })
}

/** Answered before anything of the request is read. */
function addPreflight(app: FastifyInstance, preflight: Preflight): void {
  const answer = async (_request: FastifyRequest, reply: FastifyReply) =>
    reply.code(204).headers(preflight.headers).send()
  app.route({ method: 'OPTIONS', url: urlOf(preflight), onRequest: answer, handler: answer })
}

function sendError(thrown: unknown, request: FastifyRequest, reply: FastifyReply, log: Log): FastifyReply {
  const { route } = admissions.get(request) ?? {}
  const answer = answerError(thrown, route)
  if (answer.isFault || answer.status >= 500) {
    log.error('request failed', { request_id: request.id, ...(route && { operation: route.id }), error: thrown })
  } else if (thrown instanceof ApiError && thrown.reason) {
    log.info('request refused', { request_id: request.id, error_code: thrown.code, reason: thrown.reason })
  }
  // Fastify would close the connection on a client that is still sending, which then often does not see the answer. Node reads
  // the rest away, and no longer than a request may take.
  if ((thrown as { code?: unknown }).code === 'FST_ERR_CTP_BODY_TOO_LARGE') void reply.removeHeader('connection')
  return reply
    .code(answer.status)
    .headers(answer.headers)
    .header('content-type', 'application/json; charset=utf-8')
    .serializer((body: unknown) => JSON.stringify(body))
    .send(answer.body)
}

function report(request: FastifyRequest, reply: FastifyReply, { log, metrics }: AppOptions): void {
  const { route, caller, accounts } = admissions.get(request) ?? {}
  const operation = route?.id ?? 'none'
  metrics.observeRequest(operation, reply.statusCode, reply.elapsedTime / 1000)
  log.info('request', {
    request_id: request.id,
    operation,
    method: request.method,
    status: reply.statusCode,
    duration_ms: Math.round(reply.elapsedTime * 100) / 100,
    ...(caller?.keyPairId && { key_pair_id: caller.keyPairId }),
    ...(accounts && { merchant_account_id: accounts === 'all' ? '*' : accounts.join(',') }),
  })
}
