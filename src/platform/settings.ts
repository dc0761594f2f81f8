import { type Static, Type } from 'typebox'
import { eventStreamSettings } from './event-stream-settings.ts'
import { defaultHeaderPrefix } from './header-prefix.ts'
import type { Secret } from './secret.ts'
import { type ProcessName, type Setting, secret, setting } from './setting.ts'
import { optionalVaultNames, vaultSettings } from './vault-settings.ts'

export type { ProcessName, Setting }

const everywhere = ['api', 'worker', 'vault', 'migrate'] as const
const servers = ['api', 'worker', 'vault'] as const
const port = { minimum: 0, maximum: 65_535 }

/** Every setting there is. `docs/configuration.md` is generated from this list. */
export const settings = {
  environment: setting(
    Type.Enum(['sandbox', 'production'], {
      default: 'sandbox',
      description: 'Which of the two environments this deployment is. It is told in every event.',
    }),
    { env: 'FLORIN_ENVIRONMENT', for: servers },
  ),
  instance: setting(
    Type.String({
      pattern: '^[a-z0-9-]{1,63}$',
      default: 'local',
      description: 'The name of this instance: the subdomain that the customer chose.',
    }),
    { env: 'FLORIN_INSTANCE', for: servers },
  ),
  databaseUrl: secret(
    Type.String({
      pattern: '^postgres(ql)?://',
      description:
        "PostgreSQL, as this process's own role (`florin_api`, `florin_worker`, `florin_vault`, `florin_migrate`). Over a network with `?sslmode=verify-full` at its end, and `&sslrootcert=FILE` for a certificate authority of your own. A transaction pooler may stand between.",
    }),
    { env: 'DATABASE_URL', for: everywhere },
  ),
  databaseDirectUrl: secret(
    Type.Optional(
      Type.String({
        pattern: '^postgres(ql)?://',
        description: 'The same without a pooler, for LISTEN and advisory locks. Default: `DATABASE_URL`.',
      }),
    ),
    { env: 'DATABASE_DIRECT_URL', for: everywhere },
  ),
  databasePoolSize: setting(
    Type.Integer({ minimum: 1, maximum: 500, default: 10, description: 'Connections this process may open.' }),
    { env: 'FLORIN_DATABASE_POOL_SIZE', for: servers },
  ),
  host: setting(Type.String({ minLength: 1, default: '127.0.0.1', description: 'Address of the public listener.' }), {
    env: 'FLORIN_HOST',
    for: ['api'],
  }),
  port: setting(
    Type.Integer({ ...port, default: 8080, description: 'Port of the public listener; 0 takes a free one.' }),
    { env: 'FLORIN_PORT', for: ['api'] },
  ),
  privateHost: setting(
    Type.String({
      minLength: 1,
      default: '127.0.0.1',
      description: 'Address of the private listener (`/livez`, `/readyz`, `/metrics`). Keep it off the internet.',
    }),
    { env: 'FLORIN_PRIVATE_HOST', for: servers },
  ),
  privatePort: setting(
    Type.Integer({ ...port, default: 0, description: 'Port of the private listener; 0 takes a free one.' }),
    { env: 'FLORIN_PRIVATE_PORT', for: servers },
  ),
  publicUrl: setting(
    Type.Optional(
      Type.String({
        pattern: '^https?://[^/?#]+$',
        description:
          'The base URL that clients use, without a path, for links in answers. Default: the address of the public listener.',
      }),
    ),
    { env: 'FLORIN_PUBLIC_URL', for: ['api'] },
  ),
  headerPrefix: setting(
    Type.String({
      pattern: '^[A-Za-z][A-Za-z0-9]*-([A-Za-z0-9]+-)*$',
      default: defaultHeaderPrefix,
      description:
        'Prefix of the merchant account header and the webhook headers, so that a client built for another brand of the same contract works unchanged.',
    }),
    { env: 'FLORIN_HEADER_PREFIX', for: ['api', 'worker'] },
  ),
  cursorKeys: secret(
    Type.String({
      pattern: '^[A-Za-z0-9+/]{43}=(,[A-Za-z0-9+/]{43}=)*$',
      description:
        'Keys that seal page cursors: base64 of 32 random bytes each (`openssl rand -base64 32`), the current one first, previous ones after a comma.',
    }),
    { env: 'FLORIN_CURSOR_KEYS', for: ['api'] },
  ),
  verifyConcurrency: setting(
    Type.Integer({
      minimum: 1,
      maximum: 64,
      default: 1,
      description: 'Token signatures checked at the same time. Each takes a thread; leave a core to the event loop.',
    }),
    { env: 'FLORIN_VERIFY_CONCURRENCY', for: ['api'] },
  ),
  maxGiftCards: setting(
    Type.Integer({
      minimum: 1,
      maximum: 100,
      default: 10,
      description: 'Gift cards that one payment, or one request for balances, may name.',
    }),
    { env: 'FLORIN_MAX_GIFT_CARDS', for: ['api'] },
  ),
  embedLimit: setting(
    Type.Integer({
      minimum: 1,
      maximum: 1_000,
      default: 50,
      description:
        'Requests that one browser token, or the fields of one checkout session, may make within any 60 seconds. Tokens of servers are not limited.',
    }),
    { env: 'FLORIN_EMBED_LIMIT', for: ['api'] },
  ),
  webhookLoopback: setting(
    Type.Boolean({
      default: false,
      description:
        'Whether webhooks may go to this machine, also without TLS. For development: refused in production, on in `florin dev`.',
    }),
    { env: 'FLORIN_WEBHOOK_LOOPBACK', for: ['api', 'worker'] },
  ),
  natsUrl: secret(
    Type.Optional(
      Type.String({
        pattern: '^(nats|tls)://[^,]+(,(nats|tls)://[^,]+)*$',
        description:
          'The servers of a NATS cluster with JetStream, with user and password, separated by commas. With it first attempts of webhooks go through NATS; without it everything works from PostgreSQL alone.',
      }),
    ),
    { env: 'NATS_URL', for: ['worker'] },
  ),
  ...eventStreamSettings,
  logLevel: setting(
    Type.Enum(['debug', 'info', 'warn', 'error', 'silent'], {
      default: 'info',
      description: 'Least severe level that is logged.',
    }),
    { env: 'FLORIN_LOG_LEVEL', for: everywhere },
  ),
  drainDelayMs: setting(
    Type.Integer({
      minimum: 0,
      maximum: 120_000,
      default: 0,
      description:
        'After SIGTERM the process says "not ready" and goes on serving this long, so that a load balancer can notice.',
    }),
    { env: 'FLORIN_DRAIN_DELAY_MS', for: servers },
  ),
  shutdownTimeoutMs: setting(
    Type.Integer({
      minimum: 100,
      maximum: 600_000,
      default: 25_000,
      description: 'After that, requests and jobs that still run are cut off.',
    }),
    { env: 'FLORIN_SHUTDOWN_TIMEOUT_MS', for: servers },
  ),
  auditRetentionMonths: setting(
    Type.Integer({ minimum: 12, maximum: 240, default: 24, description: 'How long the audit log is kept.' }),
    { env: 'FLORIN_AUDIT_RETENTION_MONTHS', for: ['worker'] },
  ),
  eventRetentionMonths: setting(
    Type.Integer({ minimum: 1, maximum: 240, default: 13, description: 'How long events are kept.' }),
    { env: 'FLORIN_EVENT_RETENTION_MONTHS', for: ['worker'] },
  ),
  deliveryRetentionMonths: setting(
    Type.Integer({
      minimum: 1,
      maximum: 240,
      default: 2,
      description: 'How long webhook deliveries and their attempts are kept.',
    }),
    { env: 'FLORIN_DELIVERY_RETENTION_MONTHS', for: ['worker'] },
  ),
  ...vaultSettings,
}

type Settings = typeof settings

/** The settings without a default that may be absent. */
export const optionalNames = [
  'databaseDirectUrl',
  'publicUrl',
  'natsUrl',
  'eventStreamUrl',
  ...optionalVaultNames,
] as const

type ValueOf<Entry> =
  Entry extends Setting<infer Schema, infer IsSecret> ? (IsSecret extends true ? Secret : Static<Schema>) : never

export type SettingName = keyof Settings
type OptionalName = (typeof optionalNames)[number]
export type SettingValue<Name extends SettingName> =
  | ValueOf<Settings[Name]>
  | (Name extends OptionalName ? undefined : never)
