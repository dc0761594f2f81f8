import { createHash } from 'node:crypto'

/** The vault is not what dies here: a subscription's secrets follow from its id and version, for whoever signs and whoever receives. */
export const secretOf = (subscriptionId: string, version: number): string =>
  `whsec_${createHash('sha384').update(`${subscriptionId} ${version}`).digest('base64')}`

export const processHeader = 'x-process'
