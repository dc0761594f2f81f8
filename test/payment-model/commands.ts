import { deepStrictEqual, strictEqual } from 'node:assert'
import type fc from 'fast-check'
import { cancelTransaction } from '../../src/areas/transactions/operations/cancel.ts'
import { resolveDue } from '../../src/areas/transactions/operations/resolve.ts'
import { returnFromApproval } from '../../src/areas/transactions/operations/return.ts'
import { syncTransaction, updateTransaction } from '../../src/areas/transactions/operations/update.ts'
import { answerApproval } from '../../src/connectors/sandbox/approvals/decide.ts'
import type { Fault } from './faults.ts'
import { cancel, captureLimit, leftToRefund } from './follow-ups.ts'
import { Keys } from './keys.ts'
import { Model } from './model.ts'
import { isUndecided, type Transaction } from './records.ts'
import { actionView, predict, type Prediction, viewOf } from './prediction.ts'
import { type Answer, answerOf, newestId, questionId, type Request, returnId, send, shop } from './requests.ts'
import { compareSnapshots, moneyProblems, repeatedEvents } from './snapshot.ts'
import { type CaptureAmount, mostTransactions, type RefundAmount, type Step } from './steps.ts'
import { profiles, type World } from './world.ts'

/** The model's side of one sequence. */
export class Story {
  readonly model = new Model()
  readonly keys = new Keys()
  /** Everything that was asked with a key, to be asked again. */
  readonly requests: Request[] = []
  commands = 0
  /** How requests ended, by kind, to see that no part of the machine is left out. */
  readonly endings = new Map<string, number>()

  ended(how: string): void {
    this.endings.set(how, (this.endings.get(how) ?? 0) + 1)
  }

  transaction(index: number, isApt: (transaction: Transaction) => boolean = () => true): Transaction | undefined {
    const found = this.model.transactions.filter(isApt)
    return found[index % Math.max(1, found.length)]
  }
}

/** One step, on both sides, and everything compared afterwards. */
export class StepCommand implements fc.AsyncCommand<Story, World> {
  readonly step: Step

  constructor(step: Step) {
    this.step = step
  }

  check(story: Readonly<Story>): boolean {
    const { step } = this
    if (step.kind === 'create') return story.model.transactions.length < mostTransactions
    if (step.kind === 'repeat') return story.requests.length > 0
    if (step.kind === 'buyer') return story.model.transactions.some(hasQuestion(story, step))
    if (step.kind === 'return') return story.model.transactions.some(canComeBack)
    // Most of what could only be refused is left out.
    return !('isApt' in step) || !step.isApt || story.model.transactions.some(apt[step.kind])
  }

  async run(story: Story, world: World): Promise<void> {
    story.commands += 1
    await take(story, world, this.step)
    deepStrictEqual(world.errors, [], 'the log has errors')
    await compareSnapshots(world, story.model, story.keys)
  }

  toString(): string {
    return JSON.stringify(this.step)
  }
}

async function take(story: Story, world: World, step: Step): Promise<void> {
  const { model } = story
  switch (step.kind) {
    case 'create':
    case 'capture':
    case 'void':
    case 'refund':
      return await request(story, world, step)
    case 'repeat':
      return await repeat(story, world, step)
    case 'cancel':
      return await onTransaction(story, world, step, async (transaction, ctx) => {
        const answer = await world.withFault({ fault: step.fault }, () =>
          answerOf(() => cancelTransaction(ctx, transaction.id)),
        )
        const result = cancel(model, transaction, step.fault?.name)
        const prediction: Prediction =
          typeof result === 'string'
            ? { is: 'refusal', why: result }
            : { is: 'answer', view: actionView('cancel', result, transaction) }
        compareAnswers(answer, prediction)
      })
    case 'sync':
      return await onTransaction(story, world, step, async (transaction, ctx) => {
        const trouble = { fault: step.fault, isAsking: true }
        const answer = await world.withFault(trouble, () => answerOf(() => syncTransaction(ctx, transaction.id)))
        model.sync(transaction, step.fault?.name)
        compareAnswers(answer, { is: 'answer', view: viewOf(transaction) })
      })
    case 'buyer':
      return await press(story, world, step)
    case 'return':
      return await comeBack(story, world, step)
    case 'put':
      return await onTransaction(story, world, step, async (transaction, ctx) => {
        const change = { external_identifier: step.text }
        const answer = await answerOf(() => updateTransaction(ctx, transaction.id, change))
        transaction.externalIdentifier = step.text
        compareAnswers(answer, { is: 'answer', view: viewOf(transaction) })
      })
    case 'janitor':
      return await clean(story, world, step.fault)
    case 'advance':
      world.now += step.ms
      model.now += step.ms
      return
    case 'deliver':
      return await deliver(story, world)
  }
}

type Context = ReturnType<World['context']>

async function onTransaction(
  story: Story,
  world: World,
  { kind, on }: { kind: string; on: number },
  work: (transaction: Transaction, ctx: Context) => Promise<void>,
): Promise<void> {
  const transaction = story.transaction(on)
  if (transaction) await work(transaction, world.context(transaction.profile.account, `${kind}Transaction`))
}

type BuyerStep = Extract<Step, { kind: 'buyer' }>

const hasQuestion =
  ({ model }: Readonly<Story>, { isApt }: BuyerStep) =>
  (transaction: Transaction) => {
    const state = model.questionOf(transaction)?.state
    return isApt ? state === 'open' && isUndecided(transaction) : state !== undefined
  }

/** A buyer answers, also once more or too late, and does not come back. */
async function press(story: Story, world: World, step: BuyerStep): Promise<void> {
  const { model } = story
  const { on, decision } = step
  const transaction = story.transaction(on, hasQuestion(story, step))
  if (!transaction) return
  const { db, now } = world.context(transaction.profile.account, 'press')
  await answerApproval({ db, now }, await questionId(world, transaction.id), decision)
  story.ended(model.decide(transaction, decision) ? `buyer ${decision}` : 'buyer unheard')
}

const canComeBack = ({ approvalExpiresAt }: Transaction) => approvalExpiresAt !== undefined

/** A buyer is sent back, whether or not they have answered. */
async function comeBack(story: Story, world: World, { on, fault }: Extract<Step, { kind: 'return' }>): Promise<void> {
  const transaction = story.transaction(on, canComeBack)
  if (!transaction) return
  const ctx = world.context(transaction.profile.account, 'return')
  const id = await returnId(world, transaction.id)
  const address = await world.withFault({ fault, isAsking: true }, () => returnFromApproval(ctx, id))
  story.model.comeBack(transaction, fault?.name)
  story.ended(`return ${transaction.status}`)
  strictEqual(address, `${shop}?transaction_id=${transaction.id}&transaction_status=${transaction.status}`)
}

export async function clean({ model }: Story, world: World, fault?: Fault): Promise<void> {
  const never = new AbortController().signal
  await world.withFault({ fault, isAsking: true }, () => resolveDue(world.worker, never))
  model.janitor(fault?.name)
}

/** Calls that come after all. */
export async function deliver({ model }: Story, world: World): Promise<void> {
  for (const arrive of world.late.splice(0)) await arrive()
  for (const arrive of model.late.splice(0)) arrive()
}

type RequestStep = Extract<Step, { kind: 'create' | 'capture' | 'void' | 'refund' }>

async function request(story: Story, world: World, step: RequestStep): Promise<void> {
  const asked = requestOf(story, step)
  if (!asked) return
  if (asked.key) story.requests.push(asked)
  await ask(story, world, asked, step.fault)
}

function requestOf(story: Story, step: RequestStep): Request | undefined {
  const key = step.hasKey ? `key-${story.requests.length}` : undefined
  if (step.kind === 'create') {
    const { amount, intent, asyncCapture, card, canReturn } = step
    const [profile = profiles[0]] = profiles.slice(step.profile)
    const name = `payment-${story.commands}`
    return (
      profile && {
        kind: 'create',
        key,
        isPreferred: false,
        input: { name, profile, amount, intent, asyncCapture, card, canReturn },
      }
    )
  }
  const on = story.transaction(step.on, step.isApt ? apt[step.kind] : undefined)
  if (!on) return undefined
  if (step.kind === 'void') return { kind: 'void', key, isPreferred: step.isPreferred, on }
  if (step.kind === 'capture') {
    const { final, isPreferred } = step
    return { kind: 'capture', key, isPreferred, on, amount: captureAmount(on, step.amount), final }
  }
  const amount = step.isAll ? undefined : refundAmount(on, step.amount)
  return { kind: 'refund', key, isPreferred: false, on, amount, reason: undefined, isAll: step.isAll }
}

/** What a request is usually made for. */
const apt = {
  capture: ({ isCapturable, status }: Transaction) => isCapturable && status.endsWith('succeeded'),
  void: ({ status }: Transaction) => status === 'authorization_succeeded',
  refund: (transaction: Transaction) => leftToRefund(transaction) > 0,
}

/** At least 1: anything less is refused by the schema, before the operation. */
function captureAmount(transaction: Transaction, wanted: CaptureAmount): number | undefined {
  const left = transaction.authorized - transaction.captured
  const limit = captureLimit(transaction) - transaction.captured
  if (wanted === 'default') return undefined
  if (typeof wanted === 'number') return wanted <= limit ? wanted : Math.max(1, left)
  const relative = {
    one: 1,
    half: Math.ceil(left / 2),
    left,
    'more than left': left + 1,
    limit,
    'over limit': limit + 1,
  }
  return Math.max(1, relative[wanted])
}

function refundAmount(transaction: Transaction, wanted: RefundAmount): number | undefined {
  const left = leftToRefund(transaction)
  if (wanted === 'default') return undefined
  if (typeof wanted === 'number') return wanted <= left ? wanted : Math.max(1, left)
  return Math.max(1, { one: 1, half: Math.ceil(left / 2), left, 'too much': left + 1 }[wanted])
}

async function repeat(story: Story, world: World, { of, isOther }: Extract<Step, { kind: 'repeat' }>): Promise<void> {
  const known = story.requests[of % story.requests.length]
  if (known) await ask(story, world, isOther ? otherwise(known) : known, undefined)
}

/** Another request under the same key, where there can be one. */
function otherwise(request: Request): Request {
  switch (request.kind) {
    case 'create':
      return { ...request, input: { ...request.input, amount: 777 } }
    case 'capture':
      return { ...request, final: !request.final }
    case 'refund':
      return { ...request, reason: 'another' }
    case 'void':
      return request
  }
}

async function ask(story: Story, world: World, asked: Request, fault: Fault | undefined): Promise<void> {
  const before = story.model.transactions.at(-1)?.id
  const answer = await send(world, asked, fault)
  const newest = asked.kind === 'create' ? await newestId(world) : undefined
  const prediction = predict(story, asked, fault, newest === before ? undefined : newest)
  compareAnswers(answer, prediction)
  story.ended(`${asked.kind} ${prediction.is === 'answer' && prediction.replayOf ? 'replay' : prediction.is}`)
}

function compareAnswers(answer: Answer, prediction: Prediction): void {
  if (answer.is !== 'answer' || prediction.is !== 'answer') {
    deepStrictEqual(answer, prediction)
    return
  }
  const { view, replayOf: key } = prediction
  deepStrictEqual(pick(JSON.parse(answer.text), view), view)
  strictEqual(answer.isReplay, key !== undefined, 'whether the answer is a repeated one')
  if (!key?.answer) return
  if (key.answer.text !== undefined) strictEqual(answer.text, key.answer.text, 'the answer was another one before')
  key.answer.text = answer.text
}

/** What the other has, of the first. */
function pick(value: unknown, like: unknown): unknown {
  if (Array.isArray(value) && Array.isArray(like)) return value.map((item, index) => pick(item, like[index]))
  if (typeof value !== 'object' || typeof like !== 'object' || !value || !like) return value
  return Object.fromEntries(
    Object.entries(like).map(([name, part]) => [name, pick((value as Record<string, unknown>)[name], part)]),
  )
}

/** Long after: everything is known, and the books of both sides agree. */
export async function end(story: Story, world: World): Promise<void> {
  const days = 3 * 24 * 60 * 60 * 1000
  world.now += days
  story.model.now += days
  await clean(story, world)
  await deliver(story, world)
  deepStrictEqual(world.errors, [], 'the log has errors')
  const { transactions } = await compareSnapshots(world, story.model, story.keys)
  deepStrictEqual(transactions.flatMap(moneyProblems), [])
  deepStrictEqual(await repeatedEvents(world), [])
}
