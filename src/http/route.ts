import type { Static, TObject, TSchema } from 'typebox'
import type { InboundMessage } from '../connectors/payment.ts'
import type { Context } from '../context.ts'
import type { PageRequest } from '../page.ts'
import type { Rendered } from '../rendered.ts'
import type { Scope } from '../scopes.ts'
import type { Streamed } from '../streamed.ts'

export type Method = 'GET' | 'POST' | 'PUT' | 'DELETE'

/** What an example body may depend on, so that the same example can be sent many times. */
export interface Sample {
  merchantAccountId: string
  unique: string
  /** Ids of existing resources, by the name of their path parameter: those that the route says it needs. */
  ids: Readonly<Record<string, string>>
}

type StaticOr<Schema, Fallback> = Schema extends TSchema ? Static<Schema> : Fallback

export interface Input<Params, Query, Body> {
  params: StaticOr<Params, Record<never, never>>
  query: StaticOr<Query, Record<never, never>>
  body: StaticOr<Body, undefined>
  /** The page asked for, on routes that say `paged`. */
  page: PageRequest
  /** On routes that are `idempotent`. */
  idempotencyKey: string | undefined
  /** Whether the caller wants the resource that the route `prefers` to offer. */
  isPreferred: boolean
  /** The request as it came, on routes that say `raw`. */
  message: InboundMessage
}

export interface RouteDefinition<
  Params extends TObject | undefined,
  Query extends TObject | undefined,
  Body extends TSchema | undefined,
  Output extends TSchema | undefined,
> {
  /** Operation id: the name of the function, the SDK's method, the metric's label. */
  id: string
  method: Method
  /** As in OpenAPI: `/api-key-pairs/{api_key_pair_id}`. The first segment is the area. */
  path: string
  summary: string
  description?: string
  /**
   * Any one of these is enough. `none`: no token at all; an id in the path is the credential, and browsers of any origin may call. With `raw`
   * the credential is a signature, and no browser calls.
   */
  scope: Scope | readonly [Scope, ...Scope[]] | 'none'
  /**
   * How the merchant account header is taken: `none` not at all (the request acts upon all the caller reaches), `one` names
   * exactly one, `list` may also be `*`, and so may `instance`: the whole instance, by who reaches all of it.
   */
  merchantAccount: 'none' | 'one' | 'list' | 'instance'
  /** The shape of a validation failure: 400 with `details`, or 422 with `detail` where the specification lists it. */
  validation?: 'details' | 'detail'
  params?: Params
  query?: Query
  /** The query takes `cursor` and `limit`, and the answer is a collection. */
  paged?: boolean
  body?: Body
  /** A request without a body is one with an empty object. */
  bodyOptional?: boolean
  /** Takes any body, of any content type, and hands it on byte by byte: what a signature is about. */
  raw?: true
  /** Takes `Idempotency-Key`: the same key gets the same answer, and nothing happens twice. */
  idempotent?: boolean
  /** Counted against the limit that keeps browsers from trying out cards: by the token, if it is a browser's, or by the session in the path. */
  limited?: 'token' | 'session'
  /** Takes `Prefer: resource=<this>`, and answers with that instead. */
  prefers?: string
  /** A body that succeeds in an instance with the sample's merchant account. */
  example?: (sample: Sample) => StaticOr<Body, never>
  /** Path parameters of other resources whose ids the example names. */
  needs?: readonly string[]
  /** What the example of the resource in the path must say, by path parameter, where its own is not enough. */
  given?: Readonly<Record<string, Readonly<Record<string, unknown>>>>
  /** Path parameters of what comes with the service and belongs to no account, each with one that exists. */
  exampleParams?: Readonly<Record<string, string>>
  /** A query that succeeds, where one without parameters does not. */
  exampleQuery?: Readonly<Record<string, string>>
  returns: readonly [status: number, schema?: Output]
  /** Answers with server-sent events. */
  streams?: true
  /** `false` for a question that is not a GET: it leaves no audit row. */
  changes?: false
  /** The status when the handler returns nothing although there is a schema. */
  orEmpty?: 204
  handle: (
    ctx: Context,
    input: Input<Params, Query, Body>,
  ) =>
    | Promise<StaticOr<Output, void> | Rendered | Streamed | undefined>
    | StaticOr<Output, void>
    | Rendered
    | Streamed
    | undefined
}

/** A route with its types forgotten, as the list holds it. */
export type Route = Omit<
  RouteDefinition<TObject | undefined, TObject | undefined, TSchema | undefined, TSchema | undefined>,
  'handle' | 'example'
> & {
  example?: (sample: Sample) => unknown
  handle: (
    ctx: Context,
    input: {
      params: unknown
      query: unknown
      body: unknown
      page: PageRequest
      idempotencyKey: string | undefined
      isPreferred: boolean
      message: InboundMessage
    },
  ) => unknown
}

export function route<
  Params extends TObject | undefined = undefined,
  Query extends TObject | undefined = undefined,
  Body extends TSchema | undefined = undefined,
  Output extends TSchema | undefined = undefined,
>(definition: RouteDefinition<Params, Query, Body, Output>): Route {
  // The edge validates the input against the same schemas before it calls, which is what makes this cast true.
  return definition as unknown as Route
}

export function scopesOf({ scope }: Pick<Route, 'scope'>): readonly Scope[] {
  if (scope === 'none') return []
  return typeof scope === 'string' ? [scope] : scope
}
