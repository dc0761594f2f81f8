import { createHash } from 'node:crypto'

/** The vault is not what dies here: the secrets of a subscription follow from their names, for whoever signs and whoever receives. */
export const secretOf = (subscriptionId: string, name: string): string =>
  `whsec_${createHash('sha384').update(`${subscriptionId} ${name}`).digest('base64')}`

export const firstSecret = 'secret-1'
export const secondSecret = 'secret-2'
export const passwordName = 'password'
