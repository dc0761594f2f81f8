import { createLog } from '../../src/platform/log.ts'
import { connect } from '../../src/platform/postgres.ts'
import { startDispatcher } from '../../src/webhooks/dispatcher.ts'
import { createOutbound } from '../../src/webhooks/outbound.ts'
import { createSender } from '../../src/webhooks/sender.ts'
import { processHeader, secretOf } from './secrets.ts'

/** A process of its own: sends webhooks until it is told to stop. Where it dies is for kill-hook.ts to say. */
const { DATABASE_URL: url = '', NAME: name = '' } = process.env
const now = () => new Date()
const db = connect({ url, applicationName: 'dispatch', poolSize: 4, onError: () => undefined })
const outbound = createOutbound({ allowLoopback: true })
const send = createSender({
  outbound,
  secretsOf: async ({ id, version, rotating_until }) => ({
    signing: [secretOf(id, version), ...(rotating_until && rotating_until > now() ? [secretOf(id, version - 1)] : [])],
    password: null,
    clientSecret: null,
  }),
  authorize: async () => ({ [processHeader]: name }),
  source: { instance: 'kills', environment: 'sandbox' },
  prefix: 'X-Service-',
  now,
})
const dispatcher = startDispatcher({ db, send, now, log: createLog({ level: 'silent', process: 'dispatch' }) })
process.once('SIGTERM', async () => {
  await dispatcher.stop()
  outbound.close()
  await db.close()
})
process.stdout.write('started\n')
