import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { Ajv } from 'ajv'
import { expect, test } from 'vitest'
import { parse } from 'yaml'
import { settings } from '../../src/platform/settings.ts'

// What can be seen without Helm; `npm run proof:deploy` renders it and checks it against the schemas of Kubernetes.
const folder = join(import.meta.dirname, '../../deploy/chart')
const read = (file: string) => readFileSync(join(folder, file), 'utf8')
const values = parse(read('values.yaml')) as Record<string, unknown>
const templates = readdirSync(join(folder, 'templates'))
  .map((file) => read(`templates/${file}`))
  .join('\n')
const validate = new Ajv({ strict: false }).compile(JSON.parse(read('values.schema.json')) as object)

test('the values of the chart keep to their schema, which refuses what nobody reads', () => {
  validate(values)
  expect(validate.errors ?? []).toEqual([])
  expect(validate({ ...values, replicas: 3 })).toBe(false)
  expect(validate({ ...values, environment: 'prod' })).toBe(false)
})

test('the vault has its key from a secret or from a key service, and not from both or neither', () => {
  const withSecrets = (more: object) => validate({ ...values, secrets: { ...(values['secrets'] as object), ...more } })
  expect(withSecrets({ vaultKey: '', keyProvider: 'florin-key-service' })).toBe(true)
  expect(withSecrets({ keyProvider: 'florin-key-service' })).toBe(false)
  expect(withSecrets({ vaultKey: '' })).toBe(false)
})

test('every value that a template asks for is there, and every value is asked for', () => {
  const leaves = (value: unknown, path: string): string[] =>
    typeof value === 'object' && value !== null && !Array.isArray(value) && Object.keys(value).length > 0
      ? Object.entries(value).flatMap(([key, inner]) => leaves(inner, path === '' ? key : `${path}.${key}`))
      : [path]
  const known = leaves(values, '')
  const asked = [...templates.matchAll(/\.Values\.([\w.]+)/g)].map(([, path = '']) => path)
  expect(asked.filter((path) => !known.some((leaf) => leaf === path || leaf.startsWith(`${path}.`)))).toEqual([])
  // `index .Values $component` reads these of each process.
  const byComponent = /^(api|worker|vault)\.(replicas|poolSize|resources)/
  const unread = known.filter(
    (leaf) => !byComponent.test(leaf) && !asked.some((path) => leaf === path || leaf.startsWith(`${path}.`)),
  )
  expect(unread).toEqual([])
})

test('every setting that the chart gives to a process is one', () => {
  const known = new Set(Object.values(settings).flatMap(({ env, secret }) => (secret ? [env, `${env}_FILE`] : [env])))
  const given = [...templates.matchAll(/name: ((?:FLORIN|DATABASE|NATS)_\w+)/g)].map(([, name = '']) => name)
  expect(given.length).toBeGreaterThan(15)
  expect(given.filter((name) => !known.has(name))).toEqual([])
})

test('the chart is of the version of the package', () => {
  const { version } = JSON.parse(readFileSync(join(folder, '../../package.json'), 'utf8')) as { version: string }
  expect(parse(read('Chart.yaml'))).toMatchObject({ version, appVersion: version })
})
