import type { TSchema } from 'typebox'

export type ProcessName = 'api' | 'worker' | 'vault' | 'migrate'

interface Where<IsSecret extends boolean> {
  env: string
  /** The processes that read it. */
  for: readonly ProcessName[]
  secret: IsSecret
}

export interface Setting<Schema extends TSchema = TSchema, IsSecret extends boolean = boolean> extends Where<IsSecret> {
  schema: Schema
}

export const setting = <Schema extends TSchema>(
  schema: Schema,
  where: Omit<Where<false>, 'secret'>,
): Setting<Schema, false> => ({
  ...where,
  schema,
  secret: false,
})

export const secret = <Schema extends TSchema>(
  schema: Schema,
  where: Omit<Where<true>, 'secret'>,
): Setting<Schema, true> => ({
  ...where,
  schema,
  secret: true,
})
