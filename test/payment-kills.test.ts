import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { useDatabase } from './database.ts'
import type { PlantedBug } from './kill-hook.ts'
import { knownPoints, targets } from './kills/cases.ts'
import { type KillOptions, runKills } from './kills/run.ts'
import { openStage, type Stage } from './kills/stage.ts'

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
  expect(knownPoints.toSorted()).toEqual(points.toSorted())
})

test('an api that dies at any step leaves nothing unknown, nothing charged twice, no answer lost', {
  timeout: 240_000,
}, async () => {
  const { details, ...report } = await runKills(stage, { account: 'kills', targets, kills: 3, together: 12 })
  expect(details).toEqual([])
  expect(report).toMatchObject({ points: 32, kills: 96, processes: 16, passed: true })
})

const at = (name: string) => targets.filter((target) => target.name === name)

describe('a mistake is noticed:', () => {
  const run = async (account: string, options: Partial<KillOptions>) =>
    runKills(stage, { account, targets: at('authorize: provider answered'), kills: 6, together: 6, ...options })
  const runPlanted = async (account: string, plant: PlantedBug) => run(account, { apis: await stage.withPlant(plant) })

  test('a janitor that never asks', async () => {
    const report = await run('sleeping', { janitor: 'sleeps' })
    expect(report.unknown_left).toBeGreaterThan(0)
    expect(report.passed).toBe(false)
  })

  test('a provider that denies what it did', async () => {
    const report = await run('denied', { janitor: 'is told that nothing arrived' })
    expect(report.books_differ).toBeGreaterThan(0)
    expect(report.passed).toBe(false)
  })

  test('a sweep that does not come', async () => {
    const report = await run('unswept', { targets: at('create: number stored'), sweeps: false })
    expect(report).toMatchObject({ unknown_left: 0, books_differ: 0, passed: false })
    expect(report.orphan_numbers).toBeGreaterThan(0)
  })

  test('an api that calls the provider by a name it has not written down', async () => {
    const report = await runPlanted('unnamed', {
      file: 'transactions/operations/authorize.ts',
      from: 'reference: attempt.id',
      to: 'reference: `${attempt.id}-x`',
    })
    expect(report.books_differ).toBeGreaterThan(0)
    expect(report.passed).toBe(false)
  })

  test('an api that forgets the key of a request', async () => {
    const report = await runPlanted('keyless', {
      file: 'transactions/operations/create.ts',
      from: 'idempotencyKey === undefined ? null :',
      to: 'true ? null :',
    })
    expect(report.double_charges).toBeGreaterThan(0)
    expect(report.lost_answers).toBeGreaterThan(0)
    expect(report.passed).toBe(false)
  })
})
