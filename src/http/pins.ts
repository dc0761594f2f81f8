import type { Caller } from '../context.ts'
import { buyerPlaces, differences, type NamedBuyer, namedBuyers, type Pins } from '../embed.ts'
import { type ErrorDetail, ValidationFailure } from '../errors.ts'
import type { Accounts } from '../platform/accounts.ts'
import type { Route } from './route.ts'
import type { Validated } from './validate.ts'

/** Ids of stored buyers, for tokens that pin a buyer by the merchant's own reference. */
export interface BuyerDirectory {
  idOf(accounts: Accounts, externalIdentifier: string): Promise<string | undefined>
}

/** Holds a request to what its token pins. The caller comes back with its buyer by id, if there is such a buyer. */
export type HoldToPins = (caller: Caller, accounts: Accounts, request: Validated) => Promise<Caller>

/** Read from the schemas of the route, so that no route can forget it. */
export function createPinCheck(route: Pick<Route, 'params' | 'query' | 'body'>, buyers: BuyerDirectory): HoldToPins {
  const known = new Set(Object.keys((route.body as { properties?: object } | undefined)?.properties ?? {}))
  const parts = (
    [
      ['path', 'params'],
      ['query', 'query'],
      ['body', 'body'],
    ] as const
  ).map(([location, part]) => ({ location, part, places: buyerPlaces(route[part]) }))

  return async (caller, accounts, request) => {
    const { pins } = caller
    if (!pins) return caller
    const idOf = (externalIdentifier: string) => buyers.idOf(accounts, externalIdentifier)
    const resolved = await withBuyerId(pins, idOf)
    const details: ErrorDetail[] = differences(pins, known, (request.body ?? {}) as Record<string, unknown>).map(
      ({ pointer, message }) => ({ location: 'body', pointer, message, type: 'value_error.conflict' }),
    )
    const isPinned = pins.buyer_id !== undefined || pins.buyer_external_identifier !== undefined
    let isNamed = false
    for (const { location, part, places } of parts) {
      for (const named of namedBuyers(places, request[part])) {
        isNamed = true
        if (!(await isSame(named, resolved, idOf))) details.push(foreignBuyer(location, named.pointer, isPinned))
      }
    }
    const missing = isPinned && !isNamed ? parts.find(({ places }) => places.length > 0) : undefined
    if (missing) details.push(missingBuyer(missing, pins))
    if (details.length > 0) throw new ValidationFailure(details)
    return { ...caller, pins: resolved }
  }
}

async function withBuyerId(pins: Pins, idOf: (externalIdentifier: string) => Promise<string | undefined>) {
  const { buyer_external_identifier: externalIdentifier } = pins
  const id = externalIdentifier === undefined ? undefined : await idOf(externalIdentifier)
  return id === undefined ? pins : { ...pins, buyer_id: id }
}

/** One buyer has two names. */
async function isSame(
  { by, value }: NamedBuyer,
  pins: Pins,
  idOf: (externalIdentifier: string) => Promise<string | undefined>,
): Promise<boolean> {
  if (pins[by] === value) return true
  if (by === 'buyer_id' || pins.buyer_id === undefined) return false
  return (await idOf(value)) === pins.buyer_id
}

type Location = 'path' | 'query' | 'body'

/** JSON pointer in a body, the parameter's name elsewhere. */
const pointerIn = (location: Location, pointer: string) => (location === 'body' ? pointer : pointer.slice(1))

const foreignBuyer = (location: Location, pointer: string, isPinned: boolean): ErrorDetail => ({
  location,
  pointer: pointerIn(location, pointer),
  message: isPinned
    ? 'Must be the buyer that the token names'
    : 'A browser cannot choose a buyer by itself; sign the token with embed.buyer_id or embed.buyer_external_identifier',
  type: 'value_error.conflict',
})

function missingBuyer(
  { location, places }: { location: Location; places: readonly (readonly string[])[] },
  pins: Pins,
): ErrorDetail {
  const name = pins.buyer_id === undefined ? 'buyer_external_identifier' : 'buyer_id'
  const place = places.find((found) => found.at(-1) === name) ?? places[0] ?? []
  const message = `Must be ${JSON.stringify(pins[name])}, as the token says`
  return { location, pointer: pointerIn(location, `/${place.join('/')}`), message, type: 'value_error.conflict' }
}
