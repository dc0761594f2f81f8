import type { PlantedBug } from '../kill-hook.ts'
import type { NatsCluster } from '../nats.ts'
import { watchAcknowledgements } from './acknowledgements.ts'
import type { MortalCluster } from './cluster.ts'
import { judge } from './judge.ts'
import { allWiped, strike } from './nats-faults.ts'
import { openStage, until } from './stage.ts'

export interface RecoveryReport {
  events: number
  wanted: number
  /** Events without deliveries, and deliveries that have not arrived, when somebody sends again. */
  backlog: number
  lost: number
  deliveries_open: number
  /** From there until all of it was received. */
  seconds: number
}

/**
 * Everybody who sends dies with something in hand, all servers of the lane lose what they have, and events go on. Then others send. No row is made
 * due by hand: what was in the lane is sent when its lease is over.
 */
export async function measureRecovery(
  cluster: MortalCluster,
  nats: NatsCluster,
  {
    events,
    perSecond,
    bugs = [],
    patienceMs = 120_000,
  }: { events: number; perSecond: number; bugs?: readonly PlantedBug[]; patienceMs?: number },
): Promise<RecoveryReport> {
  const stage = await openStage(cluster, { perSecond, bugs, natsUrl: nats.url })
  stage.receiver.calmDown()
  const countOpen = async () => {
    const [row] = await stage.query<{ count: number }>(
      `select (select count(*) from event_queue)::integer + (select count(*) from webhook_deliveries where status = 'pending')::integer as count`,
    )
    return row?.count ?? 0
  }
  const startDispatchers = () => Promise.all([1, 2, 3].map(() => stage.startDispatcher()))
  const watcher = await watchAcknowledgements(nats.url, stage.query)
  const dying = await startDispatchers()
  const producer = await stage.startProducer()
  try {
    await until(() => watcher.counts.acknowledged > 0)
    for (const dispatcher of dying) dispatcher.dieAt('lane: received')
    await Promise.all(dying.map(({ died }) => died))
    await strike(nats, allWiped, () => until(() => stage.produced.committed.size >= events))
    await producer.stop()
    const began = performance.now()
    const backlog = await countOpen()
    const dispatchers = await startDispatchers()
    await until(async () => performance.now() - began > patienceMs || (await countOpen()) === 0)
    const seconds = Math.round((performance.now() - began) / 100) / 10
    await Promise.all(dispatchers.map((dispatcher) => dispatcher.stop()))
    const { events: made, wanted, lost, deliveries_open } = await judge(stage)
    return { events: made, wanted, backlog, lost, deliveries_open, seconds }
  } finally {
    // What went wrong before is what is told.
    await watcher.close().catch(() => undefined)
    await stage.close()
  }
}
