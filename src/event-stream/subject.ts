import { hash } from 'node:crypto'

export const streamName = 'FLORIN_EVENTS'
export const streamSubjects = 'florin.events.>'
export const partitions = 16

/** In place of the account where an event concerns the whole instance. No account can have it as its id. */
const instance = '_'

/** Readers compute it too: the first byte of the SHA-256 of the account's id, modulo 16. */
export const partitionOf = (account: string): number =>
  Number.parseInt(hash('sha256', account).slice(0, 2), 16) % partitions

/** Ids of accounts are letters, digits and hyphens, so that they are what NATS calls a token. */
export function subjectOf({ merchant_account_id, name }: { merchant_account_id: string | null; name: string }): string {
  const account = merchant_account_id ?? instance
  return `florin.events.${partitionOf(account)}.${account}.${name}`
}
