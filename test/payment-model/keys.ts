import type { Movement, Transaction } from './records.ts'

/** Idempotency keys as the contract tells them: a day of repeated answers, one runner at a time. */

export interface Key {
  fingerprint: string
  transaction: Transaction
  /** What the request made, other than the transaction. */
  movement: Movement | undefined
  createdAt: number
  lease: number
  /** The stored answer; its text is known once a caller has seen it. */
  answer: { view: unknown; text: string | undefined } | undefined
}

const keptMs = 24 * 60 * 60 * 1000
const leaseMs = 60_000

export class Keys {
  readonly rows = new Map<string, Key>()

  look(name: string, fingerprint: string, now: number): { state: 'new' | 'other' | 'running' } | Held {
    const key = this.rows.get(name)
    if (!key || key.createdAt < now - keptMs) return { state: 'new' }
    if (key.fingerprint !== fingerprint) return { state: 'other' }
    if (key.answer) return { state: 'answered', key }
    if (key.lease > now) return { state: 'running' }
    key.lease = now + leaseMs
    return { state: 'abandoned', key }
  }

  hold(name: string, key: Pick<Key, 'fingerprint' | 'transaction' | 'movement' | 'createdAt'>, now: number): Key {
    const held = { ...key, lease: now + leaseMs, answer: undefined }
    this.rows.set(name, held)
    return held
  }
}

interface Held {
  state: 'answered' | 'abandoned'
  key: Key
}
