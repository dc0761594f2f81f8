import type { PlantedBug } from '../kill-hook.ts'
import type { NatsCluster } from '../nats.ts'
import { watchAcknowledgements } from './acknowledgements.ts'
import type { MortalCluster } from './cluster.ts'
import { type Findings, judge } from './judge.ts'
import { type NatsFault, strike } from './nats-faults.ts'
import { anyMoment, dispatchPoints, lanePoints, producePoints } from './points.ts'
import type { Victim } from './processes.ts'
import { openStage, type Stage, until } from './stage.ts'

export interface KillOptions {
  cluster: MortalCluster
  /** Committed at least. */
  events: number
  perSecond: number
  /** After each, whatever waits for another attempt is due at once. */
  rounds: number
  /** Processes that die at each point, in each round. */
  kills: number
  /** Of PostgreSQL, in each round. */
  databaseKills: number
  /** First attempts go through it. */
  nats?: NatsCluster
  /** What befalls it, in each round. */
  natsFaults?: readonly NatsFault[]
  points?: readonly string[]
  bugs?: readonly PlantedBug[]
  note?: (line: string) => void
}

export interface KillReport extends Findings {
  taken_back: number
  dispatchers_killed: Readonly<Record<string, number>>
  producers_killed: Readonly<Record<string, number>>
  databases_killed: number
  lane?: {
    /** What befell it, and how often. */
    faults: Readonly<Record<string, number>>
    /** Of those who commit, while servers were down. */
    errors_while_down: number
    acknowledged: number
    acknowledged_early: number
  }
  receiver: Readonly<Record<string, number>>
  seconds: number
  /** What is wrong, in words. */
  violations: string[]
  passed: boolean
}

const dispatchers = 3
const leastThroughLane = 0.05
const usedAgain = 200
/** A cluster without a majority needs some seconds for an election when it has one again. */
const mostUnusedMs = 60_000
const producers = 2

/**
 * Events are committed and sent while everybody dies: those who commit, those who send, and PostgreSQL. In the end all that was committed was
 * received, and nothing else.
 */
export async function runKills(options: KillOptions): Promise<KillReport> {
  const { cluster, nats, events, rounds, kills, databaseKills, bugs = [], note = () => undefined } = options
  const began = performance.now()
  const stage = await openStage(cluster, {
    perSecond: Math.ceil(options.perSecond / producers),
    bugs,
    natsUrl: nats?.url,
  })
  const watcher = nats && (await watchAcknowledgements(nats.url, stage.query))
  try {
    const progress = () => stage.produced.committed.size / events
    const plans = {
      dispatch: createPlan(
        options.points ?? [...dispatchPoints, ...(nats ? lanePoints : []), anyMoment],
        kills * rounds,
        progress,
      ),
      produce: createPlan([...producePoints, anyMoment], kills * rounds, progress),
    }
    let databasesKilled = 0
    const lane = { faults: {} as Record<string, number>, errors_while_down: 0 }
    for (let round = 1; round <= rounds; round += 1) {
      await churn(stage, plans, async () => {
        for (let step = 1; step <= databaseKills; step += 1) {
          await until(() => progress() >= (round - 1 + step / (databaseKills + 1)) / rounds)
          await cluster.killAndRestart()
          databasesKilled += 1
        }
        // What they say about its end is heard before anything else is done to them.
        const before = stage.produced.committed.size
        if (databaseKills > 0) await until(() => stage.produced.committed.size >= before + 2 * options.perSecond)
        for (const fault of options.natsFaults ?? []) {
          if (!nats || !watcher) break
          await befall(stage, nats, fault, options.perSecond, lane)
          await isUsedAgain(watcher.counts)
          note(`${fault.name}: ${stage.produced.committed.size} events`)
        }
        if (round === Math.ceil(rounds / 2)) await stage.rotate()
        await until(() => progress() >= round / rounds && plans.dispatch.isMet() && plans.produce.isMet())
      })
      await makeDue(stage)
      note(`round ${round}: ${stage.produced.committed.size} events`)
    }
    await drain(stage)
    await watcher?.close()
    const findings = await judge(stage)
    const { counts, complaints } = stage.receiver
    for (const complaint of complaints) note(complaint)
    const report = {
      ...findings,
      taken_back: stage.produced.taken_back,
      dispatchers_killed: plans.dispatch.deaths(),
      producers_killed: plans.produce.deaths(),
      databases_killed: databasesKilled,
      ...(watcher && { lane: { ...lane, ...watcher.counts } }),
      receiver: counts,
      seconds: Math.round((performance.now() - began) / 100) / 10,
    }
    const violations = violationsOf(report, options)
    return { ...report, violations, passed: violations.length === 0 }
  } finally {
    // Closed already, unless something went wrong; that is what is told.
    await watcher?.close().catch(() => undefined)
    await stage.close()
  }
}

/** Whoever commits notices nothing of it. */
async function befall(
  { produced }: Stage,
  nats: NatsCluster,
  fault: NatsFault,
  perSecond: number,
  lane: { faults: Record<string, number>; errors_while_down: number },
): Promise<void> {
  const failedBefore = produced.failed
  await strike(nats, fault, async () => {
    const before = produced.committed.size
    await until(() => produced.committed.size >= before + (fault.seconds ?? 3) * perSecond)
  })
  lane.errors_while_down += produced.failed - failedBefore
  lane.faults[fault.name] = (lane.faults[fault.name] ?? 0) + 1
}

/** Otherwise the next one would find a lane that nobody uses. */
async function isUsedAgain(counts: { acknowledged: number }): Promise<void> {
  const [wanted, end] = [counts.acknowledged + usedAgain, Date.now() + mostUnusedMs]
  await until(() => counts.acknowledged >= wanted || Date.now() > end)
}

function violationsOf(report: Omit<KillReport, 'violations' | 'passed'>, { events }: KillOptions): string[] {
  const none = [
    'lost',
    'phantoms',
    'strays',
    'commits_lost',
    'deliveries_doubled',
    'deliveries_open',
    'queue_left',
  ] as const
  const { receiver, lane, taken_back: takenBack } = report
  return [
    ...(lane?.acknowledged_early ? [`acknowledged before it was written down: ${lane.acknowledged_early}`] : []),
    ...(lane?.errors_while_down ? [`errors of those who commit, without NATS: ${lane.errors_while_down}`] : []),
    // What was in the hands of somebody who died comes from its row.
    ...(lane && lane.acknowledged < report.wanted * leastThroughLane
      ? [`of ${report.wanted} only ${lane.acknowledged} went through the lane`]
      : []),
    ...none.filter((name) => report[name] > 0).map((name) => `${name}: ${report[name]}`),
    ...(receiver['refused'] ? [`refused by the receiver: ${receiver['refused']}`] : []),
    ...(receiver['of_rolled_back'] ? [`of what was rolled back: ${receiver['of_rolled_back']}`] : []),
    ...(report.events < events ? [`only ${report.events} events`] : []),
    // Without them nothing was shown.
    ...(takenBack === 0 || receiver['failed'] === 0 || receiver['convinced_by_two'] === 0 ? ['nothing to see'] : []),
  ]
}

/** Deaths at each point, spread evenly over the run. */
function createPlan(points: readonly string[], kills: number, progress: () => number) {
  const planned: string[] = Array.from({ length: kills }, () => points).flat()
  const deaths = new Map(points.map((point) => [point, 0]))
  let [taken, died] = [0, 0]
  const due = () => Math.floor(planned.length * Math.min(1, progress()))
  return {
    /** Where the next one dies, if it is time for that. */
    next: (): string | undefined => (taken < due() ? planned[taken++] : undefined),
    count(point: string): void {
      deaths.set(point, (deaths.get(point) ?? 0) + 1)
      died += 1
    },
    isMet: () => died >= due(),
    deaths: () => Object.fromEntries(deaths),
  }
}
type Plan = ReturnType<typeof createPlan>

/** Everybody works and dies until `work` is done; then nobody is left, and nobody holds anything. */
async function churn(stage: Stage, plans: Record<'dispatch' | 'produce', Plan>, work: () => Promise<void>) {
  const over = new AbortController()
  const places = (count: number, start: () => Promise<Victim>, plan: Plan) =>
    Array.from({ length: count }, () => fillPlace(start, plan, over.signal))
  await Promise.all([
    work().finally(() => over.abort()),
    ...[
      ...places(dispatchers, stage.startDispatcher, plans.dispatch),
      ...places(producers, stage.startProducer, plans.produce),
    ].map((place) => place.finally(() => over.abort())),
  ])
}

/** Whoever has the place works until it is time to die, dies where the plan says, and is replaced. */
async function fillPlace(start: () => Promise<Victim>, plan: Plan, over: AbortSignal): Promise<void> {
  const end = new Promise<void>((resolve) => over.addEventListener('abort', () => resolve(), { once: true }))
  while (!over.aborted) {
    const victim = await start()
    let point: string | undefined
    await until(() => over.aborted || (point ??= plan.next()) !== undefined)
    if (point === anyMoment) victim.kill()
    else if (point !== undefined) victim.dieAt(point)
    await Promise.race([end, victim.died])
    if (over.aborted) await victim.stop()
    else if (point !== undefined && (await victim.died)) plan.count(point)
  }
}

/** What waits for its next attempt, or for the end of a dead process's lease. Only while nobody sends: else it would be sent twice. */
const makeDue = ({ query }: Stage) =>
  query(`update webhook_deliveries set next_attempt_at = now() where status = 'pending'`)

/** Far longer than a lease: what has not moved by then never will. */
const patienceMs = 120_000

async function drain(stage: Stage): Promise<void> {
  stage.receiver.calmDown()
  const senders = await Promise.all(Array.from({ length: dispatchers }, () => stage.startDispatcher()))
  let [left, movedAt] = [Infinity, Date.now()]
  await until(async () => {
    const [row] = await stage.query<{ count: number }>(
      `select (select count(*) from event_queue) + (select count(*) from webhook_deliveries where status = 'pending') as count`,
    )
    const count = Number(row?.count)
    if (count < left) [left, movedAt] = [count, Date.now()]
    return count === 0 || Date.now() - movedAt > patienceMs
  })
  await Promise.all(senders.map((sender) => sender.stop()))
}
