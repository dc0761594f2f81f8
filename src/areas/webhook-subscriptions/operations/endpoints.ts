import type { Context } from '../../../context.ts'
import { realTime } from '../../../clocks.ts'
import { clientSecretName, passwordName, type StoredAuthentication } from '../rules.ts'
import type { SubscriptionRow } from '../store.ts'

export type { StoredAuthentication, SubscriptionRow }

/** The row is older than the secrets: whoever has it should read it again. */
export class StaleSubscriptionError extends Error {
  override name = 'StaleSubscriptionError'
}

export interface EndpointSecrets {
  /** The active one first; the one before only while it still signs. */
  signing: string[]
  password: string | null
  clientSecret: string | null
}

type Endpoint = Pick<
  SubscriptionRow,
  'merchant_account_id' | 'id' | 'secret_name' | 'previous_secret_name' | 'rotating_until' | 'authentication'
>

export const isRotating = ({ rotating_until }: Pick<SubscriptionRow, 'rotating_until'>) =>
  rotating_until !== null && rotating_until > realTime.now()

/** What a delivery needs, in one call of the vault. Throws `StaleSubscriptionError` when a secret that the row names is gone. */
export async function readEndpointSecrets({ vault }: Pick<Context, 'vault'>, row: Endpoint): Promise<EndpointSecrets> {
  const reference = { merchantAccountId: row.merchant_account_id, id: row.id }
  const signing = [row.secret_name, isRotating(row) ? row.previous_secret_name : null].filter((name) => name !== null)
  const [password, clientSecret] = [passwordName(row.authentication), clientSecretName(row.authentication)]
  const names = [...signing, password, clientSecret].filter((name) => name !== undefined)
  const found = await vault.readSecrets(reference, names)
  const take = (name: string): string => {
    const value = found[name]
    if (value === undefined) throw new StaleSubscriptionError(`webhook subscription ${row.id} has other secrets by now`)
    return value
  }
  return {
    signing: signing.map(take),
    password: password === undefined ? null : take(password),
    clientSecret: clientSecret === undefined ? null : take(clientSecret),
  }
}
