import { randomBytes } from 'node:crypto'
import type { ErrorDetail } from '../../errors.ts'

/** What is shown instead of a secret; sent back, it keeps the secret. */
export const mask = '********'

interface NewClient {
  client_id: string
  client_secret: string
  token_url: string
  scope?: string | null
}

/** As it is sent. */
export type NewAuthentication =
  | { kind: 'basic'; username: string; password: string }
  | ({ kind: 'oauth_client_credentials' } & NewClient)
  | ({ kind: 'oauth_password'; username: string; password: string } & NewClient)

/** As it is kept: instead of the secrets the names that the vault has them under. */
export type StoredAuthentication =
  | { kind: 'basic'; username: string; password_name: string }
  | {
      kind: 'oauth_client_credentials'
      client_id: string
      client_secret_name: string
      token_url: string
      scope: string | null
    }
  | {
      kind: 'oauth_password'
      client_id: string
      client_secret_name: string
      token_url: string
      scope: string | null
      username: string
      password_name: string
    }

/** Never used twice: what a name stands for never changes. */
const newName = (field: string) => `${field}.${randomBytes(6).toString('hex')}`

/** What signs. */
export const makeSecret = () => ({
  name: newName('webhook_secret'),
  value: `whsec_${randomBytes(48).toString('base64')}`,
})

export const passwordName = (authentication: StoredAuthentication | null) =>
  authentication && 'password_name' in authentication ? authentication.password_name : undefined

export const clientSecretName = (authentication: StoredAuthentication | null) =>
  authentication && 'client_secret_name' in authentication ? authentication.client_secret_name : undefined

export interface AuthenticationChange {
  authentication: StoredAuthentication | null
  /** What the vault is to keep, by name. */
  secrets: Record<string, string>
  problems: ErrorDetail[]
}

/** What becomes of the authentication; a mask keeps the secret that is there. */
export function changeAuthentication(
  current: StoredAuthentication | null,
  input: NewAuthentication | null,
): AuthenticationChange {
  const secrets: Record<string, string> = {}
  const problems: ErrorDetail[] = []
  const keep = (key: 'password' | 'client_secret', value: string, known: string | undefined): string => {
    if (value === mask && known !== undefined) return known
    if (value === mask) problems.push(nothingToKeep(key))
    const name = newName(`webhook_${key}`)
    secrets[name] = value
    return name
  }
  const password = ({ password }: { password: string }) => keep('password', password, passwordName(current))
  const client = (sent: NewClient) => ({
    client_id: sent.client_id,
    client_secret_name: keep('client_secret', sent.client_secret, clientSecretName(current)),
    token_url: sent.token_url,
    scope: sent.scope ?? null,
  })
  const change = (): StoredAuthentication | null => {
    if (!input) return null
    switch (input.kind) {
      case 'basic':
        return { kind: input.kind, username: input.username, password_name: password(input) }
      case 'oauth_client_credentials':
        return { kind: input.kind, ...client(input) }
      case 'oauth_password':
        return { kind: input.kind, ...client(input), username: input.username, password_name: password(input) }
    }
  }
  return { authentication: change(), secrets, problems }
}

const nothingToKeep = (key: string): ErrorDetail => ({
  location: 'body',
  pointer: `/authentication/${key}`,
  message: `There is none to keep; send the ${key.replace('_', ' ')} itself`,
  type: 'value_error.unknown',
})

/** Every name in the vault that a subscription uses. */
export const namesOf = (row: {
  secret_name: string | null
  previous_secret_name: string | null
  authentication: StoredAuthentication | null
}): string[] =>
  [
    row.secret_name,
    row.previous_secret_name,
    passwordName(row.authentication),
    clientSecretName(row.authentication),
  ].filter((name) => typeof name === 'string')
