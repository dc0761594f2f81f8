import { readdirSync, readFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { expect, test } from 'vitest'

/** Who may import whom. Everything points down: http → operations → store, and events leave by the outbox. */
const mayImport: Record<string, readonly string[]> = {
  main: [
    'main',
    'cli',
    'http',
    'jobs',
    'operations',
    'connectors',
    'ports',
    'events',
    'event-stream',
    'vault',
    'vault-client',
    'webhooks',
    'platform',
    'kernel',
  ],
  cli: [
    'cli',
    'main',
    'jobs',
    'operations',
    'connectors',
    'ports',
    'cards',
    'events',
    'webhooks',
    'vault-client',
    'platform',
    'kernel',
  ],
  webhooks: ['webhooks', 'operations', 'events', 'kernel', 'platform'],
  'event-stream': ['event-stream', 'jobs', 'events', 'kernel', 'platform'],
  http: ['http', 'routes', 'events', 'ports', 'vault-client', 'kernel', 'platform'],
  routes: ['http', 'operations', 'schema'],
  jobs: ['jobs', 'operations', 'ports', 'cards', 'events', 'idempotency', 'vault-client', 'kernel', 'platform'],
  operations: [
    'operations',
    'rules',
    'store',
    'schema',
    'ports',
    'cards',
    'events',
    'idempotency',
    'vault-client',
    'kernel',
    'platform',
  ],
  store: ['store', 'rules', 'schema', 'idempotency', 'kernel', 'platform'],
  schema: ['schema', 'rules', 'ports', 'events', 'kernel'],
  rules: ['rules', 'ports', 'kernel'],
  connectors: ['connectors', 'ports', 'cards', 'kernel', 'platform'],
  ports: ['ports'],
  cards: ['cards', 'kernel', 'platform'],
  events: ['events', 'schema', 'kernel', 'platform'],
  idempotency: ['idempotency', 'kernel', 'platform'],
  vault: ['vault', 'vault-client', 'platform'],
  'vault-client': ['vault-client', 'platform'],
  kernel: ['kernel', 'ports', 'vault-client', 'platform'],
  platform: ['platform'],
}

/** Packages and globals that have one home. */
const homes: [what: RegExp, where: RegExp, why: string][] = [
  [/from 'fastify'/, /^src\/http\//, 'only the edge knows the framework'],
  [/from '@nats-io\//, /^src\/platform\/nats\.ts$/, 'NATS goes through platform/nats.ts'],
  [/'@florin\/sdk/, /^src\/cli\//, 'only the command line is a client of the API'],
  [/from 'pg'/, /^src\/(platform|cli)\//, 'SQL goes through platform/postgres.ts'],
  [
    /process\.env|globalThis\.process\.env/,
    /^src\/(platform\/config\.ts|cli\/)/,
    'settings are read once and passed on',
  ],
  [/\bconsole\./, /^$/, 'use the log'],
]

const drawers = /(^|\/)(utils?|helpers?|common|shared|lib|misc)(\/|\.ts$)|(^|\/)index\.ts$/
const longest = 300

interface Source {
  path: string
  text: string
}

const root = join(import.meta.dirname, '..')
const sources: Source[] = readdirSync(join(root, 'src'), { recursive: true, encoding: 'utf8' })
  .filter((file) => file.endsWith('.ts') && !file.endsWith('.test.ts'))
  .map((file) => ({ path: `src/${file}`, text: readFileSync(join(root, 'src', file), 'utf8') }))

const areaOf = (path: string) => /^src\/areas\/([^/]+)\//.exec(path)?.[1]

/** The vault's door: what the other processes may know of it. */
const vaultClient = ['client', 'connection', 'protocol', 'tls-identity'].map((name) => `src/vault/${name}.ts`)

/** What providers look like from inside; who they are is for `main` to know. */
const ports = ['payment', 'anti-fraud', 'gift-card', 'account-updater', 'simulator'].map(
  (name) => `src/connectors/${name}.ts`,
)

const areaLayers = ['routes', 'schema', 'operations', 'rules', 'store', 'jobs']

/**
 * In an area the file name is the layer, also one folder further down, in a sub-resource, and a layer may be a folder; elsewhere
 * the folder is the layer; files straight under src are the kernel.
 */
function layerOf(path: string): string {
  if (vaultClient.includes(path)) return 'vault-client'
  if (ports.includes(path)) return 'ports'
  const [, folder = '', , ...inner] = path.split('/')
  if (!areaOf(path)) return folder.endsWith('.ts') ? 'kernel' : folder
  const [first = '', second] = inner.map((name) => name.replace('.ts', ''))
  return second === undefined || areaLayers.includes(first) ? first : second
}

const importsOf = ({ path, text }: Source) =>
  [...text.matchAll(/(?:from |import\()'(\.[^']+)'/g)].map(([, target = '']) => ({
    from: path,
    to: join(dirname(path), target),
  }))

function wrongDirections(files: readonly Source[]): string[] {
  return files
    .flatMap(importsOf)
    .filter(({ from, to }) => !mayImport[layerOf(from)]?.includes(layerOf(to)) || crossesAreas(from, to))
    .map(({ from, to }) => `${from} must not import ${to}`)
}

/** Another area is reached through its operations and its schema only. */
function crossesAreas(from: string, to: string): boolean {
  const isOther = areaOf(from) !== undefined && areaOf(to) !== undefined && areaOf(from) !== areaOf(to)
  return (
    isOther &&
    !['operations', 'schema'].includes(layerOf(to)) &&
    !(layerOf(from) === 'schema' && layerOf(to) === 'rules')
  )
}

function areaCycles(files: readonly Source[]): string[] {
  const edges = new Map<string, Set<string>>()
  for (const { from, to } of files.flatMap(importsOf)) {
    const [source, target] = [areaOf(from), areaOf(to)]
    if (!source || !target || source === target) continue
    edges.set(source, (edges.get(source) ?? new Set()).add(target))
  }
  const reaches = (start: string, goal: string, seen = new Set<string>()): boolean =>
    [...(edges.get(start) ?? [])].some(
      (next) => next === goal || (!seen.has(next) && reaches(next, goal, seen.add(next))),
    )
  return [...edges.keys()].filter((area) => reaches(area, area))
}

/** Everything a file needs to run, itself included. */
function reach(start: string, files: readonly Source[]): string[] {
  const byPath = new Map(files.map((file) => [file.path, file]))
  const reached = new Set([start])
  for (const path of reached) {
    const file = byPath.get(path)
    if (file) for (const { to } of importsOf(file)) reached.add(to)
  }
  return [...reached].toSorted()
}

const beyondTheVault = (files: readonly Source[]) =>
  reach('src/main/vault.ts', files).filter(
    (path) => !/^src\/(vault|platform)\/|^src\/main\/(vault|lifecycle)\.ts$/.test(path),
  )

const strays = (files: readonly Source[]) =>
  files.flatMap(({ path, text }) =>
    homes.filter(([what, where]) => what.test(text) && !where.test(path)).map(([, , why]) => `${path}: ${why}`),
  )

test('every import points down', () => {
  expect(wrongDirections(sources)).toEqual([])
})

test('the vault runs without a line of the api: vault, platform and its own entry only', () => {
  expect(beyondTheVault(sources)).toEqual([])
  expect(reach('src/main/vault.ts', sources)).toContain('src/vault/sealing.ts')
})

test('the other processes reach no further into the vault than its client', () => {
  const keyHolders = ['api', 'worker', 'florin'].flatMap((name) => reach(`src/main/${name}.ts`, sources))
  expect(keyHolders.filter((path) => layerOf(path) === 'vault')).toEqual([])
})

test('no two areas need each other', () => {
  expect(areaCycles(sources)).toEqual([])
})

test('framework, driver, SDK, environment and console stay in their homes', () => {
  expect(strays(sources)).toEqual([])
})

test('there are no drawers and no barrels', () => {
  expect(sources.map(({ path }) => path).filter((path) => drawers.test(path))).toEqual([])
})

test('no file is so long that it should be a folder', () => {
  const lines = ({ text }: Source) => text.split('\n').length
  expect(
    sources.filter((source) => lines(source) > longest).map((source) => `${source.path} (${lines(source)})`),
  ).toEqual([])
})

test('these checks notice what they are for', () => {
  const planted = (path: string, text: string): Source[] => [{ path, text }]
  expect(wrongDirections(planted('src/areas/roles/store.ts', "from './operations.ts'"))).toHaveLength(1)
  expect(wrongDirections(planted('src/areas/roles/rules.ts', "from '../../platform/postgres.ts'"))).toHaveLength(1)
  expect(wrongDirections(planted('src/areas/roles/routes.ts', "from './store.ts'"))).toHaveLength(1)
  expect(wrongDirections(planted('src/areas/roles/routes.ts', "await import('./store.ts')"))).toHaveLength(1)
  expect(wrongDirections(planted('src/areas/roles/operations.ts', "from '../audit-logs/store.ts'"))).toHaveLength(1)
  expect(wrongDirections(planted('src/areas/a/b/store.ts', "from './operations.ts'"))).toHaveLength(1)
  expect(wrongDirections(planted('src/areas/a/b/operations.ts', "from '../../c/d/store.ts'"))).toHaveLength(1)
  expect(wrongDirections(planted('src/areas/a/b/operations.ts', "from '../operations.ts'"))).toEqual([])
  expect(wrongDirections(planted('src/areas/a/operations/get.ts', "from '../store.ts'"))).toEqual([])
  expect(wrongDirections(planted('src/areas/a/b/c/store.ts', "from './rules.ts'"))).toHaveLength(1)
  expect(wrongDirections(planted('src/areas/roles/operations.ts', "from '../../vault/sealing.ts'"))).toHaveLength(1)
  expect(wrongDirections(planted('src/vault/secrets.ts', "from '../errors.ts'"))).toHaveLength(1)
  expect(wrongDirections(planted('src/vault/client.ts', "from './key-ring.ts'"))).toHaveLength(1)
  expect(
    beyondTheVault([
      { path: 'src/main/vault.ts', text: "from '../vault/server.ts'" },
      { path: 'src/vault/server.ts', text: "from '../context.ts'" },
    ]),
  ).toEqual(['src/context.ts'])
  expect(strays(planted('src/areas/roles/operations.ts', 'process.env.X; console.log(1)'))).toHaveLength(2)
  expect(strays(planted('src/main/api.ts', "await import('@florin/sdk/core')"))).toHaveLength(1)
  expect(
    areaCycles([
      { path: 'src/areas/a/operations.ts', text: "from '../b/operations.ts'" },
      { path: 'src/areas/b/operations.ts', text: "from '../a/operations.ts'" },
    ]),
  ).toEqual(['a', 'b'])
})
