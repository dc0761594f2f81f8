import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { useDatabase } from './database.ts'
import type { PlantedBug } from './kill-hook.ts'
import { giftCardTargets, knownPoints, type Operation, plainTargets, type Target, targets } from './kills/cases.ts'
import { janitorDeaths } from './kills/gift-card-cases.ts'
import { type KillOptions, runKills } from './kills/run.ts'
import { openStage, type Stage } from './kills/stage.ts'
import { dispatchPoints, lanePoints } from './webhook-kills/points.ts'
import { committedPoint, uncommittedPoints } from './webhook-replays/points.ts'

/** The short form of `npm run proof:payment-kills`. */
const database = useDatabase()
let stage: Stage

beforeAll(async () => {
  stage = await openStage((role) => database.url(role))
}, 120_000)
afterAll(() => stage.close())

test('every point in the code is one that a process is killed at', () => {
  const root = join(import.meta.dirname, '../src')
  const files = readdirSync(root, { recursive: true, encoding: 'utf8' }).filter((file) => file.endsWith('.ts'))
  const points = files.flatMap((file) =>
    [...readFileSync(join(root, file), 'utf8').matchAll(/failpoint\('([^']+)'\)/g)].map(([, name = '']) => name),
  )
  const known = [...knownPoints, ...dispatchPoints, ...lanePoints, ...uncommittedPoints, committedPoint]
  expect(known.toSorted()).toEqual(points.toSorted())
})

/** Far beyond what it needs: many processes start, and how busy the machine is must not decide. */
const timeout = 900_000

/** Every second one, by chance these or the others: the long form has all of them, many times. */
const offset = Math.random() < 0.5 ? 0 : 1
const halfOf = <Item>(items: readonly Item[]) => items.filter((_item, index) => index % 2 === offset)

test('an api that dies at any step leaves nothing unknown, nothing charged twice, no answer lost', {
  timeout,
}, async () => {
  const { details, ...report } = await runKills(stage, {
    account: 'kills',
    targets: plainTargets,
    kills: 1,
    together: 12,
  })
  expect(details).toEqual([])
  expect(report).toMatchObject({ points: 32, kills: 32, passed: true })
})

test('an api that dies at any step of a payment with gift cards leaves nothing half-paid either', {
  timeout,
}, async () => {
  const { details, ...report } = await runKills(stage, {
    account: 'gift-card-kills',
    targets: halfOf(giftCardTargets),
    kills: 1,
    together: 24,
  })
  expect(details).toEqual([])
  expect(report.points).toBeGreaterThan(30)
  expect(report).toMatchObject({ kills: report.points, passed: true })
})

test('a janitor that dies over a payment with gift cards leaves no more behind', { timeout }, async () => {
  const chosen = janitorDeaths.map((one) => ({ ...one, deaths: halfOf(one.deaths) }))
  const janitors = chosen.reduce((sum, { deaths }) => sum + deaths.length, 0)
  const { details, ...report } = await runKills(stage, {
    account: 'janitors',
    targets: [],
    janitorDeaths: chosen,
    kills: 0,
    together: 0,
  })
  expect(details).toEqual([])
  expect(report).toMatchObject({ janitors_killed: janitors, passed: true })
})

const at = (name: string) => targets.filter((target) => target.name === name)

describe('a mistake is noticed:', () => {
  const run = async (account: string, options: Partial<KillOptions>) =>
    runKills(stage, { account, targets: at('authorize: provider answered'), kills: 3, together: 3, ...options })
  const runPlanted = async (account: string, bugs: readonly PlantedBug[], options: Partial<KillOptions> = {}) =>
    run(account, { apis: await stage.withPlant(bugs), ...options })

  test('a janitor that never asks', async () => {
    const report = await run('sleeping', { janitor: 'sleeps' })
    expect(report.unknown_left).toBeGreaterThan(0)
    expect(report.passed).toBe(false)
  })

  test('a provider that denies what it did', async () => {
    const report = await run('denied', {
      janitor: [
        { file: 'mock-card/connector.ts', from: `if (!found || found.kind === 'never_arrived') return`, to: 'return' },
      ],
    })
    expect(report.books_differ).toBeGreaterThan(0)
    expect(report.passed).toBe(false)
  })

  test('a sweep that does not come', async () => {
    const report = await run('unswept', { targets: at('create: number stored'), sweeps: false })
    expect(report).toMatchObject({ unknown_left: 0, books_differ: 0, passed: false })
    expect(report.orphan_numbers).toBeGreaterThan(0)
  })

  test('an api that calls the provider by a name it has not written down', async () => {
    const report = await runPlanted('unnamed', [
      {
        file: 'transactions/operations/authorize.ts',
        from: 'reference: attempt.id',
        to: 'reference: `${attempt.id}-x`',
      },
    ])
    expect(report.books_differ).toBeGreaterThan(0)
    expect(report.passed).toBe(false)
  })

  test('an api that forgets the key of a request', async () => {
    const report = await runPlanted('keyless', [
      {
        file: 'transactions/operations/create.ts',
        from: 'idempotencyKey === undefined\n',
        to: 'true\n',
      },
    ])
    expect(report.double_charges).toBeGreaterThan(0)
    expect(report.lost_answers).toBeGreaterThan(0)
    expect(report.passed).toBe(false)
  })

  /** Only this operation, at the points whose name this is. */
  const only = (operation: Operation, point: string): readonly Target[] => [{ name: point, at: { [operation]: point } }]

  test('a payment whose gift cards are to be charged, and the promise of it comes in a commit of its own', async () => {
    const report = await runPlanted(
      'unpromised',
      [
        {
          file: 'transactions/store/settle.ts',
          from: 'where next_attempt_id is not null',
          to: "where next_attempt_id is not null and next_attempt_action <> 'redeem'",
        },
        {
          file: 'redemptions/operations/redeem.ts',
          from: "await failpoint('redeem: begun')",
          to: `await failpoint('redeem: begun')
            const { insertAttempt } = await import('../../store/attempts.ts')
            const late = { merchant_account_id: row.merchant_account_id, transaction_id: row.id, id: attemptId, action: 'redeem', subject_id: null,
              payment_service_id: null, amount: 0, idempotency_key: null, next_check_at: ctx.now(), created_at: ctx.now() }
            await transact({ ...ctx, accounts }, (ctx) => insertAttempt(ctx.db, late))`,
        },
      ],
      { targets: only('pay mixed', 'authorize: outcome recorded') },
    )
    expect(report.unknown_left).toBeGreaterThan(0)
    expect(report.half_paid).toBeGreaterThan(0)
    expect(report.passed).toBe(false)
  })

  test('a janitor that ends the charging of gift cards and gives nothing back', async () => {
    const report = await run('unreturned', {
      targets: only('pay mixed', 'redeem: providers answered'),
      janitor: [
        {
          file: 'redemptions/operations/redeem.ts',
          from: 'const step = await goOn(ctx, end, next, { change: { error_code: errorCode } })',
          to: "const { finishUnpaid } = await import('./step.ts'); const step = await finishUnpaid(ctx, end, { key: null, storedMethodId: null })",
        },
      ],
    })
    expect(report.half_paid).toBeGreaterThan(0)
    expect(report.books_differ).toBeGreaterThan(0)
    expect(report.passed).toBe(false)
  })

  test('a reversal that passes over gift cards of which nobody knows whether they paid', async () => {
    const bugs = [
      {
        file: 'redemptions/operations/reverse.ts',
        from: "(status === 'created' || status === 'succeeded')",
        to: "status === 'succeeded'",
      },
    ]
    const targets = only('pay with gift cards', 'redeem: providers answered')
    const report = await runPlanted('unreversed', bugs, { targets, janitor: bugs })
    expect(report.half_paid).toBeGreaterThan(0)
    expect(report.passed).toBe(false)
  })
})
