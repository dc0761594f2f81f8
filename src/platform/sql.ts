/** A statement or a piece of one. Values only ever become parameters; pieces nest. */
export interface Sql {
  readonly parts: readonly string[]
  readonly values: readonly unknown[]
}

const isSql = (value: unknown): value is Sql =>
  typeof value === 'object' && value !== null && 'parts' in value && 'values' in value

export function sql(strings: TemplateStringsArray, ...inputs: unknown[]): Sql {
  const parts: string[] = [strings[0] ?? '']
  const values: unknown[] = []
  for (const [index, input] of inputs.entries()) {
    const after = strings[index + 1] ?? ''
    if (isSql(input)) {
      const [first = '', ...rest] = input.parts
      parts[parts.length - 1] += first
      parts.push(...rest)
      values.push(...input.values)
      parts[parts.length - 1] += after
    } else {
      values.push(input)
      parts.push(after)
    }
  }
  return { parts, values }
}

/** A piece that the code itself spells, such as a name that it computes. Never anything of a request. */
export const raw = (text: string): Sql => ({ parts: [text], values: [] })

/** Joins conditions with `and`; none at all is `true`. */
export function all(conditions: readonly Sql[]): Sql {
  return conditions.length === 0 ? sql`true` : conditions.reduce((left, right) => sql`${left} and ${right}`)
}

/** Joins conditions with `or`; none at all is `false`. */
export function any(conditions: readonly Sql[]): Sql {
  return conditions.length === 0 ? sql`false` : sql`(${conditions.reduce((left, right) => sql`${left} or ${right}`)})`
}

/** The new value of a column in an update, or the column itself when there is none. */
export const orKept = (value: unknown, column: Sql): Sql => (value === undefined ? column : sql`${value}`)

/**
 * The statement with its values written into it, for the simple protocol, which carries no parameters. Text and numbers only: what
 * else there is goes as JSON.
 */
export function toText({ parts, values }: Sql, quote: (text: string) => string): string {
  const literals = values.map((value) => {
    if (typeof value === 'string') return quote(value)
    if (typeof value === 'number' && Number.isFinite(value)) return String(value)
    throw new TypeError('only text and numbers can be written into a statement')
  })
  return parts.reduce((left, right, index) => `${left}${literals[index - 1] ?? ''}${right}`)
}

export function toQuery({ parts, values }: Sql): { text: string; values: unknown[] } {
  const text = parts.reduce((left, right, index) => `${left}$${index}${right}`)
  return { text, values: [...values] }
}
