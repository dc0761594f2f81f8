import { type Static, Type } from 'typebox'

/**
 * How the vault is spoken to: HTTP/1.1, `POST /v1/<call>`. Question and answer are a line of JSON followed by the secret
 * values as they are. Numbers thus never pass through a JSON parser, whose strings nobody can wipe.
 */

/** What a secret is stored under: the id of its owner, in the owner's account. */
export interface SecretReference {
  merchantAccountId: string
  id: string
}

export type CardField = 'number' | 'replacement'
export const cardFields: readonly string[] = ['number', 'replacement'] satisfies CardField[]
/** Stored like any other secret, but swept like a card number when nobody owns it. */
export const giftCardNumberField = 'gift_card_number'

const Reference = {
  merchant_account_id: Type.String({ pattern: '^([a-zA-Z0-9-]{1,50}|\\*)$' }),
  id: Type.String({ format: 'uuid' }),
}
const CardFieldName = Type.Enum(['number', 'replacement'])
const FieldName = Type.String({ pattern: '^[a-z][a-z0-9_.-]{0,39}$' })
const closed = { additionalProperties: false }
const lengths = Type.Array(Type.Integer({ minimum: 1, maximum: 32_768 }), { maxItems: 32 })

/** The line of JSON of every call. */
export const questions = {
  storeCard: Type.Object({ ...Reference, field: CardFieldName, lengths }, closed),
  readCard: Type.Object({ ...Reference, field: CardFieldName }, closed),
  fingerprintCard: Type.Object({ lengths }, closed),
  fingerprintGiftCard: Type.Object({ lengths }, closed),
  applyReplacement: Type.Object(Reference, closed),
  remove: Type.Object(
    {
      references: Type.Array(Type.Object(Reference, closed), { minItems: 1, maxItems: 1_000 }),
      fields: Type.Optional(Type.Array(FieldName, { minItems: 1, maxItems: 32, uniqueItems: true })),
    },
    closed,
  ),
  listOwners: Type.Object(
    {
      created_before: Type.String({ format: 'date-time' }),
      after: Type.Optional(Type.Object(Reference, closed)),
      limit: Type.Integer({ minimum: 1, maximum: 1_000 }),
    },
    closed,
  ),
  storeSecrets: Type.Object(
    { ...Reference, fields: Type.Array(FieldName, { minItems: 1, maxItems: 32, uniqueItems: true }), lengths },
    closed,
  ),
  readSecrets: Type.Object(
    { ...Reference, fields: Type.Array(FieldName, { minItems: 1, maxItems: 32, uniqueItems: true }) },
    closed,
  ),
  readEach: Type.Object(
    {
      wanted: Type.Array(Type.Object({ ...Reference, field: FieldName }, closed), { minItems: 1, maxItems: 1_000 }),
    },
    closed,
  ),
  storeWaiting: Type.Object(
    {
      ...Reference,
      fields: Type.Array(FieldName, { minItems: 1, maxItems: 32, uniqueItems: true }),
      expires_at: Type.String({ format: 'date-time' }),
      lengths,
    },
    closed,
  ),
  takeWaiting: Type.Object(
    { ...Reference, fields: Type.Array(FieldName, { minItems: 1, maxItems: 32, uniqueItems: true }) },
    closed,
  ),
  listKeys: Type.Object({}, closed),
  rotateKey: Type.Object({}, closed),
  destroyKey: Type.Object({ version: Type.Integer({ minimum: 1 }) }, closed),
  rewrap: Type.Object({}, closed),
}

export type CallName = keyof typeof questions
export type Question<Name extends CallName> = Static<(typeof questions)[Name]>

export interface KeyListing {
  id: string
  purpose: string
  version: number
  state: string
  provider: string
  created_at: string
  changed_at: string
  /** Of the data keys only. */
  rows: number | null
  rows_exact: boolean
  encryptions: number
}

export interface RewrapProgress {
  done: number
  left: number
  /** Rows that no key opens; they stay as they are. */
  failed: number
  rows_per_second: number
  finished: boolean
  /** Keys that no row is on any more. */
  retired: number[]
}

export interface Answers {
  storeCard: { fingerprint: string }
  readCard: { lengths: number[] }
  fingerprintCard: { fingerprint: string }
  fingerprintGiftCard: { fingerprint: string }
  applyReplacement: { applied: boolean }
  remove: Record<string, never>
  listOwners: { owners: { merchant_account_id: string; id: string }[] }
  storeSecrets: Record<string, never>
  readSecrets: { fields: string[]; lengths: number[] }
  /** Of those that are there, their places among the wanted. */
  readEach: { places: number[]; lengths: number[] }
  storeWaiting: Record<string, never>
  takeWaiting: { fields: string[]; lengths: number[] }
  listKeys: { keys: KeyListing[] }
  rotateKey: { version: number; before: number }
  destroyKey: { version: number }
  rewrap: Record<string, never>
}

export interface Refusal {
  /** `unavailable`: ask again later. `invalid`: the call is wrong. `refused`: not in this state. `fault`: look at the log. */
  code: 'unavailable' | 'invalid' | 'refused' | 'fault'
  message: string
}

export const largestMessage = 1_200_000

export function encodeMessage(head: object, values: readonly Buffer[] = []): Buffer {
  return Buffer.concat([Buffer.from(`${JSON.stringify(head)}\n`), ...values])
}

/** The values are views into the message: wiping it wipes them. Undefined when it is not a message. */
export function decodeMessage(message: Buffer): { head: unknown; values: Buffer[] } | undefined {
  const end = message.indexOf(10)
  if (end < 0) return undefined
  try {
    const head: unknown = JSON.parse(message.toString('utf8', 0, end))
    const values = cut(message.subarray(end + 1), (head as { lengths?: unknown }).lengths)
    return values && { head, values }
  } catch {
    return undefined
  }
}

function cut(bytes: Buffer, lengths: unknown): Buffer[] | undefined {
  if (lengths === undefined) return bytes.length === 0 ? [] : undefined
  if (!Array.isArray(lengths)) return undefined
  const values: Buffer[] = []
  let position = 0
  for (const length of lengths) {
    if (!Number.isSafeInteger(length) || length < 0) return undefined
    values.push(bytes.subarray(position, position + length))
    position += length
  }
  return position === bytes.length ? values : undefined
}

export type Address = { kind: 'unix'; path: string } | { kind: 'tls'; host: string; port: number }

/** `unix:/path` or `tls://host:port`; anything else, plain TCP above all, is no address. */
export function parseAddress(text: string): Address {
  if (text.startsWith('unix:/')) return { kind: 'unix', path: text.slice('unix:'.length) }
  const [, host, port] = /^tls:\/\/([^/:@]+):(\d{1,5})$/.exec(text) ?? []
  if (host === undefined || Number(port) > 65_535) {
    throw new Error(`"${text}" is no address of a vault: write unix:/path or tls://host:port`)
  }
  return { kind: 'tls', host, port: Number(port) }
}

/** PEM, both sides of the connection have the same three. */
export interface TlsIdentity {
  ca: string
  cert: string
  key: string
}
