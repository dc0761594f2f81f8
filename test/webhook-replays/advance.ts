import { advanceReplays } from '../../src/areas/webhook-subscriptions/replays/operations.ts'
import { connect } from '../../src/platform/postgres.ts'

/** The worker's job in a process of its own, which can be killed: goes on with all replays and ends. */
const url = process.env['DATABASE_URL'] ?? ''
const db = connect({ url, applicationName: 'replays', poolSize: 1, onError: () => undefined })
await advanceReplays(db, () => new Date(), new AbortController().signal)
await db.close()
