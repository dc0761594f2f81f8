import { setTimeout as delay } from 'node:timers/promises'
import { parseArgs } from 'node:util'
import { median, note, round } from './rig.ts'
import type { Behaviour } from './webhook-receivers.ts'
import { Ledger } from './webhooks/ledger.ts'
import { saturate } from './webhooks/saturate.ts'
import { type Sender, type Source, startReceivers, startSender, startStage, until } from './webhooks/stage.ts'

/**
 * A hundred endpoints and one sender, as fast as it is. With four of them bad, the others keep their throughput, everything that they are to be told
 * arrives, and the sender's memory stays what it was. The same with all of them good, in turns.
 */
const { values: options } = parseArgs({
  options: {
    rounds: { type: 'string', default: '5' },
    seconds: { type: 'string', default: '10' },
    endpoints: { type: 'string', default: '100' },
    help: { type: 'boolean', default: false },
  },
})
if (options.help) {
  console.log(`npm run proof:webhook-isolation -- [--rounds 5] [--seconds 10] [--endpoints 100]

--rounds   with all good and with four bad, each
--seconds  of each; an attempt that hangs is given up after 5

Example: npm run proof:webhook-isolation -- --rounds 2 --seconds 8`)
  process.exit(0)
}
const rounds = Number(options.rounds)
const seconds = Number(options.seconds)
const mostWarmUps = 2 * rounds
const settledMegabytes = 3
const floors = { ratio: 0.9, memoryMegabytes: 20 }

const badBehaviours: readonly Behaviour[] = ['hang', 'error', 'drip', 'gigabyte']
const accounts = Array.from({ length: Number(options.endpoints) }, (_none, index) => `shop-${index}`)
const badAccounts = accounts.slice(0, badBehaviours.length)
const goodAccounts = accounts.slice(badBehaviours.length)
/** Of each good endpoint, so that it always has something to be sent. */
const onTheirWayEach = 20

interface Run {
  perSecond: number
  /** Of what the others were to be told. */
  missing: number
  duplicates: number
  peakMemory: number
  /** Milliseconds for each delivery to the others. */
  cpu: { sender: number; postgresql: number }
  /** What each of the four has heard meanwhile. */
  attemptsOnFour: number[]
}

async function run(source: Source, sender: Sender, areFourBad: boolean): Promise<Run> {
  for (const [receiver, behaviour] of badBehaviours.entries()) {
    four.become({ receiver, behaviour: areFourBad ? behaviour : 'good' })
  }
  const urls = [...four.urls, ...others.urls]
  // New ones, which nobody knows anything bad about.
  await source.subscribe(accounts.map((account, index) => ({ account, url: urls[index] ?? '' })))
  await delay(1_500)
  const [ledger, onFour] = [await Ledger.open(others), await Ledger.open(four)]
  const [before, cpuBefore] = [await sender.totals(), stage.cpu()]
  const isWatched = (account: string) => !badAccounts.includes(account)
  const onTheirWay = onTheirWayEach * goodAccounts.length
  const {
    arrived,
    expected,
    seconds: took,
  } = await saturate(source, ledger, { accounts, isWatched, onTheirWay, seconds })
  await ledger.waitFor(expected)
  await onFour.update()
  const [after, cpuAfter] = [await sender.totals(), stage.cpu()]
  await source.client.query('delete from webhook_subscriptions')
  await until(
    async () => {
      const { sending, attempts } = await sender.totals()
      return sending === 0 && (await source.count('webhook_attempts')) === attempts - before.attempts
    },
    () => 'the sender does not come to an end',
  )
  await source.clear()
  return {
    perSecond: arrived / took,
    missing: expected - ledger.arrived,
    duplicates: ledger.duplicates,
    peakMemory: after.peakMemoryBytes / 2 ** 20,
    cpu: { sender: (after.cpuMs - before.cpuMs) / expected, postgresql: (cpuAfter - cpuBefore) / expected },
    attemptsOnFour: onFour.counts(),
  }
}

/** Until the sender takes no more memory for what is good. How much that is. */
async function warmUp(source: Source, sender: Sender): Promise<number> {
  let most = 0
  for (let count = 1; count <= mostWarmUps; count += 1) {
    const { peakMemory } = await run(source, sender, false)
    note(`warming up: ${round(peakMemory, 0)} MB`)
    if (peakMemory < most + settledMegabytes) return Math.max(most, peakMemory)
    most = peakMemory
  }
  return most
}

const stage = await startStage()
const others = await startReceivers(goodAccounts.map(() => 'good'))
const four = await startReceivers(badBehaviours.map(() => 'good'))
let sender: Sender | undefined
try {
  const source = await stage.open()
  sender = await startSender(stage.cluster.url({ user: 'florin_worker' }))
  const memoryBefore = await warmUp(source, sender)
  const runs = { good: [] as Run[], bad: [] as Run[] }
  for (let count = 1; count <= rounds; count += 1) {
    // By turns the one and the other first, so that whatever else the machine does falls on both.
    for (const kind of count % 2 === 1 ? (['good', 'bad'] as const) : (['bad', 'good'] as const)) {
      const made = await run(source, sender, kind === 'bad')
      runs[kind].push(made)
      note(
        `round ${count} of ${rounds}: ${kind === 'bad' ? 'four bad' : 'all good'}: ${round(made.perSecond, 0)} deliveries/s to the others, ${made.attemptsOnFour.join(', ')} attempts on the four, ${round(made.peakMemory, 0)} MB, ${round(made.cpu.sender, 2)} and ${round(made.cpu.postgresql, 2)} ms of sender and PostgreSQL each`,
      )
    }
  }
  const ratios = runs.bad.map(({ perSecond }, index) => perSecond / (runs.good[index]?.perSecond ?? 0))
  const ratio = median(ratios)
  const goodRates = runs.good.map(({ perSecond }) => perSecond)
  const memoryGrowth = Math.max(...[...runs.good, ...runs.bad].map(({ peakMemory }) => peakMemory)) - memoryBefore
  const total = (of: (run: Run) => number) => [...runs.good, ...runs.bad].reduce((sum, run) => sum + of(run), 0)
  const [missing, duplicates] = [total((run) => run.missing), total((run) => run.duplicates)]
  const passed = ratio >= floors.ratio && memoryGrowth <= floors.memoryMegabytes && missing === 0 && duplicates === 0
  const rateOf = (of: readonly Run[]) => round(median(of.map(({ perSecond }) => perSecond)), 0)
  const cpuOf = (of: readonly Run[], process: keyof Run['cpu']) => round(median(of.map(({ cpu }) => cpu[process])), 3)
  console.log(
    JSON.stringify({
      proof: 'webhook-isolation',
      endpoints: accounts.length,
      bad: badBehaviours,
      rounds,
      seconds,
      others_per_second: { all_good: rateOf(runs.good), four_bad: rateOf(runs.bad) },
      sender_cpu_ms: { all_good: cpuOf(runs.good, 'sender'), four_bad: cpuOf(runs.bad, 'sender') },
      postgresql_cpu_ms: { all_good: cpuOf(runs.good, 'postgresql'), four_bad: cpuOf(runs.bad, 'postgresql') },
      ratio: round(ratio, 3),
      ratios: ratios.map((one) => round(one, 3)),
      ratio_floor: floors.ratio,
      // Of the same run with all good, the slowest against the fastest: what the machine itself does to a ratio.
      all_good_spread: round(Math.min(...goodRates) / Math.max(...goodRates), 3),
      attempts_on_bad: Object.fromEntries(
        badBehaviours.map((behaviour, index) => [
          behaviour,
          runs.bad.reduce((sum, { attemptsOnFour }) => sum + (attemptsOnFour[index] ?? 0), 0),
        ]),
      ),
      missing,
      duplicates,
      memory_megabytes: { before: round(memoryBefore, 1), growth: round(memoryGrowth, 1) },
      memory_growth_megabytes_most: floors.memoryMegabytes,
      passed,
    }),
  )
  process.exitCode = passed ? 0 : 1
} finally {
  await sender?.stop()
  await Promise.all([others.stop(), four.stop()])
  await stage.close()
}
