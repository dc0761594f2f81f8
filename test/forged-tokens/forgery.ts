import type { Registered, Signer } from './tokens.ts'

export interface Forgery {
  what: string
  /** The whole header; undefined sends none. */
  authorization: string | undefined
}

export interface Cast {
  ec: Registered
  rsa: Registered
  other: Registered
  strangers: readonly Signer[]
  /** One token of each registered pair, accepted by the api before anything is forged. */
  known: readonly { signer: Signer; token: string }[]
  revoked: readonly { what: string; signer: Signer; token: string }[]
  /** Where `jku` and `x5u` point; nobody must ever call. */
  lureUrl: string
}

export const bearer = (what: string, token: string): Forgery => ({ what, authorization: `Bearer ${token}` })

/** One text of many: a list of strings in an array would take a line for each. */
export const list = (...texts: readonly string[]) => texts.flatMap((text) => text.split('|'))

export const alphabet = 'ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_'
