import { setTimeout as sleep } from 'node:timers/promises'
import type { EventTarget } from '../../src/events/catalog.ts'
import { emit } from '../../src/events/outbox.ts'
import { newId } from '../../src/ids.ts'
import { failpoint } from '../../src/platform/failpoint.ts'
import { connect, transact } from '../../src/platform/postgres.ts'
import { rolledBack } from './points.ts'

/**
 * A process of its own, in the place of an api: commits changes with their events, and takes some back, until it is killed. Says on stdout
 * what was committed for certain.
 */
const { DATABASE_URL: url = '', PER_SECOND: perSecond = '100' } = process.env
const db = connect({ url, applicationName: 'produce', poolSize: 2, onError: () => undefined })

class TakenBack extends Error {}

const accountOf = (random: number) => (random < 0.7 ? 'default' : random < 0.9 ? 'other' : null)

/** One change: up to three events that stand or fall together. */
async function change(isTakenBack: boolean): Promise<string[]> {
  const ids = Array.from({ length: 1 + Math.floor(Math.random() * 3) }, () => newId())
  await transact({ db, accounts: 'all' as const }, async (ctx) => {
    for (const [index, id] of ids.entries()) {
      const target = {
        type: 'buyer',
        id,
        external_identifier: isTakenBack ? rolledBack : null,
      } as EventTarget<'buyer.created'>
      await emit(ctx, Math.random() < 0.5 ? 'buyer.created' : 'buyer.updated', {
        target,
        merchantAccountId: accountOf(Math.random()),
        sequence: index + 1,
      })
    }
    if (isTakenBack) throw new TakenBack()
    await failpoint('produce: not yet committed')
  })
  await failpoint('produce: committed')
  return ids
}

process.once('SIGTERM', () => process.exit(0))
process.stdout.write('started\n')
const began = performance.now()
for (let made = 0; ; ) {
  const isTakenBack = Math.random() < 0.1
  try {
    const ids = await change(isTakenBack)
    made += ids.length
    process.stdout.write(`committed ${ids.join(' ')}\n`)
  } catch (error) {
    if (error instanceof TakenBack) process.stdout.write('taken back\n')
    // The database is away. Whether it has committed is for the events to say.
    else {
      process.stdout.write('failed\n')
      await sleep(100)
    }
  }
  await sleep(Math.max(0, (made / Number(perSecond)) * 1000 - (performance.now() - began)))
}
