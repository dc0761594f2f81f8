import type { GiftCardServiceDefinition } from '../../connectors/gift-card.ts'
import type { ErrorDetail } from '../../errors.ts'

export interface FieldInput {
  key: string
  value: string
}

export interface FieldState {
  fields: Readonly<Record<string, string>>
  /** As the vault calls them. */
  secret_names: readonly string[]
}

export const noFields: FieldState = { fields: {}, secret_names: [] }

/** What the vault has to do. */
export interface SecretChange {
  store: Record<string, string>
  remove: string[]
}

const prefix = 'field.'
const secretName = (key: string) => prefix + key

/** Names of the secrets by their keys. */
export const secretKeys = (names: readonly string[]) =>
  new Map(names.map((name): [string, string] => [name.slice(prefix.length), name]))

/** Sets what has a value and clears what has an empty one. */
export function applyFields(
  definition: GiftCardServiceDefinition,
  current: FieldState,
  input: readonly FieldInput[],
): { state: FieldState; secrets: SecretChange } {
  const known = new Map(definition.fields.map((field) => [field.key, field]))
  const fields = { ...current.fields }
  const names = new Set(current.secret_names)
  const secrets: SecretChange = { store: {}, remove: [] }
  for (const { key, value } of input) {
    const name = secretName(key)
    if (!known.get(key)?.secret) {
      if (value === '') delete fields[key]
      else fields[key] = value
    } else if (value !== '') {
      names.add(name)
      secrets.store[name] = value
    } else if (names.delete(name)) secrets.remove.push(name)
  }
  return { state: { fields, secret_names: [...names].toSorted() }, secrets }
}

const problem = (pointer: string, type: string, message: string): ErrorDetail => ({
  location: 'body',
  pointer,
  message,
  type: `value_error.${type}`,
})

/** What the vault takes at most. */
const mostSecretBytes = 32_768

/** What is wrong with the fields as they were sent, and with the service as it would be. */
export function fieldProblems(
  definition: GiftCardServiceDefinition,
  input: readonly FieldInput[],
  state: FieldState,
): ErrorDetail[] {
  const known = new Set(definition.fields.map(({ key }) => key))
  const sent = input.flatMap(({ key, value }, index) => {
    if (!known.has(key)) return problem(`/fields/${index}/key`, 'unknown', 'The definition has no such field')
    if (input.findIndex((other) => other.key === key) < index) {
      return problem(`/fields/${index}/key`, 'conflict', 'Must not be there twice')
    }
    if (Buffer.byteLength(value) <= mostSecretBytes) return []
    return problem(`/fields/${index}/value`, 'length', `Must have at most ${mostSecretBytes} bytes`)
  })
  const missing = definition.fields
    .filter(({ key, required }) => required && !(key in state.fields) && !state.secret_names.includes(secretName(key)))
    .map(({ key }) => problem('/fields', 'missing', `The field ${key} is required`))
  return [...sent, ...missing]
}
