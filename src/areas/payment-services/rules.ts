import type { DefinitionField, PaymentServiceDefinition } from '../../connectors/payment.ts'
import type { ErrorDetail } from '../../errors.ts'

export const paymentServiceStatuses = ['pending', 'created', 'failed'] as const
export type PaymentServiceStatus = (typeof paymentServiceStatuses)[number]

const switches = [
  'active',
  'payment_method_tokenization_enabled',
  'network_tokens_enabled',
  'open_loop',
  'settlement_reporting_enabled',
  'three_d_secure_enabled',
] as const
export type Switches = Record<(typeof switches)[number], boolean>

export const defaultSwitches: Switches = {
  active: true,
  payment_method_tokenization_enabled: false,
  network_tokens_enabled: false,
  open_loop: false,
  settlement_reporting_enabled: false,
  three_d_secure_enabled: false,
}

export const applySwitches = (
  current: Switches,
  input: { [Name in keyof Switches]?: boolean | null | undefined },
): Switches => Object.fromEntries(switches.map((name) => [name, input[name] ?? current[name]])) as Switches

/** The two lists of fields that a service has; a key may be in both. */
export type FieldGroup = 'fields' | 'reporting_fields'

const secretPrefixes = { fields: 'field.', reporting_fields: 'reporting.' } as const
const secretName = (group: FieldGroup, key: string) => secretPrefixes[group] + key

/** Names of the secrets of a group by their keys, out of all that are set. */
export function secretKeys(group: FieldGroup, names: readonly string[]): Map<string, string> {
  const prefix = secretPrefixes[group]
  return new Map(
    names.filter((name) => name.startsWith(prefix)).map((name): [string, string] => [name.slice(prefix.length), name]),
  )
}

export interface FieldInput {
  key: string
  value: string
}

export interface FieldState {
  fields: Readonly<Record<string, string>>
  reporting_fields: Readonly<Record<string, string>>
  /** As the vault calls them. */
  secret_names: readonly string[]
}

export const noFields: FieldState = { fields: {}, reporting_fields: {}, secret_names: [] }

/** What the vault has to do. */
export interface SecretChange {
  store: Record<string, string>
  remove: string[]
}

/** Sets what has a value and clears what has an empty one. Keys that the definition lacks are refused elsewhere. */
export function applyFields(
  definition: PaymentServiceDefinition,
  current: FieldState,
  input: { [Group in FieldGroup]?: readonly FieldInput[] | null | undefined },
): { state: FieldState; secrets: SecretChange } {
  const values = { fields: { ...current.fields }, reporting_fields: { ...current.reporting_fields } }
  const names = new Set(current.secret_names)
  const secrets: SecretChange = { store: {}, remove: [] }
  for (const group of ['fields', 'reporting_fields'] as const) {
    const known = new Map(definition[group].map((field) => [field.key, field]))
    for (const { key, value } of input[group] ?? []) {
      const name = secretName(group, key)
      if (!known.get(key)?.secret) {
        if (value === '') delete values[group][key]
        else if (known.has(key)) values[group][key] = value
      } else if (value === '') {
        if (names.delete(name)) secrets.remove.push(name)
      } else {
        names.add(name)
        secrets.store[name] = value
      }
    }
  }
  return { state: { ...values, secret_names: [...names].toSorted() }, secrets }
}

const problem = (pointer: string, type: string, message: string): ErrorDetail => ({
  location: 'body',
  pointer,
  message,
  type: `value_error.${type}`,
})

/** What the vault takes at most; a text of 10,000 characters can be longer. */
const mostSecretBytes = 32_768

/** What is wrong with fields as they were sent. */
export function fieldProblems(
  group: FieldGroup,
  definition: PaymentServiceDefinition,
  input: readonly FieldInput[] | null | undefined,
): ErrorDetail[] {
  const known = new Map(definition[group].map((field) => [field.key, field]))
  const seen = new Set<string>()
  return (input ?? []).flatMap(({ key, value }, index) => {
    const field = known.get(key)
    if (!field) return problem(`/${group}/${index}/key`, 'unknown', 'The definition has no such field')
    if (seen.has(key)) return problem(`/${group}/${index}/key`, 'conflict', 'Must not be there twice')
    seen.add(key)
    if (!field.secret || Buffer.byteLength(value) <= mostSecretBytes) return []
    return problem(`/${group}/${index}/value`, 'length', `Must have at most ${mostSecretBytes} bytes`)
  })
}

/** Fields that must be set and are not. */
export function missingFields(group: FieldGroup, fields: readonly DefinitionField[], state: FieldState): ErrorDetail[] {
  return fields
    .filter(({ key, required }) => required && !(key in state[group]))
    .filter(({ key }) => !state.secret_names.includes(secretName(group, key)))
    .map(({ key }) => problem(`/${group}`, 'missing', `The field ${key} is required`))
}

export interface Acceptance {
  accepted_currencies: readonly string[]
  accepted_countries: readonly string[]
}

/** What is wrong with a service as it would be. */
export function serviceProblems(
  definition: PaymentServiceDefinition,
  service: Acceptance & Switches & FieldState,
): ErrorDetail[] {
  const unsupported = (name: keyof Acceptance, supported: readonly string[]) =>
    service[name].flatMap((code, index) =>
      supported.includes(code) ? [] : problem(`/${name}/${index}`, 'unsupported', 'The definition does not support it'),
    )
  const problems = [
    ...missingFields('fields', definition.fields, service),
    ...(service.settlement_reporting_enabled
      ? missingFields('reporting_fields', definition.reporting_fields, service)
      : []),
    ...unsupported('accepted_currencies', definition.supported_currencies),
    ...unsupported('accepted_countries', definition.supported_countries),
  ]
  if (service.open_loop && service.payment_method_tokenization_enabled) {
    const message = 'Cannot be on together with open_loop'
    problems.push(problem('/payment_method_tokenization_enabled', 'conflict', message))
  }
  if (service.network_tokens_enabled && !service.open_loop) {
    problems.push(problem('/network_tokens_enabled', 'conflict', 'Needs open_loop'))
  }
  if (service.three_d_secure_enabled && !definition.supported_features.three_d_secure_hosted) {
    problems.push(problem('/three_d_secure_enabled', 'unsupported', 'The definition does not support it'))
  }
  return problems
}

/** Merges by scheme: null clears one, or all. What a scheme had keeps the time it was made. */
export function applyProfile<Entry extends object>(
  current: Readonly<Record<string, Entry & { created_at: string }>> | null,
  input: Readonly<Record<string, Entry | null | undefined>> | null | undefined,
  now: Date,
): Record<string, Entry & { created_at: string }> | null {
  if (input === null) return null
  const merged = { ...current }
  for (const [scheme, entry] of Object.entries(input ?? {})) {
    if (entry === null) delete merged[scheme]
    else if (entry) merged[scheme] = { ...entry, created_at: merged[scheme]?.created_at ?? now.toISOString() }
  }
  return Object.keys(merged).length === 0 ? null : merged
}
