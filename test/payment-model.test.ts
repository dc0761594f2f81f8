import { afterAll, beforeAll, expect, test } from 'vitest'
import { settle } from '../src/areas/transactions/operations/authorize.ts'
import { createTransaction } from '../src/areas/transactions/operations/create.ts'
import { settlementOf } from '../src/areas/transactions/operations/settlement.ts'
import { findOpenAttempts } from '../src/areas/transactions/store/attempts.ts'
import { findTransaction } from '../src/areas/transactions/store/transactions.ts'
import type { Context } from '../src/context.ts'
import { useDatabase } from './database.ts'
import { approved } from './payment-model/planted.ts'
import { shop } from './payment-model/requests.ts'
import { playSteps, runModel } from './payment-model/run.ts'
import type { CreateStep, Step } from './payment-model/steps.ts'
import { createWorld, type World } from './payment-model/world.ts'
import { newId } from '../src/ids.ts'

const sequences = Number(process.env['MODEL_SEQUENCES'] ?? 100)
const seed = Number(process.env['MODEL_SEED'] ?? Math.floor(Math.random() * 2 ** 31))
const databases = [useDatabase(), useDatabase()]
const worlds: World[] = []

beforeAll(async () => {
  for (const database of databases) {
    worlds.push(
      await createWorld({
        apiUrl: database.url('florin_api'),
        workerUrl: database.url('florin_worker'),
        adminUrl: database.url(),
      }),
    )
  }
})
afterAll(() => Promise.all(worlds.map((world) => world.close())))

test(`payments do what the model says, whatever crashes or gets lost (seed ${seed})`, {
  timeout: 600_000,
}, async () => {
  const results = await Promise.all(
    worlds.map((world, lane) =>
      runModel(world, { sequences: Math.ceil((sequences - lane) / worlds.length), seed: seed + lane }),
    ),
  )
  expect(results.flatMap(({ difference }) => difference ?? []).join('\n\n')).toBe('')
  // The rarer endings are left to the long form: chance must not make this red.
  const endings = results.flatMap((result) => Object.keys(result.endings))
  const usual = ['create', 'capture', 'void', 'refund'].flatMap((kind) => [`${kind} answer`, `${kind} refusal`])
  expect(endings).toEqual(expect.arrayContaining([...usual, 'create replay', 'create crash', 'buyer approved']))
})

const card = { method: 'card' as const, number: '4111111111111111', expiration_date: '12/49' }
const payment = { amount: 1000, currency: 'EUR' }
/** How an outcome is settled that has nothing special. */
const plainly = ({ now }: Context) => ({ next: undefined, storedMethodId: null, now: now(), newId, key: null })

const create: CreateStep = {
  kind: 'create',
  profile: 0,
  amount: 1000,
  intent: 'authorize',
  asyncCapture: false,
  card: 'plain',
  canReturn: false,
  hasKey: false,
  fault: undefined,
}
const plain = { on: 0, isApt: false, isPreferred: false, hasKey: false, fault: undefined }
const capture: Step = { kind: 'capture', amount: 'default', final: false, ...plain }
const overCapture: Step = { ...capture, amount: 'limit' }
const late: CreateStep = { ...create, intent: 'capture', asyncCapture: true }
/** At a service that asks for a challenge, and at one whose provider waits longer than it is told to. */
const asked: CreateStep = { ...create, profile: 4, canReturn: true }
const waiting: CreateStep = { ...asked, profile: 5 }
const advance = (seconds: number): Step => ({ kind: 'advance', ms: seconds * 1_000 })
const again: Step = { kind: 'repeat', of: 0, isOther: false }
const approve: Step = { kind: 'buyer', on: 0, isApt: false, decision: 'approved' }
const comeBack: Step = { kind: 'return', on: 0, fault: undefined }
const clean: Step = { kind: 'janitor', fault: undefined }
const uncertain: Step = { kind: 'janitor', fault: { name: 'cancel unheard', nth: 0 } }
const unheard: CreateStep = {
  ...asked,
  card: 'timeoutAfter',
  hasKey: true,
  fault: { name: 'sync after answer', nth: 0 },
}
const lostCancel: Step = { kind: 'cancel', on: 0, fault: { name: 'cancel unheard', nth: 0 } }

test.each<[what: string, ...steps: [CreateStep, ...Step[]]]>([
  ['a capture of nothing that is left', create, capture, capture],
  ['a capture of less than nothing that is left', { ...create, profile: 1 }, overCapture, capture],
  ['a later charge that fails', { ...late, amount: 500001 }],
  ['a later charge that is declined', { ...late, amount: 500002 }],
  ['a later charge of a card that is declined later', { ...late, amount: 200011, card: 'pending' }],
  ['a cancel whose answer is lost', { ...create, card: 'pending' }, lostCancel],
  [
    'a buyer who is asked before the request has heard so',
    unheard,
    again,
    advance(120),
    again,
    approve,
    comeBack,
    again,
  ],
  ['a buyer who approves when the time is over, and before anybody says so', waiting, advance(1_900), approve, clean],
  ['a buyer who approves what was taken back unheard', waiting, advance(1_900), uncertain, approve, comeBack],
])('what the model has found stays found: %s', async (_what, ...steps) => {
  const [world] = worlds
  if (!world) throw new Error('no world')
  await playSteps(world, steps)
})

test('what the races have found stays found: a payment whose buyer is asked meanwhile ends with its call', async () => {
  const [world] = worlds
  if (!world) throw new Error('no world')
  const ctx = world.context('asking', 'createTransaction')
  world.now = Date.now()
  const { text } = await createTransaction(
    ctx,
    { ...payment, payment_method: { ...card, redirect_url: shop } },
    undefined,
  )
  const { id } = JSON.parse(text) as { id: string }
  const row = await findTransaction(ctx.db, ctx.accounts, id)
  const [attempt] = await findOpenAttempts(ctx.db, ctx.accounts, id)
  if (!row || !attempt) throw new Error('the payment does not wait')
  // Whoever settles has read the transaction before its own request had said that a buyer is asked.
  const before = { ...row, status: 'processing' } as const
  await settle(ctx, settlementOf({ ...plainly(ctx), row: before, attempt, outcome: { result: 'expired' } }))

  const found = await findTransaction(ctx.db, ctx.accounts, id)
  expect([found?.status, found?.error_code]).toEqual(['authorization_failed', 'incomplete_buyer_approval'])
})

test('what the races have found stays found: of two outcomes that arrive together one is written', async () => {
  const [world] = worlds
  if (!world) throw new Error('no world')
  const ctx = world.context('single', 'createTransaction')
  world.now = Date.now()
  const { text } = await createTransaction(
    ctx,
    { ...payment, intent: 'capture', payment_method: { ...card, number: '4000000000002008' } },
    undefined,
  )
  const { id } = JSON.parse(text) as { id: string }
  const row = await findTransaction(ctx.db, ctx.accounts, id)
  const [attempt] = await findOpenAttempts(ctx.db, ctx.accounts, id)
  if (!row || !attempt) throw new Error('the payment is not pending')
  const common = { ...plainly(ctx), row, attempt }
  const outcomes = [approved, approved, { result: 'canceled' }, { result: 'canceled' }] as const
  const settled = await Promise.all(outcomes.map((outcome) => settle(ctx, settlementOf({ ...common, outcome }))))

  const written = settled.filter((after) => after !== undefined)
  expect(written).toHaveLength(1)
  const found = await findTransaction(ctx.db, ctx.accounts, id)
  expect(found).toMatchObject({ status: written[0]?.status, captured_amount: written[0]?.captured_amount, version: 3 })
  const { rows } = await world.admin.query('select from events where resource_id = $1 and sequence = 3', [id])
  expect(rows).toHaveLength(1)
})
