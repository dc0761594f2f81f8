import { type ConnectionOptions, openConnection, VaultError, VaultUnavailableError } from './connection.ts'
import type { Config } from '../platform/config.ts'
import {
  type CardField,
  giftCardNumberField,
  type KeyListing,
  type RewrapProgress,
  type SecretReference,
} from './protocol.ts'
import { readTlsIdentity, type TlsConfig } from './tls-identity.ts'

export {
  type CardField,
  type ConnectionOptions,
  giftCardNumberField,
  type KeyListing,
  type RewrapProgress,
  type SecretReference,
  VaultError,
  VaultUnavailableError,
}

/** Every call throws `VaultUnavailableError` when the vault does not answer in time. */
export interface Vault {
  /** Encrypts and stores a card number under its owner's id; storing the same again replaces it. `replacement` holds a new number that waits. */
  storeCard(reference: SecretReference, number: string, field?: CardField): Promise<{ fingerprint: string }>
  /** Undefined when there is none. Every read leaves an audit line. */
  readCard(reference: SecretReference, field?: CardField): Promise<string | undefined>
  /** Of a card that is not stored: the same as if it were. */
  fingerprintCard(number: string): Promise<string>
  /** Of a gift card. The digits of a card with the same number have another one. */
  fingerprintGiftCard(number: string): Promise<string>
  /** Makes the waiting replacement the number. False when none waits. */
  applyReplacement(reference: SecretReference): Promise<boolean>
  /** Destroys everything stored under the references, or these fields only. */
  remove(references: readonly SecretReference[], fields?: readonly string[]): Promise<void>
  /** Owners of numbers, of cards and of gift cards, older than a time, in key order, for the sweep that finds rows without an owner. */
  listOwners(options: { createdBefore: Date; after?: SecretReference; limit: number }): Promise<SecretReference[]>
  /** Secrets of other kinds, all or none; a field stored again is replaced. */
  storeSecrets(reference: SecretReference, values: Readonly<Record<string, string>>): Promise<void>
  /** Those of the fields that are there. */
  readSecrets(reference: SecretReference, fields: readonly string[]): Promise<Record<string, string>>
  /** One secret each of up to a thousand references, in their order; undefined where there is none. */
  readEach(wanted: readonly (SecretReference & { field: string })[]): Promise<(string | undefined)[]>
  /** Secrets that wait for a later request, until then at the latest and a day at most; a field stored again is replaced. */
  storeWaiting(reference: SecretReference, values: Readonly<Record<string, string>>, expiresAt: Date): Promise<void>
  /** Those of the fields that wait, to whoever asks first; nobody gets them again. */
  takeWaiting(reference: SecretReference, fields: readonly string[]): Promise<Record<string, string>>
  close(): Promise<void>
}

/** What the operator does to the keys. Nobody but the vault itself ever holds one. */
export interface VaultKeys {
  list(): Promise<KeyListing[]>
  rotate(): Promise<{ version: number; before: number }>
  /** Ends when every row is on the active key. Stopped halfway, it goes on where it was when started again. */
  rewrap(onProgress: (progress: RewrapProgress) => void): Promise<void>
  destroy(version: number): Promise<void>
  close(): Promise<void>
}

const mostAtOnce = 1_000
const toWire = ({ merchantAccountId, id }: SecretReference) => ({ merchant_account_id: merchantAccountId, id })

/** From the settings of a process. */
export const vaultOptions = (config: TlsConfig & Config<'vaultUrl'>): ConnectionOptions => ({
  url: config.vaultUrl,
  tls: readTlsIdentity(config.vaultUrl, config),
})

export function connectVault(options: ConnectionOptions): Vault {
  const connection = openConnection(options)

  async function fingerprint(call: 'fingerprintCard' | 'fingerprintGiftCard', number: string): Promise<string> {
    const value = Buffer.from(number, 'utf8')
    try {
      return (await connection.call(call, { lengths: [value.length] }, [value])).answer.fingerprint
    } finally {
      value.fill(0)
    }
  }

  return {
    async storeCard(reference, number, field = 'number') {
      const value = Buffer.from(number, 'utf8')
      try {
        const head = { ...toWire(reference), field, lengths: [value.length] }
        const { answer } = await connection.call('storeCard', head, [value])
        return { fingerprint: answer.fingerprint }
      } finally {
        value.fill(0)
      }
    },

    async readCard(reference, field = 'number') {
      const { values } = await connection.call('readCard', { ...toWire(reference), field })
      return values.map((value) => takeText(value))[0]
    },

    fingerprintCard: (number) => fingerprint('fingerprintCard', number),
    fingerprintGiftCard: (number) => fingerprint('fingerprintGiftCard', number),

    async applyReplacement(reference) {
      return (await connection.call('applyReplacement', toWire(reference))).answer.applied
    },

    async remove(references, fields) {
      for (let start = 0; start < references.length; start += mostAtOnce) {
        const some = references.slice(start, start + mostAtOnce).map(toWire)
        await connection.call('remove', { references: some, ...(fields && { fields }) })
      }
    },

    async listOwners({ createdBefore, after, limit }) {
      const head = { created_before: createdBefore.toISOString(), ...(after && { after: toWire(after) }), limit }
      const { answer } = await connection.call('listOwners', head)
      return answer.owners.map(({ merchant_account_id, id }) => ({ merchantAccountId: merchant_account_id, id }))
    },

    storeSecrets: (reference, values) =>
      sendNamed(values, (head, bytes) => connection.call('storeSecrets', { ...toWire(reference), ...head }, bytes)),

    async readSecrets(reference, fields) {
      if (fields.length === 0) return {}
      return takeNamed(await connection.call('readSecrets', { ...toWire(reference), fields }))
    },

    async readEach(wanted) {
      const found: (string | undefined)[] = wanted.map(() => undefined)
      if (wanted.length === 0) return found
      const head = { wanted: wanted.map((one) => ({ ...toWire(one), field: one.field })) }
      const { answer, values } = await connection.call('readEach', head)
      for (const [index, value] of values.entries()) found[answer.places[index] ?? -1] = takeText(value)
      return found
    },

    storeWaiting: (reference, values, expiresAt) =>
      sendNamed(values, (head, bytes) => {
        const question = { ...toWire(reference), ...head, expires_at: expiresAt.toISOString() }
        return connection.call('storeWaiting', question, bytes)
      }),

    async takeWaiting(reference, fields) {
      return takeNamed(await connection.call('takeWaiting', { ...toWire(reference), fields }))
    },

    async close() {
      connection.close()
    },
  }
}

async function sendNamed(
  named: Readonly<Record<string, string>>,
  send: (head: { fields: string[]; lengths: number[] }, values: Buffer[]) => Promise<unknown>,
): Promise<void> {
  const fields = Object.keys(named)
  if (fields.length === 0) return
  const values = Object.values(named).map((text) => Buffer.from(text, 'utf8'))
  try {
    await send({ fields, lengths: values.map(({ length }) => length) }, values)
  } finally {
    for (const value of values) value.fill(0)
  }
}

const takeNamed = ({ answer, values }: { answer: { fields: string[] }; values: readonly Buffer[] }) =>
  Object.fromEntries(values.map((value, index) => [answer.fields[index] ?? '', takeText(value)]))

function takeText(value: Buffer): string {
  const text = value.toString('utf8')
  value.fill(0)
  return text
}

const silenceMs = 30_000

export function connectVaultKeys(options: ConnectionOptions): VaultKeys {
  const connection = openConnection({ timeoutMs: 15_000, ...options })
  return {
    list: async () => (await connection.call('listKeys', {})).answer.keys,
    rotate: async () => (await connection.call('rotateKey', {})).answer,
    rewrap: (onProgress) =>
      connection.stream('rewrap', (line) => onProgress(JSON.parse(line) as RewrapProgress), silenceMs),
    async destroy(version) {
      await connection.call('destroyKey', { version })
    },
    async close() {
      connection.close()
    },
  }
}
