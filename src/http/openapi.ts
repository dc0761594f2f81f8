import type { TObject, TSchema } from 'typebox'
import { Type } from 'typebox'
import { errorTable } from '../errors.ts'
import { type EventName, eventNames } from '../events/catalog.ts'
import { eventSchema } from '../events/envelope.ts'
import { eventMeanings } from '../events/meanings.ts'
import { Constant, Enum, Nullable } from '../schema.ts'
import { areas } from './areas.ts'
import {
  accountParameter,
  headerComponents,
  helpHeader,
  idempotencyHeader,
  limitHeaders,
  preferHeader,
  requestIdHeader,
  retryHeader,
  webhookHeaderNames,
  webhookHeaders,
} from './openapi-headers.ts'
import { nameOperation } from './operation-names.ts'
import { type Route, scopesOf } from './route.ts'

type Json = Record<string, unknown>

const ErrorDetail = Type.Object(
  {
    location: Enum(['body', 'query', 'path', 'header', 'unknown']),
    pointer: Type.String({
      description: "JSON pointer in a body, the parameter's name elsewhere.",
      example: '/display_name',
    }),
    message: Type.String({ example: 'This field is required' }),
    type: Type.String({ example: 'value_error.missing' }),
  },
  { title: 'ErrorDetail' },
)

const errorFields = {
  type: Constant('error'),
  code: Type.String({ description: 'Machine-readable.', example: 'bad_request' }),
  status: Type.Integer({ description: 'The HTTP status.', example: 400 }),
  message: Type.String({ description: 'For people.', example: 'Request failed validation' }),
  details: Type.Array(ErrorDetail),
}
const ErrorBody = Type.Object(errorFields, { title: 'Error' })
const ConflictBody = Type.Object(
  { ...errorFields, resource_id: Nullable(Type.String({ description: 'The resource it conflicts with.' })) },
  { title: 'ErrorConflict' },
)
const ValidationBody = Type.Object(
  {
    detail: Type.Array(
      Type.Object({
        loc: Type.Array(Type.Unsafe<string | number>({ type: ['string', 'integer'] }), {
          example: ['body', 'display_name'],
        }),
        msg: Type.String({ example: 'This field is required' }),
        type: Type.String({ example: 'value_error.missing' }),
      }),
    ),
  },
  { title: 'HTTPValidationError' },
)

const errorResponses: [status: number, name: string, description: string, schema: TSchema][] = [
  // Of the codes that share a status, the first has the name.
  ...Object.entries(errorTable)
    .filter(([, [status]], index, all) => all.findIndex(([, [other]]) => other === status) === index)
    .map(([code, [status, , meaning]]): [number, string, string, TSchema] => [
      status,
      code,
      meaning,
      status === 409 ? ConflictBody : ErrorBody,
    ]),
  [422, 'validation_failure', 'A value does not fit (API key pair operations only; elsewhere 400).', ValidationBody],
]

const intro = `A payments API: one door in front of card processors and gift card providers.

**Merchant accounts.** Most operations act upon one merchant account, named by a header; without it, the first one the key pair can reach. Lists also take \`*\`.

**Lists** are in creation order, newest first, and come in pages: follow \`next_cursor\` until it is null.

**Errors** carry a code, a message and, for each bad field, a pointer to it. The header \`Link\` leads to a page about the code, also from a payment that was declined. Every answer has an \`X-Request-Id\`.`

const bearer = `The token is a JWT that you sign yourself with the private key of an API key pair: ES512, or RS512 for RSA pairs. The header's \`kid\` is the
thumbprint of the pair. Claims: \`scopes\` (a list), \`iat\`, \`nbf\`, \`exp\` (at most 24 hours after \`iat\`), \`iss\` and \`jti\`. A token may do what its scopes and the
roles of its key pair both allow; \`*.read\` and \`*.write\` stand for every resource.

A token with the scope \`embed\` is for a browser or an app: it may call only the operations that list this scope, a limited number of times a minute. Its claim
\`embed\` pins values that requests must match: \`amount\`, \`currency\`, \`buyer_id\` or \`buyer_external_identifier\`, \`metadata\`, \`cart_items\`,
\`connection_options\`, and \`merchant_account_id\`. With the claim \`checkout_session_id\` a payment belongs to that checkout session.`

/** In examples that name other resources. */
export const exampleId = '0192f4a6-7e0c-7c33-b1de-3f1a2b4c5d6e'
const exampleIds = new Proxy({}, { get: () => exampleId })

function areaOf({ path }: Route): [name: string, description: string] {
  const area = areas[path.split('/')[1] ?? '']
  if (!area) throw new Error(`the area of ${path} has no description in src/http/openapi.ts`)
  return area
}

const accountParameters = {
  one: 'MerchantAccount',
  list: 'MerchantAccounts',
  instance: 'MerchantAccountOrInstance',
  none: '',
}

/** A payment, a capture or a refund: `sendAnswer` of answer.ts leads to the page about its `error_code`. */
const mayHaveFailed = (schema: TSchema | undefined): boolean => {
  const { properties = {}, anyOf = [] } = (schema ?? {}) as { properties?: object; anyOf?: TSchema[] }
  return 'error_code' in properties || anyOf.some(mayHaveFailed)
}

/** The route list → OpenAPI 3.1. A schema with a title becomes a component of that name. */
export function describeApi(routes: readonly Route[], { headerPrefix = 'X-Service-', version = '' } = {}): Json {
  const components = new Map<string, Json>()
  const schema = (node: TSchema) => hoist(node as unknown as Json, components)

  const parameters = (location: 'path' | 'query', object: TObject | undefined) =>
    Object.entries((object?.properties ?? {}) as unknown as Record<string, TSchema & Json>).map(([name, property]) => {
      const { description, example, ...rest } = property
      const isRequired = location === 'path' || ((object?.required ?? []) as string[]).includes(name)
      return {
        name,
        in: location,
        required: isRequired,
        ...(description !== undefined && { description }),
        schema: schema(rest as unknown as TSchema),
        ...(example !== undefined && { example }),
      }
    })

  const operation = (route: Route): Json => {
    const scopes = scopesOf(route)
    const [status, output] = route.returns
    const accountHeader = {
      $ref: `#/components/parameters/${accountParameters[route.merchantAccount]}`,
    }
    const example = route.example?.({ merchantAccountId: 'default', unique: 'example', ids: exampleIds })
    return {
      operationId: route.id,
      'x-florin-name': nameOperation(route),
      tags: [areaOf(route)[0]],
      summary: route.summary,
      description: route.description ?? `${route.summary}.`,
      'x-florin-scope': scopes,
      security: scopes.map((scope) => ({ bearer: [scope] })),
      parameters: [
        ...parameters('path', route.params),
        ...(route.merchantAccount === 'none' ? [] : [accountHeader]),
        ...(route.idempotent ? [idempotencyHeader] : []),
        ...(route.prefers === undefined ? [] : [preferHeader(route.prefers)]),
        ...parameters('query', route.query),
      ],
      ...(route.body && {
        requestBody: {
          required: !route.bodyOptional,
          content: { 'application/json': { schema: schema(route.body), ...(example !== undefined && { example }) } },
        },
      }),
      ...(route.raw && { requestBody: { required: true, content: { '*/*': { schema: {} } } } }),
      responses: {
        [status]: {
          description: output || route.streams ? 'Success.' : 'Success; no content.',
          headers: { ...requestIdHeader, ...(mayHaveFailed(output) && helpHeader), ...(route.limited && limitHeaders) },
          ...(output && { content: { 'application/json': { schema: schema(output) } } }),
          ...(route.streams && { content: { 'text/event-stream': { schema: { type: 'string' } } } }),
        },
        ...(route.orEmpty && { [route.orEmpty]: { description: 'Nothing to do; no content.' } }),
        ...Object.fromEntries(errorResponses.map(([code, name]) => [code, { $ref: `#/components/responses/${name}` }])),
      },
    }
  }

  const paths: Record<string, Json> = {}
  for (const route of routes)
    paths[route.path] = { ...paths[route.path], [route.method.toLowerCase()]: operation(route) }
  const webhooks = Object.fromEntries(eventNames.map((name) => [name, webhook(name, schema)]))
  const responses = Object.fromEntries(
    errorResponses.map(([, name, description, body]) => [
      name,
      {
        description,
        headers: {
          ...requestIdHeader,
          ...helpHeader,
          ...(name === 'too_many_requests' && { ...limitHeaders, ...retryHeader }),
        },
        content: { 'application/json': { schema: schema(body) } },
      },
    ]),
  )

  return {
    openapi: '3.1.0',
    info: {
      title: 'Florin',
      version,
      summary: 'A payments API that a company runs itself.',
      description: intro,
      license: { name: 'Apache-2.0', identifier: 'Apache-2.0' },
    },
    servers: [{ url: '/', description: 'The instance this document was served by.' }],
    tags: [...new Map(routes.map(areaOf))].map(([name, description]) => ({ name, description })),
    paths,
    webhooks,
    components: {
      securitySchemes: { bearer: { type: 'http', scheme: 'bearer', bearerFormat: 'JWT', description: bearer } },
      headers: headerComponents,
      parameters: {
        // Until an operation takes exactly one account, the linter would call this parameter unused.
        ...(routes.some(({ merchantAccount }) => merchantAccount === 'one') && {
          MerchantAccount: accountParameter(
            headerPrefix,
            'The merchant account to act upon. Default: the first one the key pair can reach.',
          ),
        }),
        MerchantAccounts: accountParameter(
          headerPrefix,
          'The merchant account to list. `*` lists all the key pair can reach. Default: the first one it can reach.',
        ),
        MerchantAccountOrInstance: accountParameter(
          headerPrefix,
          'The merchant account to act upon. `*` is the whole instance, for key pairs of all merchant accounts. Default: the first one the key pair can reach.',
        ),
        ...webhookHeaders(headerPrefix),
      },
      responses,
      schemas: Object.fromEntries([...components].sort(([left], [right]) => (left < right ? -1 : 1))),
    },
    'x-florin-errors': Object.entries(errorTable).map(([code, [status, message, meaning]]) => ({
      status,
      code,
      message,
      meaning,
    })),
  }
}

function webhook(name: EventName, schema: (node: TSchema) => unknown): Json {
  return {
    post: {
      operationId: name,
      summary: name,
      description: `${eventMeanings[name]} Sent to every active webhook subscription that wants it, and again until it is answered with 2xx.`,
      security: [],
      parameters: webhookHeaderNames.map((header) => ({ $ref: `#/components/parameters/${header}` })),
      requestBody: { required: true, content: { 'application/json': { schema: schema(eventSchema(name)) } } },
      responses: { '200': { description: 'Received.' } },
    },
  }
}

/** Replaces every titled schema by a reference and collects it; two different schemas of one title are a mistake. */
function hoist(node: Json, components: Map<string, Json>): Json {
  const inner = Object.fromEntries(Object.entries(node).map(([key, value]) => [key, hoistValue(value, components)]))
  const { title, ...schema } = inner
  if (typeof title !== 'string') return inner
  const known = components.get(title)
  if (known && JSON.stringify(known) !== JSON.stringify(schema))
    throw new Error(`two different schemas are called ${title}`)
  components.set(title, schema)
  return { $ref: `#/components/schemas/${title}` }
}

function hoistValue(value: unknown, components: Map<string, Json>): unknown {
  if (Array.isArray(value)) return value.map((item) => hoistValue(item, components))
  return typeof value === 'object' && value !== null ? hoist(value as Json, components) : value
}
