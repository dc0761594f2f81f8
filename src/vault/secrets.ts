import { type Db, isRowFault } from '../platform/postgres.ts'
import { createBatcher } from '../platform/batch.ts'
import type { KeyRing } from './key-ring.ts'
import type { CardField, SecretReference } from './protocol.ts'
import { fingerprint, type NumberKind, type Place, seal, unseal } from './sealing.ts'
import {
  deleteSealed,
  type FoundSecret,
  findSecrets,
  listOwners,
  moveSecret,
  type SealedSecret,
  upsertSecrets,
} from './secret-store.ts'
import { takeWaiting, upsertWaiting } from './waiting-store.ts'

export interface PlainValue {
  field: string
  plain: Buffer
}

/** Plain values are the caller's to wipe, both those it hands in and those it gets. */
export interface Secrets {
  store(reference: SecretReference, values: readonly PlainValue[]): Promise<void>
  /** Those of the fields that are there. */
  read(reference: SecretReference, fields: readonly string[]): Promise<PlainValue[]>
  fingerprintOf(kind: NumberKind, number: Buffer): string
  /** Makes the waiting replacement the number; false when none waits. */
  applyReplacement(reference: SecretReference): Promise<boolean>
  /** Until then, or until somebody takes them. A field stored again is replaced. */
  storeWaiting(reference: SecretReference, values: readonly PlainValue[], expiresAt: Date): Promise<void>
  /** Those of the fields that wait; from then on they do not. */
  takeWaiting(reference: SecretReference, fields: readonly string[]): Promise<PlainValue[]>
  /** Everything under the references, what waits too, or these fields only. */
  remove(references: readonly SecretReference[], fields?: readonly string[]): Promise<void>
  listOwners(options: {
    createdBefore: Date
    after?: SecretReference | undefined
    limit: number
  }): Promise<SecretReference[]>
}

interface StoreCall {
  reference: SecretReference
  values: readonly PlainValue[]
}

interface ReadCall {
  reference: SecretReference
  field: string
}

const mostAttempts = 5

export function createSecrets({ db, keys, instance }: { db: Db; keys: KeyRing; instance: string }): Secrets {
  const placeOf = ({ merchantAccountId, id }: SecretReference, field: string): Place => ({
    instance,
    merchantAccountId,
    id,
    field,
  })

  /** Every attempt seals anew: what makes an attempt fail is a key that was rotated away under our hands. */
  async function withActiveKey(attempt: (version: number, sealAt: Sealer) => Promise<boolean>): Promise<boolean> {
    for (let count = 1; count <= mostAttempts; count += 1) {
      const { version, key } = keys.active()
      let encryptions = 0
      const sealAt: Sealer = (reference, field, plain) => {
        encryptions += 1
        return seal(key, placeOf(reference, field), plain)
      }
      const isDone = await attempt(version, sealAt).finally(() => keys.countEncryptions(version, encryptions))
      if (isDone) return true
      await keys.refresh()
    }
    return false
  }

  async function storeAll(calls: readonly StoreCall[]): Promise<undefined[]> {
    const isStored = await withActiveKey((version, sealAt) => {
      const sealed = calls.flatMap(({ reference, values }) =>
        values.map(
          ({ field, plain }): SealedSecret => ({ ...reference, field, sealed: sealAt(reference, field, plain) }),
        ),
      )
      return upsertSecrets(db, version, sealed)
    })
    if (!isStored) throw new Error('the active key changes faster than anything can be stored')
    return calls.map(() => undefined)
  }

  const store = createBatcher<StoreCall, undefined>({
    run: storeAll,
    keyOf: ({ reference: { merchantAccountId, id } }) => `${merchantAccountId} ${id}`,
    isOnesFault: isRowFault,
  })
  const find = createBatcher<ReadCall, FoundSecret | undefined>({
    run: (calls) =>
      findSecrets(
        db,
        calls.map(({ reference, field }) => ({ ...reference, field })),
      ),
    isOnesFault: isRowFault,
  })

  async function readOne(reference: SecretReference, field: string): Promise<PlainValue | undefined> {
    const found = await find({ reference, field })
    if (!found) return undefined
    const key = await keys.find(found.key_version)
    return { field, plain: unseal(key, placeOf(reference, field), found.sealed) }
  }

  async function applyReplacement(reference: SecretReference): Promise<boolean> {
    const [from, to]: [CardField, CardField] = ['replacement', 'number']
    let isWaiting = true
    const isApplied = await withActiveKey(async (version, sealAt) => {
      const [waiting] = await findSecrets(db, [{ ...reference, field: from }])
      isWaiting = waiting !== undefined
      if (!waiting) return true
      const plain = unseal(await keys.find(waiting.key_version), placeOf(reference, from), waiting.sealed)
      try {
        const sealed = sealAt(reference, to, plain)
        const move = { ...reference, from: { field: from, sealed: waiting.sealed }, to: { field: to, sealed } }
        return await moveSecret(db, move, version)
      } finally {
        plain.fill(0)
      }
    })
    if (!isApplied) throw new Error('the replacement changes faster than it can be applied')
    return isWaiting
  }

  async function storeWaiting(reference: SecretReference, values: readonly PlainValue[], expiresAt: Date) {
    const isStored = await withActiveKey((version, sealAt) => {
      const sealed = values.map(
        ({ field, plain }): SealedSecret => ({
          ...reference,
          field,
          sealed: sealAt(reference, waitingAs(field), plain),
        }),
      )
      return upsertWaiting(db, version, sealed, expiresAt)
    })
    if (!isStored) throw new Error('the active key changes faster than anything can be stored')
  }

  async function take(reference: SecretReference, fields: readonly string[]): Promise<PlainValue[]> {
    const taken = await takeWaiting(db, reference, fields)
    return Promise.all(
      taken.map(async ({ field, key_version, sealed }) => {
        const key = await keys.find(key_version)
        return { field, plain: unseal(key, placeOf(reference, waitingAs(field)), sealed) }
      }),
    )
  }

  return {
    store: (reference, values) => store({ reference, values }),
    async read(reference, fields) {
      const found = await Promise.all(fields.map((field) => readOne(reference, field)))
      return found.filter((value) => value !== undefined)
    },
    fingerprintOf: (kind, number) => fingerprint(keys.fingerprintKey(), instance, kind, number),
    applyReplacement,
    storeWaiting,
    takeWaiting: take,
    async remove(references, fields) {
      await deleteSealed(db, 'vault.secrets', references, fields)
      await deleteSealed(db, 'vault.waiting', references, fields)
    },
    listOwners: (options) => listOwners(db, options),
  }
}

/** What waits is sealed for waiting: put among the secrets it does not open. No field is called so, because none has a slash. */
const waitingAs = (field: string) => `waiting/${field}`

type Sealer = (reference: SecretReference, field: string, plain: Buffer) => Buffer
