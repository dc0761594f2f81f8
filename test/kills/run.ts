import { setTimeout as sleep } from 'node:timers/promises'
import { sweepVault } from '../../src/areas/payment-methods/operations/replace.ts'
import { createLog } from '../../src/platform/log.ts'
import type { PlantedBug } from '../kill-hook.ts'
import {
  anyMoment,
  type Case,
  makeCase,
  nameOf,
  type Operation,
  preparationOf,
  requestOf,
  storingOf,
  type Target,
} from './cases.ts'
import { arrivalsOf, type JanitorDeaths } from './gift-card-cases.ts'
import { type Findings, judge } from './judge.ts'
import type { Stage, StageAnswer, StageApis, StageRequest } from './stage.ts'

/** A request that was cut, and what its client heard in the end. */
export interface CutCase extends Case {
  answer: StageAnswer | undefined
}

export interface KillOptions {
  account: string
  targets: readonly Target[]
  janitorDeaths?: readonly JanitorDeaths[]
  /** Requests that die at each point, of each operation. */
  kills: number
  /** Requests that die with one process. */
  together: number
  apis?: StageApis
  /** Where a mistake is planted. */
  janitor?: 'asks' | 'sleeps' | readonly PlantedBug[]
  sweeps?: boolean
  note?: (line: string) => void
}

export interface KillReport extends Findings {
  points: number
  kills: number
  processes: number
  janitors_killed: number
  seconds: number
  passed: boolean
}

export async function runKills(stage: Stage, options: KillOptions): Promise<KillReport> {
  const { account, targets, kills, together, apis = stage.apis, note = () => undefined } = options
  const began = performance.now()
  await stage.makeAccount(account)
  const cut: CutCase[] = []
  const violations: string[] = []
  let processes = 0
  for (const target of targets) {
    const places = Object.entries(target.at) as [Operation, string][]
    const perProcess = Math.max(1, Math.floor(together / places.length))
    for (let turn = 0; turn < kills; turn += perProcess) {
      const turns = Array.from({ length: Math.min(perProcess, kills - turn) }, (_, index) => turn + index)
      const cases = places.flatMap(([operation, point]) =>
        turns.map((turn): CutCase => ({ ...makeCase(operation, point, account, turn), answer: undefined })),
      )
      await prepare(stage, apis, cases)
      violations.push(...(await cutOff(stage, apis, target, cases)))
      violations.push(...(await retry(stage, apis.steady.url, cases, { isEarly: true })))
      cut.push(...cases)
      processes += 1
    }
    note(`${target.name}: ${cut.length} requests died with ${processes} processes, ${violations.length} violations`)
  }
  let janitorsKilled = 0
  for (const { operation, point, way, deaths } of options.janitorDeaths ?? []) {
    const cases = deaths.map(
      (_, turn): CutCase => ({ ...makeCase(operation, point, account, turn, way), answer: undefined }),
    )
    await prepare(stage, apis, cases)
    violations.push(...(await cutOff(stage, apis, { name: point, at: { [operation]: point } }, cases)))
    for (const [index, death] of deaths.entries()) {
      const problem = await killJanitor(stage, cases[index], death)
      if (problem) violations.push(problem)
      else janitorsKilled += 1
    }
    cut.push(...cases)
    processes += 1
    note(`${operation}, ${point}: ${janitorsKilled} janitors died, ${violations.length} violations`)
  }

  // Half of the clients come back before the janitor does; with a janitor that is wrong, nobody may hide it.
  const { janitor = 'asks' } = options
  const early = janitor === 'asks' ? cut.filter((_, index) => index % 2 === 0) : []
  violations.push(...(await retry(stage, apis.later.url, early)))
  if (janitor !== 'sleeps') {
    await resolveAll(stage, account, janitor === 'asks' ? [] : janitor)
    violations.push(...(await retry(stage, apis.later.url, cut)))
  }
  violations.push(...(await replay(stage, apis, cut)))
  if (options.sweeps ?? true) await sweep(stage)

  const findings = await judge(stage, account, cut)
  findings.lost_answers += violations.length
  findings.details.unshift(...violations)
  for (const detail of findings.details.slice(0, 30)) note(detail)
  return {
    points: targets.reduce((sum, { at }) => sum + Object.keys(at).length, 0),
    kills: cut.length,
    processes,
    janitors_killed: janitorsKilled,
    ...findings,
    seconds: Math.round((performance.now() - began) / 100) / 10,
    passed: findings.details.length === 0,
  }
}

async function prepare(stage: Stage, apis: StageApis, cases: readonly CutCase[]): Promise<void> {
  await Promise.all(
    cases.map(async (one) => {
      const make = async (request: StageRequest) => {
        const { status, text, body } = await stage.send(apis.steady.url, request)
        if (status !== 201) throw new Error(`${nameOf(one)} could not be prepared: ${text}`)
        return body as { id: string; gift_card_redemptions?: readonly { id: string }[] }
      }
      for (const card of one.giftCards) if (card.isStored) card.id = (await make(storingOf(one, card))).id
      const request = preparationOf(one)
      if (!request) return
      const payment = await make(request)
      one.transactionId = payment.id
      one.redemptionId = payment.gift_card_redemptions?.[0]?.id
    }),
  )
}

/** Sends them, and sees the process die before anybody is answered. */
async function cutOff(stage: Stage, apis: StageApis, target: Target, cases: readonly CutCase[]): Promise<string[]> {
  const victim = await apis.victims.take()
  const points = Object.values(target.at)
  const isRandom = points.includes(anyMoment)
  const arrivals = cases.reduce((sum, { operation, point }) => sum + arrivalsOf(operation, point), 0)
  if (!isRandom) victim.order({ points, requests: arrivals })
  const problems: string[] = []
  const sent = cases.map(async (one) => {
    const answer = await stage.send(victim.url, requestOf(one)).catch(() => undefined)
    if (!answer) return
    if (isRandom && answer.status < 300) one.answer = answer
    else problems.push(`${nameOf(one)}: was answered instead, ${answer.status} ${answer.text.slice(0, 200)}`)
  })
  if (isRandom) {
    // The first requests of a process take longer: its connections and code are cold.
    await sleep(20 + Math.random() * 250)
    victim.kill('SIGKILL')
  }
  const late = sleep(240_000, 'late' as const, { ref: false })
  const end = await Promise.race([Promise.all(sent).then(() => victim.exited), late])
  if (end !== 'SIGKILL') problems.push(`the process lived on at "${target.name}"`)
  victim.kill('SIGKILL')
  await victim.exited
  return problems
}

/** The clients that have a key and no answer ask again. Early, they may hear that the first request still runs. */
async function retry(
  stage: Stage,
  url: string,
  cases: readonly CutCase[],
  { isEarly = false } = {},
): Promise<string[]> {
  const problems: string[] = []
  await inTurns(
    cases.filter(({ key, answer }) => key !== undefined && !answer),
    async (one) => {
      const answer = await stage.send(url, requestOf(one))
      if (answer.status < 300) one.answer = answer
      else if (!(isEarly && answer.status === 409 && answer.body['code'] === 'concurrent_request')) {
        problems.push(`${nameOf(one)}: the retry got ${answer.status} ${answer.text.slice(0, 300)}`)
      }
    },
  )
  return problems
}

/** Who has an answer gets the same again. */
async function replay(stage: Stage, apis: StageApis, cases: readonly CutCase[]): Promise<string[]> {
  const problems: string[] = []
  await inTurns(
    cases.filter(({ key, answer }) => key !== undefined && answer),
    async (one) => {
      const again = await stage.send(apis.steady.url, requestOf(one))
      if (again.text !== one.answer?.text || !again.isReplayed)
        problems.push(`${nameOf(one)}: the next answer is another`)
    },
  )
  return problems
}

async function inTurns<Item>(items: readonly Item[], work: (item: Item) => Promise<void>): Promise<void> {
  const queue = [...items]
  const lane = async () => {
    for (let item = queue.shift(); item !== undefined; item = queue.shift()) await work(item)
  }
  await Promise.all(Array.from({ length: 8 }, lane))
}

const { signal } = new AbortController()
const log = createLog({ level: 'silent', process: 'kills' })
const minute = 60_000

/** The worker's janitor, at three later times. */
async function resolveAll({ runJanitor }: Stage, account: string, bugs: readonly PlantedBug[]): Promise<void> {
  for (const aheadMs of [2 * minute, 10 * minute, 120 * minute]) await runJanitor({ account, aheadMs, bugs })
}

/** Its time has come, and the janitor dies while it finds out what became of it. */
async function killJanitor(
  { query, runJanitor }: Stage,
  one: CutCase | undefined,
  point: string,
): Promise<string | undefined> {
  if (!one) return 'nobody is left to die'
  const { account, order } = one
  await query(
    `update attempts set next_check_at = now() - interval '1 second'
    where merchant_account_id = $1 and state <> 'done' and transaction_id = (
      select id from transactions where merchant_account_id = $1 and external_identifier = $2)`,
    [account, order],
  )
  const end = await runJanitor({ account, aheadMs: 0, point })
  return end === 'SIGKILL' ? undefined : `${nameOf(one)}: the janitor lived on at "${point}"`
}

async function sweep({ worker: db, vault }: Stage): Promise<void> {
  const now = () => new Date(Date.now() + 60 * minute)
  await sweepVault({ db, vault, now, log }, signal, 0)
}
