import type { MortalCluster } from './cluster.ts'
import { openStage, until } from './stage.ts'

export interface StopReport {
  times: number
  /** From before the change was sent to the last request that came after it. */
  median_ms: number
  longest_ms: number
  /** Requests that came after the endpoint was quiet, while events went on. */
  late: number
  /** Events that the subscription would have been told had it been active. */
  kept: number
}

/** Longer than any request is on its way. */
const quietMs = 2_500

/** Makes a subscription inactive under load, again and again, and sees when the last request comes. */
export async function measureStops(
  cluster: MortalCluster,
  { times, perSecond, natsUrl }: { times: number; perSecond: number; natsUrl?: string | undefined },
): Promise<StopReport> {
  const stage = await openStage(cluster, { perSecond, bugs: [], natsUrl })
  const [subscription] = stage.subscriptions
  if (!subscription) throw new Error('the stage has no subscription')
  const mailbox = stage.receiver.mailboxOf(subscription.id)
  stage.receiver.calmDown()
  const setActive = (isActive: boolean) =>
    stage.query('update webhook_subscriptions set active = $2, version = version + 1 where id = $1', [
      subscription.id,
      isActive,
    ])
  const processes = await Promise.all([stage.startDispatcher(), stage.startDispatcher(), stage.startProducer()])
  try {
    const lateness: number[] = []
    let late = 0
    for (let time = 0; time < times; time += 1) {
      const before = mailbox.taken.size
      await until(() => mailbox.taken.size >= before + perSecond / 2)
      const changedAt = Date.now()
      await setActive(false)
      await until(() => Date.now() - Math.max(mailbox.lastAt, changedAt) > quietMs)
      lateness.push(Math.max(0, mailbox.lastAt - changedAt))
      const { lastAt } = mailbox
      const events = stage.produced.committed.size
      await until(() => stage.produced.committed.size >= events + perSecond / 2)
      if (mailbox.lastAt !== lastAt) late += 1
      await setActive(true)
    }
    const sorted = lateness.toSorted((one, other) => one - other)
    const events = await stage.query<{ id: string }>(`select id from events where merchant_account_id = 'default'`)
    return {
      times,
      median_ms: sorted[Math.floor(times / 2)] ?? 0,
      longest_ms: sorted.at(-1) ?? 0,
      late,
      kept: events.filter(({ id }) => !mailbox.taken.has(id)).length,
    }
  } finally {
    await Promise.all(processes.map((process) => process.stop()))
    await stage.close()
  }
}
