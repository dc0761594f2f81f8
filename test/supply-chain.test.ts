import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, test } from 'vitest'

interface LockEntry {
  dev?: boolean
  optional?: boolean
  hasInstallScript?: boolean
  license?: string
  resolved?: string
  link?: boolean
}

const root = join(import.meta.dirname, '..')
const lock = JSON.parse(readFileSync(join(root, 'package-lock.json'), 'utf8')) as {
  packages: Record<string, LockEntry>
}
const production = Object.entries(lock.packages).filter(
  ([path, entry]) => path.startsWith('node_modules/') && !entry.dev && !entry.link,
)

test('production needs at most 100 packages', () => {
  expect(production.length).toBeGreaterThan(10)
  expect(production.length).toBeLessThanOrEqual(100)
})

test('no production package has an install script, and npm runs none of any other', () => {
  expect(production.filter(([, { hasInstallScript }]) => hasInstallScript).map(([path]) => path)).toEqual([])
  expect(readFileSync(join(root, '.npmrc'), 'utf8')).toMatch(/^ignore-scripts=true$/m)
})

test('production packages have licences that allow everything we do', () => {
  const fine = /^\(?(MIT|ISC|Apache-2\.0|BSD-[23]-Clause|0BSD|BlueOak-1\.0\.0|Unlicense|CC0-1\.0)( OR .*)?\)?$/
  expect(
    production
      .filter(([, { license }]) => !fine.test(license ?? ''))
      .map(([path, { license }]) => `${path}: ${license}`),
  ).toEqual([])
})

test('the lock file names no registry', () => {
  expect(Object.values(lock.packages).filter(({ resolved }) => resolved?.includes('://'))).toEqual([])
})

test('a new production dependency has its reasons written down', () => {
  const { dependencies } = JSON.parse(readFileSync(join(root, 'package.json'), 'utf8')) as {
    dependencies: Record<string, string>
  }
  const decision = readFileSync(join(root, 'docs/decisions/0002-production-dependencies.md'), 'utf8')
  expect(Object.keys(dependencies).filter((name) => !decision.includes(`\`${name}\``))).toEqual([])
  expect(Object.values(dependencies).filter((version) => !/^\d+\.\d+\.\d+$/.test(version))).toEqual([])
})
