import { startWebhooks } from '../../src/main/webhooks.ts'
import { createLog } from '../../src/platform/log.ts'
import { createMetrics } from '../../src/platform/metrics.ts'
import { connect } from '../../src/platform/postgres.ts'
import { Secret } from '../../src/platform/secret.ts'
import type { Vault } from '../../src/vault/client.ts'
import { passwordName, secretOf } from './secrets.ts'

/** A process of its own: the worker's webhooks, until it is told to stop. Where it dies is for kill-hook.ts to say. */
const { DATABASE_URL: url = '', NATS_URL: natsUrl, NAME: name = '' } = process.env
const db = connect({ url, applicationName: 'dispatch', poolSize: 4, onError: () => undefined })

/** Every process has a password of its own, by which the receiver knows it. */
const vault: Pick<Vault, 'readSecrets'> = {
  readSecrets: async ({ id }, names) =>
    Object.fromEntries(names.map((one) => [one, one === passwordName ? name : secretOf(id, one)])),
}

const webhooks = startWebhooks({
  db,
  vault: vault as Vault,
  log: createLog({ level: 'silent', process: 'dispatch' }),
  metrics: createMetrics(),
  config: {
    instance: 'kills',
    environment: 'sandbox',
    headerPrefix: 'X-Service-',
    webhookLoopback: true,
    databaseUrl: new Secret(url),
    databaseDirectUrl: undefined,
    natsUrl: natsUrl === undefined ? undefined : new Secret(natsUrl),
  },
})
process.once('SIGTERM', () => {
  void webhooks
    .stop()
    .then(() => db.close())
    .then(() => process.exit(0))
})
process.stdout.write('started\n')
