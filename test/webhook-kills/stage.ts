import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import pg from 'pg'
import { newId, timeOfId } from '../../src/ids.ts'
import type { PlantedBug } from '../kill-hook.ts'
import type { MortalCluster } from './cluster.ts'
import { startedSoFar, startVictim, type Victim } from './processes.ts'
import { type Receiver, startReceiver } from './receiver.ts'
import { firstSecret, passwordName, secondSecret, secretOf } from './secrets.ts'

/** One run: a database of its own, subscriptions, their receiver, and what producers say that they have committed. */
export interface Stage {
  query<Row extends pg.QueryResultRow>(text: string, values?: unknown[]): Promise<Row[]>
  receiver: Receiver
  subscriptions: readonly Subscription[]
  produced: { committed: Set<string>; taken_back: number; failed: number }
  startDispatcher(): Promise<Victim>
  startProducer(): Promise<Victim>
  /** Puts a new secret before that of the subscription that rotates, while both are good. */
  rotate(): Promise<void>
  close(): Promise<void>
}

export interface Subscription {
  id: string
  /** '*': of the whole instance. */
  account: string
  names: readonly string[] | null
  active: boolean
}

const authentication = { kind: 'basic', username: 'florin', password_name: passwordName }

export async function openStage(
  cluster: MortalCluster,
  { perSecond, bugs, natsUrl }: { perSecond: number; bugs: readonly PlantedBug[]; natsUrl?: string | undefined },
): Promise<Stage> {
  const folder = mkdtempSync(join(tmpdir(), 'florin-webhook-kills-'))
  const database = await cluster.makeDatabase()
  const admin = new pg.Pool({ connectionString: cluster.url({ user: 'florin_admin', database }), max: 2 })
  admin.on('error', () => undefined)
  const receiver = await startReceiver()
  const produced: Stage['produced'] = { committed: new Set(), taken_back: 0, failed: 0 }

  async function subscribe(
    { account = 'default', names = null, active = true }: Partial<Omit<Subscription, 'id'>>,
    { isRotating = false } = {},
  ): Promise<Subscription> {
    const id = newId()
    const signing = isRotating ? [secondSecret, firstSecret] : [firstSecret]
    await admin.query(
      `insert into webhook_subscriptions (merchant_account_id, id, url, active, event_names, authentication, secret_name, previous_secret_name,
         rotating_until, creator_name, created_at, updated_at)
       values ($1, $2, $3, $4, $5, $6, $7, $8, case when $8::text is not null then now() + interval '1 hour' end, 'kills', $9, $9)`,
      [account, id, receiver.urlOf(id), active, names, authentication, signing[0], signing[1], timeOfId(id)],
    )
    const { verifiers } = receiver.mailboxOf(id)
    for (const name of signing) verifiers.push({ secret: secretOf(id, name), sinceProcess: 0 })
    return { id, account, names, active }
  }

  const rotatesLater = await subscribe({ names: ['buyer.updated'] })
  const subscriptions = [
    await subscribe({}),
    rotatesLater,
    await subscribe({ account: '*' }, { isRotating: true }),
    await subscribe({ account: 'other' }),
    await subscribe({ active: false }),
  ]
  const script = (user: string) => ({ folder, bugs, environment: { DATABASE_URL: cluster.url({ user, database }) } })

  function hear(line: string): void {
    const [verb, ...ids] = line.split(' ')
    if (verb === 'committed') for (const id of ids) produced.committed.add(id)
    else if (verb === 'failed') produced.failed += 1
    else produced.taken_back += 1
  }

  return {
    query: async (text, values = []) => (await admin.query(text, values)).rows,
    receiver,
    subscriptions,
    produced,
    startDispatcher: () => {
      const { environment, ...rest } = script('florin_worker')
      return startVictim({
        ...rest,
        environment: { ...environment, ...(natsUrl !== undefined && { NATS_URL: natsUrl }) },
        file: 'dispatch.ts',
      })
    },
    startProducer: () => {
      const { environment, ...rest } = script('florin_api')
      return startVictim({
        ...rest,
        environment: { ...environment, PER_SECOND: String(perSecond) },
        file: 'produce.ts',
        onLine: hear,
      })
    },
    async rotate() {
      const { id } = rotatesLater
      await admin.query(
        `update webhook_subscriptions set version = version + 1, secret_name = $2, previous_secret_name = secret_name,
           rotating_until = now() + interval '1 hour' where id = $1`,
        [id, secondSecret],
      )
      // Those that run may sign with the old one for as long as they keep what they know.
      receiver.mailboxOf(id).verifiers.push({ secret: secretOf(id, secondSecret), sinceProcess: startedSoFar() + 1 })
    },
    async close() {
      await receiver.close()
      await admin.end()
      rmSync(folder, { recursive: true, force: true })
    },
  }
}

export async function until(isSo: () => boolean | Promise<boolean>): Promise<void> {
  while (!(await isSo())) await sleep(50)
}
