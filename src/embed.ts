import { isDeepStrictEqual } from 'node:util'
import { type Static, Type } from 'typebox'
import type { Caller } from './context.ts'
import { compile } from './platform/validator.ts'
import { Body, optional, Uuid } from './schema.ts'

/** Tokens for browsers: whoever holds one may send any request, so the values that matter are signed into it. Pure: no database, no clock. */

const JsonObject = Type.Unsafe<Record<string, unknown>>({ type: 'object' })

/** The claim `embed`: values that requests with the token are held to. */
const Pins = Body(
  optional({
    amount: Type.Integer({ minimum: 0 }),
    currency: Type.String({ pattern: '^[A-Z]{3}$' }),
    buyer_id: Uuid(),
    buyer_external_identifier: Type.String({ minLength: 1, maxLength: 200 }),
    metadata: Type.Unsafe<Record<string, string>>({ type: 'object', additionalProperties: { type: 'string' } }),
    cart_items: Type.Array(JsonObject),
    merchant_account_id: Type.String({ minLength: 1, maxLength: 255 }),
    connection_options: JsonObject,
  }),
)
export type Pins = Static<typeof Pins>

export const pinNames = Object.keys(Pins.properties) as (keyof Pins)[]

const problemsOf = compile(Pins)

/** A buyer is pinned once: two names could be two buyers. */
export const isPins = (value: unknown): value is Pins =>
  problemsOf(value).length === 0 &&
  !((value as Pins).buyer_id !== undefined && (value as Pins).buyer_external_identifier !== undefined)

/**
 * Whether the caller may act for a stored buyer, to whom a payment method or a gift card belongs: servers for every one, a browser for the one
 * that its token pins. What belongs to nobody is anybody's who knows its id.
 */
export const speaksFor = ({ pins }: Pick<Caller, 'pins'>, buyerId: string | null) =>
  pins === null || buyerId === null || buyerId === pins.buyer_id

export interface PinProblem {
  pointer: string
  message: string
}

const heldValues = ['amount', 'currency', 'metadata', 'cart_items', 'connection_options'] as const
const longestShown = 300

/** Where a body is not what the token pins; of the values that such a body can have. What it leaves out is not what is pinned. */
export function differences(pins: Pins, known: ReadonlySet<string>, body: Record<string, unknown>): PinProblem[] {
  return heldValues
    .filter((name) => pins[name] !== undefined && known.has(name) && !isDeepStrictEqual(body[name], pins[name]))
    .map((name) => {
      const value = JSON.stringify(pins[name])
      const wanted = value.length > longestShown ? `the value of embed.${name}` : value
      return { pointer: `/${name}`, message: `Must be ${wanted}, as the token says` }
    })
}

const buyerNames = ['buyer_id', 'buyer_external_identifier'] as const
type BuyerName = (typeof buyerNames)[number]

/** Names of properties from the outside in; `*` is every item of a list. */
type Place = readonly string[]

interface SchemaNode {
  properties?: Record<string, SchemaNode>
  items?: SchemaNode
  oneOf?: SchemaNode[]
  anyOf?: SchemaNode[]
  allOf?: SchemaNode[]
}

/** Where requests of this shape can name a stored buyer, outermost first. Maps with keys of the caller's own name nobody. */
export function buyerPlaces(schema: unknown): Place[] {
  const found = new Map<string, Place>()
  const visit = (node: SchemaNode, path: Place): void => {
    for (const [name, property] of Object.entries(node.properties ?? {})) {
      const place = [...path, name]
      if (isBuyerName(name)) found.set(place.join('/'), place)
      else visit(property, place)
    }
    if (node.items) visit(node.items, [...path, '*'])
    for (const branch of [node.oneOf, node.anyOf, node.allOf].flat()) if (branch) visit(branch, path)
  }
  visit((schema ?? {}) as SchemaNode, [])
  return [...found.values()].sort((one, other) => one.length - other.length)
}

const isBuyerName = (name: string): name is BuyerName => (buyerNames as readonly string[]).includes(name)

export interface NamedBuyer {
  /** JSON pointer. */
  pointer: string
  by: BuyerName
  value: string
}

/** The buyers that a request names at these places. */
export function namedBuyers(places: readonly Place[], request: unknown): NamedBuyer[] {
  return places.flatMap((place) => {
    const by = place.at(-1)
    return valuesAt(place, request, '').flatMap(({ pointer, value }) =>
      typeof value === 'string' && by !== undefined && isBuyerName(by) ? [{ pointer, by, value }] : [],
    )
  })
}

function valuesAt([first, ...rest]: Place, value: unknown, pointer: string): { pointer: string; value: unknown }[] {
  if (first === undefined) return [{ pointer, value }]
  if (typeof value !== 'object' || value === null) return []
  if (first === '*') {
    return Array.isArray(value) ? value.flatMap((item, index) => valuesAt(rest, item, `${pointer}/${index}`)) : []
  }
  return valuesAt(rest, (value as Record<string, unknown>)[first], `${pointer}/${first}`)
}
