import type { Schema } from './operations-manifest.ts'

/** What people look for in a list, the most telling first; the rest is in the JSON. An amount is shown with its currency. */
const telling = [
  'id',
  'name',
  'event_name',
  'display_name',
  'slug',
  'status',
  'active',
  'amount',
  'balance',
  'created_at',
  'action',
  'resource.type',
  'timestamp',
  'resource.id',
  'user.name',
  'target.type',
  'target.id',
  'method',
  'scheme',
  'payment_method.scheme',
  'label',
  'payment_method.label',
  'bin',
  'last4',
  'expiration_date',
  'url',
  'attempt_count',
  'deliveries',
  'remaining_uses',
  'first_name',
  'last_name',
  'address.city',
  'address.country',
  'conditions',
  'outcome',
  'reason',
  'description',
  'external_identifier',
  'finished_at',
]

const fewest = 3

/** The columns of a table: the telling fields that an item has, and its first others where that is not enough. */
export function chooseColumns(item: Schema): string[] {
  const chosen = telling.filter((path) => has(item, path.split('.')))
  if (chosen.length >= fewest) return chosen
  const others = Object.entries(item.properties ?? {})
    .filter(([name, { type }]) => name !== 'type' && type !== 'array' && !chosen.includes(name))
    .map(([name]) => name)
  return [...chosen, ...others].slice(0, fewest)
}

function has(schema: Schema | undefined, [name, ...rest]: readonly string[]): boolean {
  if (name === undefined) return schema !== undefined
  const kinds = schema?.oneOf ?? schema?.anyOf ?? [schema]
  return kinds.some((kind) => has(kind?.properties?.[name], rest) && kind?.properties?.[name] !== undefined)
}
