import { execFile } from 'node:child_process'
import { join } from 'node:path'
import pg from 'pg'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { useApi } from './api.ts'
import { type Planted, planted } from './payment-model/planted.ts'
import { type Arena, kindNames, runRound, serviceBody } from './payment-races.ts'

test('proof:payment-races: one round of each kind, twenty at once', async () => {
  const { stdout, stderr } = await new Promise<{ stdout: string; stderr: string }>((resolve) => {
    const args = ['bench/payment-races.ts', '--rounds', String(kindNames.length), '--wide', '20']
    const cwd = join(import.meta.dirname, '..')
    execFile(process.execPath, args, { cwd }, (_error, stdout, stderr) => resolve({ stdout, stderr }))
  })
  const report = JSON.parse(stdout.trim().split('\n').at(-1) || '{}') as Record<string, unknown>
  expect(report, stderr).toMatchObject({
    proof: 'payment-races',
    rounds: kindNames.length,
    violations: 0,
    passed: true,
  })
})

/** Bugs on purpose; the sandbox's own guards go too where they would hide one. */
const cases: [kind: string, plants: string[], finds: RegExp][] = [
  [
    'refunds',
    ['a refund of more than was captured', 'a provider that gives back anything'],
    /more is refunded than captured/,
  ],
  ['capture and void', ['a capture and a void of the same money'], /requests succeeded, not 1/],
  // Either guard alone holds.
  [
    'captures of everything',
    ['a capture and a void of the same money', 'a capture of more than is allowed'],
    /requests succeeded, not 1/,
  ],
  ['one key, payments', ['a key that pays twice'], /different answers[^]*transactions instead of one/],
]
const generousProvider: Planted = {
  name: 'a provider that gives back anything',
  dropConstraints: [['sandbox_card_payments', 'sandbox_card_payments_refunded_fits']],
  rewrites: [[/payment\.refunded \+ asked\.amount <= payment\.captured/, 'true']],
}

describe.each(cases)('the races find a planted bug: %s', (kind, plants, finds) => {
  const bugs = [...planted, generousProvider].filter(({ name }) => plants.includes(name))
  const rewrite = (text: string) =>
    bugs
      .flatMap(({ rewrites = [] }) => rewrites)
      .reduce((changed, [search, replacement]) => changed.replace(search, replacement), text)
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
    const send: Arena['send'] = (method, path, { body, key } = {}) =>
      api.request(method, path, { ...(body && { body }), ...(key && { headers: { 'idempotency-key': key } }) })
    await send('POST', '/payment-services', { body: serviceBody })
    const arena: Arena = { send, query: api.database.query, wide: 20, allowance: 0 }
    const violations: string[] = []
    for (let round = 0; round < 10 && violations.length === 0; round += 1) {
      violations.push(...(await runRound(arena, kind)).violations)
    }
    expect(violations.join('\n')).toMatch(finds)
  })
})
