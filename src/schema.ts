import { type Static, type TSchema, Type } from 'typebox'

/** Building blocks of the wire shapes. Plain JSON Schema with one clean error per bad value. */

/** `type: [x, 'null']` instead of a union, which would report every branch. */
export function Nullable<Schema extends TSchema>(schema: Schema) {
  const { type, enum: values, ...rest } = schema as { type?: string; enum?: unknown[] }
  const nullable = values ? { enum: [...values, null] } : { type: [type, 'null'] }
  return Type.Unsafe<Static<Schema> | null>({ ...rest, ...nullable })
}

export const Enum = <const Values extends readonly string[]>(values: Values, options: object = {}) =>
  Type.Unsafe<Values[number]>({ type: 'string', enum: [...values], ...options })

export const Constant = <const Value extends string>(value: Value) =>
  Type.Unsafe<Value>({ type: 'string', const: value })

export const Uuid = (options: object = {}) =>
  Type.String({ format: 'uuid', example: '0192f4a6-7e0c-7c33-b1de-3f1a2b4c5d6e', ...options })

export const DateTime = (options: object = {}) =>
  Type.String({ format: 'date-time', example: '2026-11-15T12:30:00.000Z', ...options })

/** Properties of a request body; unknown ones are refused. */
export const Body = <Properties extends Parameters<typeof Type.Object>[0]>(
  properties: Properties,
  options: object = {},
) => Type.Object(properties, { additionalProperties: false, ...options })

type AllOptional<Properties extends Record<string, TSchema>> = {
  [Name in keyof Properties]: ReturnType<typeof Type.Optional<Properties[Name]>>
}
/** The same properties, each of which may be left out. */
export const optional = <Properties extends Record<string, TSchema>>(properties: Properties) =>
  Object.fromEntries(
    Object.entries(properties).map(([name, schema]) => [name, Type.Optional(schema)]),
  ) as AllOptional<Properties>

export const PageQuery = {
  cursor: Type.Optional(
    Type.String({
      minLength: 1,
      maxLength: 1000,
      description: 'Where to go on: `next_cursor` or `previous_cursor` of an earlier answer to the same request.',
    }),
  ),
  limit: Type.Optional(Type.Integer({ minimum: 1, maximum: 100, default: 20, description: 'Items per page.' })),
}

const Cursor = (description: string) => Nullable(Type.String({ minLength: 1, maxLength: 1000, description }))

export const Collection = <Item extends TSchema>(item: Item, options: { title: string; maximum?: number }) =>
  Type.Object(
    {
      items: Type.Array(item),
      limit: Type.Integer({ minimum: 1, maximum: options.maximum ?? 100, description: 'The limit of the request.' }),
      next_cursor: Cursor('Leads to the next page; null when there is none.'),
      previous_cursor: Cursor('Leads to the previous page; null when there is none.'),
    },
    { title: options.title, additionalProperties: false },
  )

export interface Collection<Item> {
  items: Item[]
  limit: number
  next_cursor: string | null
  previous_cursor: string | null
}
