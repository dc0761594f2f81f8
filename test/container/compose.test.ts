import { existsSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { Ajv2020 } from 'ajv/dist/2020.js'
import { expect, test } from 'vitest'
import { parse } from 'yaml'
import { wrongSettings } from '../deploy/wrong-settings.ts'
import { quietLog } from '../../src/cli/doctor/database.ts'
import { readCompose } from './compose.ts'

const folder = join(import.meta.dirname, '../../deploy')
const compose = readCompose()
const processes = ['migrate', 'vault', 'api', 'worker'] as const

test('compose.yaml keeps to the schema of the Compose Specification', () => {
  const schema = JSON.parse(readFileSync(join(import.meta.dirname, 'compose-spec.json'), 'utf8')) as object
  const validate = new Ajv2020({ strict: false, validateFormats: false }).compile(schema)
  const file = parse(readFileSync(join(folder, 'compose.yaml'), 'utf8'), { merge: true }) as object
  validate(file)
  expect(validate.errors ?? []).toEqual([])
  expect(validate({ ...file, services: { api: { portz: [] } } })).toBe(false)
})

test('every service names settings of its process only, and all that it cannot do without', () => {
  for (const name of processes) {
    expect(wrongSettings(name, Object.keys(compose.services[name]?.environment ?? {}))).toEqual([])
  }
  expect(wrongSettings('migrate', ['FLORIN_PORT'])).toEqual([
    'migrate does not read FLORIN_PORT',
    'migrate needs DATABASE_URL',
  ])
})

test('processes of Florin cannot write, have no capability and get no new one; the api alone is published', () => {
  for (const name of processes) {
    expect(compose.services[name]).toMatchObject({
      read_only: true,
      cap_drop: ['ALL'],
      security_opt: ['no-new-privileges:true'],
    })
  }
  const published = Object.entries(compose.services).filter(([, { ports }]) => ports !== undefined)
  expect(published.map(([name]) => name)).toEqual(['api'])
  expect(compose.networks['database']).toEqual({ internal: true })
  for (const name of ['postgres', 'vault', 'migrate', 'nats'])
    expect(compose.services[name]?.networks).toEqual(['database'])
})

test('nobody starts before the database is migrated and the vault guards, and each sees its own secrets only', () => {
  for (const name of ['vault', 'api', 'worker']) {
    expect(compose.services[name]?.depends_on?.['migrate']).toEqual({ condition: 'service_completed_successfully' })
  }
  for (const name of ['api', 'worker']) {
    expect(compose.services[name]?.depends_on?.['vault']).toEqual({ condition: 'service_healthy' })
  }
  const holders = Object.entries(compose.services).filter(([, { secrets = [] }]) => secrets.includes('vault_key'))
  expect(holders.map(([name]) => name)).toEqual(['vault'])
  for (const name of processes) {
    const { secrets = [], environment = {} } = compose.services[name] ?? {}
    const files = Object.values(environment).filter((value) => value?.startsWith('/run/secrets/'))
    expect(new Set(files)).toEqual(new Set(secrets.map((secret) => `/run/secrets/${secret}`)))
    for (const secret of secrets) expect(compose.secrets[secret]?.file).toBe(`./secrets/${secret}`)
  }
})

test('whatever is mounted from this repository is there, and NATS is asked for by its profile', () => {
  const mounted = Object.values(compose.services).flatMap(({ volumes = [] }) =>
    volumes.map((volume) => volume.split(':')[0] ?? ''),
  )
  expect(mounted.filter((path) => path.startsWith('.') && !existsSync(join(folder, path)))).toEqual([])
  expect(mounted.filter((path) => !path.startsWith('.') && !(path in compose.volumes))).toEqual([])
  const optional = Object.entries(compose.services).filter(([, { profiles }]) => profiles !== undefined)
  expect(optional.map(([name]) => name)).toEqual(['nats'])
})

test('no log grows without end, and that of PostgreSQL quotes neither rows nor parameters', () => {
  for (const { logging } of Object.values(compose.services)) {
    expect(logging?.options).toEqual({ 'max-size': '20m', 'max-file': '5' })
  }
  expect(compose.services['postgres']?.command).toEqual(
    expect.arrayContaining(Object.entries(quietLog).map((pair) => pair.join('='))),
  )
})
