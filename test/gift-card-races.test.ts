import { execFile } from 'node:child_process'
import { join } from 'node:path'
import pg from 'pg'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { useApi } from './api.ts'
import { type GiftCardArena, raceKinds, refundRaceKinds, runGiftCardRound, serveRaces } from './gift-card-races.ts'
import { type Planted, planted } from './payment-model/planted.ts'

test('proof:gift-card-races: one round of each kind, twenty at once on three apis', async () => {
  const { stdout, stderr } = await new Promise<{ stdout: string; stderr: string }>((resolve) => {
    const count = ['--rounds', String(raceKinds.length), '--refunds', String(refundRaceKinds.length)]
    const args = ['bench/gift-card-races.ts', ...count, '--wide', '20']
    const cwd = join(import.meta.dirname, '..')
    execFile(process.execPath, args, { cwd }, (_error, stdout, stderr) => resolve({ stdout, stderr }))
  })
  const report = JSON.parse(stdout.trim().split('\n').at(-1) || '{}') as Record<string, unknown>
  expect(report, stderr).toMatchObject({
    proof: 'gift-card-races',
    rounds: raceKinds.length,
    violations: 0,
    differences: 0,
    passed: true,
  })
})

const generousProvider: Planted = {
  name: 'a provider that looks at no balance',
  dropConstraints: [['sandbox_gift_cards', 'sandbox_gift_cards_balance_check']],
  rewrites: [[/card\.balance < \$\d+::bigint/, '($&) is null']],
}
const refundsAnything = planted.filter(({ name }) => name === 'a refund of more than was captured')

/** Bugs on purpose. */
const cases: [kind: string, bugs: readonly Planted[], finds: RegExp][] = [
  ['alone', [generousProvider], /payments succeeded, not 1/],
  ['mixed', [generousProvider], /payments succeeded, not 1/],
  ['refunds, alone', refundsAnything, /refunds were begun, not 2/],
]

describe.each(cases)('the races find a planted bug: %s', (kind, bugs, finds) => {
  const met = new Set<RegExp>()
  const rewrites = bugs.flatMap(({ rewrites = [] }) => rewrites)
  const rewrite = (text: string) =>
    rewrites.reduce((changed, [search, replacement]) => {
      if (search.test(changed)) met.add(search)
      return changed.replace(search, replacement)
    }, text)
  // In place before the api connects, and out again afterwards.
  const query = pg.Client.prototype.query as (...args: unknown[]) => unknown
  beforeAll(() => {
    Object.assign(pg.Client.prototype, {
      query(this: pg.Client, asked: unknown, ...rest: unknown[]) {
        const isConfig = typeof asked === 'object' && asked !== null && 'text' in asked
        const changed = isConfig ? { ...asked, text: rewrite(String(asked.text)) } : asked
        return query.call(this, typeof changed === 'string' ? rewrite(changed) : changed, ...rest)
      },
    })
  })
  afterAll(() => void Object.assign(pg.Client.prototype, { query }))
  const api = useApi()

  test('within ten rounds', async () => {
    for (const [table, constraint] of bugs.flatMap(({ dropConstraints = [] }) => dropConstraints)) {
      await api.database.query(`alter table ${table} drop constraint ${constraint}`)
    }
    const send: GiftCardArena['send'] = (method, path, { body, key } = {}) =>
      api.request(method, path, { ...(body && { body }), ...(key && { headers: { 'idempotency-key': key } }) })
    await serveRaces(send)
    const arena: GiftCardArena = { send, query: api.database.query, wide: 20 }
    const violations: string[] = []
    for (let round = 0; round < 10 && violations.length === 0; round += 1) {
      violations.push(...(await runGiftCardRound(arena, kind)).violations)
    }
    expect(violations.join('\n')).toMatch(finds)
    expect(met.size).toBe(rewrites.length)
  })
})
