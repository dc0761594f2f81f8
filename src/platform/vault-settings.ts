import { Type } from 'typebox'
import { secret, setting } from './setting.ts'

// A Unix socket or TLS, and nothing else: card numbers never cross a network in the clear.
const address = '^(unix:/.+|tls://[^/:@]+:[0-9]{1,5})$'
const defaultAddress = 'unix:/run/florin/vault.sock'
const processes = ['api', 'worker', 'vault'] as const
const path = { minLength: 1, maxLength: 4096 }

/** Where the vault listens, how it is reached, and whose key wraps its keys. */
export const vaultSettings = {
  vaultListen: setting(
    Type.String({
      pattern: address,
      default: defaultAddress,
      description:
        'Where the vault listens: `unix:/path` (mode 0660: who may open it is its group) or `tls://host:port` (client certificates required). Plain TCP is refused.',
    }),
    { env: 'FLORIN_VAULT_LISTEN', for: ['vault'] },
  ),
  vaultUrl: setting(
    Type.String({
      pattern: address,
      default: defaultAddress,
      description: 'Where the vault is reached, in the same notation. `florin vault` reads it too.',
    }),
    { env: 'FLORIN_VAULT_URL', for: ['api', 'worker'] },
  ),
  vaultTimeoutMs: setting(
    Type.Integer({
      minimum: 100,
      maximum: 120_000,
      default: 1_500,
      description: 'How long one call of the vault may take. After that a request that needs it is answered with 504.',
    }),
    { env: 'FLORIN_VAULT_TIMEOUT_MS', for: ['api', 'worker'] },
  ),
  vaultTlsCa: setting(
    Type.Optional(
      Type.String({
        ...path,
        description:
          'File with the certificates (PEM) that sign the other side of `tls://`. Default: none, for `unix:`.',
      }),
    ),
    { env: 'FLORIN_VAULT_TLS_CA', for: processes },
  ),
  vaultTlsCert: setting(
    Type.Optional(
      Type.String({ ...path, description: 'File with this side’s own certificate (PEM). Default: none, for `unix:`.' }),
    ),
    { env: 'FLORIN_VAULT_TLS_CERT', for: processes },
  ),
  vaultTlsKey: setting(
    Type.Optional(
      Type.String({ ...path, description: 'File with the key of that certificate (PEM). Default: none, for `unix:`.' }),
    ),
    { env: 'FLORIN_VAULT_TLS_KEY', for: processes },
  ),
  keyProvider: setting(
    Type.Enum(['file', 'transit', 'aws-kms'], {
      default: 'file',
      description: 'Who wraps the keys of the vault.',
    }),
    { env: 'FLORIN_KEY_PROVIDER', for: ['vault'] },
  ),
  keyFile: setting(
    Type.Optional(
      Type.String({
        ...path,
        description:
          'For `file`: the file that holds the key-encryption key, base64 of 32 random bytes (`openssl rand -base64 32`). Keep a copy apart from the database’s backups: without it every card is lost. Default: none.',
      }),
    ),
    { env: 'FLORIN_KEY_FILE', for: ['vault'] },
  ),
  transitUrl: setting(
    Type.Optional(
      Type.String({
        pattern: '^https?://[^?#]+$',
        description:
          'For `transit`: base URL of the mount, such as `https://secrets.internal:8200/v1/transit`. Default: none.',
      }),
    ),
    { env: 'FLORIN_TRANSIT_URL', for: ['vault'] },
  ),
  transitToken: secret(
    Type.Optional(
      Type.String({
        minLength: 1,
        maxLength: 4096,
        description: 'For `transit`: a token that may encrypt and decrypt with the key. Default: none.',
      }),
    ),
    { env: 'FLORIN_TRANSIT_TOKEN', for: ['vault'] },
  ),
  transitKey: setting(
    Type.Optional(
      Type.String({
        pattern: '^[A-Za-z0-9_.-]{1,128}$',
        description: 'For `transit`: name of the key, best one made with `derived=true`. Default: none.',
      }),
    ),
    { env: 'FLORIN_TRANSIT_KEY', for: ['vault'] },
  ),
  awsRegion: setting(
    Type.Optional(
      Type.String({ pattern: '^[a-z0-9-]{1,32}$', description: 'For `aws-kms`: region of the key. Default: none.' }),
    ),
    { env: 'FLORIN_AWS_REGION', for: ['vault'] },
  ),
  awsAccessKeyId: setting(
    Type.Optional(
      Type.String({ pattern: '^\\w{16,128}$', description: 'For `aws-kms`: access key id. Default: none.' }),
    ),
    { env: 'FLORIN_AWS_ACCESS_KEY_ID', for: ['vault'] },
  ),
  awsSecretAccessKey: secret(
    Type.Optional(
      Type.String({ minLength: 1, maxLength: 256, description: 'For `aws-kms`: secret access key. Default: none.' }),
    ),
    { env: 'FLORIN_AWS_SECRET_ACCESS_KEY', for: ['vault'] },
  ),
  awsKmsKeyId: setting(
    Type.Optional(
      Type.String({
        minLength: 1,
        maxLength: 2048,
        description: 'For `aws-kms`: id, ARN or alias of the symmetric key. Default: none.',
      }),
    ),
    { env: 'FLORIN_AWS_KMS_KEY_ID', for: ['vault'] },
  ),
  awsKmsEndpoint: setting(
    Type.Optional(
      Type.String({
        pattern: '^https?://[^/?#]+$',
        description: 'For `aws-kms`: another endpoint. Default: that of the region.',
      }),
    ),
    { env: 'FLORIN_AWS_KMS_ENDPOINT', for: ['vault'] },
  ),
}

export const optionalVaultNames = [
  'vaultTlsCa',
  'vaultTlsCert',
  'vaultTlsKey',
  'keyFile',
  'transitUrl',
  'transitToken',
  'transitKey',
  'awsRegion',
  'awsAccessKeyId',
  'awsSecretAccessKey',
  'awsKmsKeyId',
  'awsKmsEndpoint',
] as const satisfies (keyof typeof vaultSettings)[]
