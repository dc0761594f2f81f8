import { existsSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { readUnit } from '../runbooks/units.ts'
import { wrongSettings } from './wrong-settings.ts'

const root = join(import.meta.dirname, '../..')
const processes = ['migrate', 'vault', 'api', 'worker'] as const
const own = new Set(['NODE_ENV', 'PATH'])

test.each(processes)('the unit of %s names settings of its process only, and all that it cannot do without', (name) => {
  const unit = readUnit(`florin-${name}`)
  const given = Object.keys(unit.environment).filter((variable) => !own.has(variable))
  expect(wrongSettings(name, given)).toEqual([])
  expect(existsSync(join(root, unit.command.at(-1) ?? ''))).toBe(true)
})

test.each(processes)('the secrets of %s come from files of its own, as credentials', (name) => {
  const { environment, credentials } = readUnit(`florin-${name}`)
  const used = Object.values(environment).filter((value) => value.startsWith('%d/'))
  expect(new Set(used)).toEqual(new Set(Object.keys(credentials).map((credential) => `%d/${credential}`)))
  for (const path of Object.values(credentials)) expect(path).toMatch(new RegExp(`^/etc/florin/${name}/`))
})

test.each(processes)('%s has a user of its own and no way to get more', (name) => {
  const { entries } = readUnit(`florin-${name}`)
  const values = (key: string) => entries.filter(([found]) => found === key).map(([, value]) => value)
  expect(values('User')).toEqual([`florin-${name}`])
  expect(values('Group')).toEqual(name === 'migrate' ? [] : ['florin'])
  expect(values('NoNewPrivileges')).toEqual(['yes'])
  expect(values('CapabilityBoundingSet')).toEqual([''])
  expect(values('ProtectSystem')).toEqual(['strict'])
  // V8 would not start.
  expect(values('MemoryDenyWriteExecute')).toEqual([])
})

test('a process that ends is started again for ever', () => {
  for (const name of processes.filter((process) => process !== 'migrate')) {
    const { entries } = readUnit(`florin-${name}`)
    expect(entries.filter(([key]) => /^(Restart|StartLimitIntervalSec)$/.test(key))).toEqual([
      ['StartLimitIntervalSec', '0'],
      ['Restart', 'always'],
    ])
  }
})

test('everything waits longer for an end than a process takes at most', () => {
  const { entries, environment } = readUnit('florin-api')
  const patience = Number(entries.find(([key]) => key === 'TimeoutStopSec')?.[1])
  expect(patience * 1000).toBeGreaterThan(Number(environment['FLORIN_DRAIN_DELAY_MS']) + 25_000)
})

test('every user of a unit is made', () => {
  const made = readFileSync(join(root, 'deploy/systemd/florin.sysusers.conf'), 'utf8')
  for (const name of processes) expect(made).toMatch(new RegExp(`^u florin-${name} `, 'm'))
})
