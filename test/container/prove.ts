import { execFile, spawn } from 'node:child_process'
import { once } from 'node:events'
import { cpSync, mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, chownSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { delimiter, join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { promisify } from 'node:util'
import pg from 'pg'
import { type Cluster, freePort, startCluster } from '../../src/cli/postgres-cluster.ts'
import { signToken } from '../sign-token.ts'
import { type Compose, environmentOf, readCompose } from './compose.ts'
import { buildImage, type Image } from './image.ts'
import { inTree, type Surroundings } from './tree.ts'

const run = promisify(execFile)
const root = join(import.meta.dirname, '../..')
const readyWithinMs = 120_000

export interface ContainerReport {
  tree_megabytes: number
  production_packages: number
  test_files: string[]
  migrate: string
  processes: Record<string, { uid: string; capabilities: string; no_new_privileges: string; exit_code: number | null }>
  wrong_password: string
  written_outside: string[]
  answers: Record<string, number>
  stored_card: string
  payment_status: string
  listed: string
}

/**
 * Builds the image from deploy/Containerfile, makes secrets and roles with the scripts in deploy/, starts the services as compose.yaml has
 * them, each in a read-only tree as the image's user, pays with a card and stops them.
 */
export async function proveContainer(note: (line: string) => void): Promise<ContainerReport> {
  const folder = mkdtempSync(join(tmpdir(), 'florin-image-'))
  let cluster: Cluster | undefined
  try {
    const image = await buildImage(folder, note)
    const secrets = await prepareSecrets(join(folder, 'deploy'))
    cluster = await startCluster({ fast: true })
    await makeRoles(cluster, secrets)
    return await operate(image, join(folder, 'deploy'), secrets, note)
  } finally {
    await cluster?.stop()
    rmSync(folder, { recursive: true, force: true })
  }
}

/** deploy/prepare in a copy of its folder; the second time it changes nothing. */
async function prepareSecrets(folder: string): Promise<string> {
  cpSync(join(root, 'deploy'), folder, { recursive: true, filter: (path) => !/secrets|\.env$/.test(path) })
  const secrets = join(folder, 'secrets')
  const read = () => readdirSync(secrets).map((name) => readFileSync(join(secrets, name), 'utf8'))
  await run(join(folder, 'prepare'), ['--nats'])
  const first = read()
  await run(join(folder, 'prepare'), ['--nats'])
  if (first.join() !== read().join()) throw new Error('the second run of deploy/prepare has changed a secret')
  return secrets
}

/** Roles by the script that the image of PostgreSQL runs; from then on nobody gets in without a password. */
async function makeRoles(cluster: Cluster, secrets: string): Promise<void> {
  const admin = new pg.Client({ connectionString: cluster.url() })
  await admin.connect()
  try {
    await admin.query('create database florin')
    await run('sh', [join(root, 'deploy/postgres/roles.sh')], {
      env: {
        PATH: [cluster.binaries.directory, process.env['PATH']].join(delimiter),
        PGHOST: '127.0.0.1',
        PGPORT: String(cluster.port),
        POSTGRES_USER: 'florin_admin',
        POSTGRES_DB: 'florin',
        SECRETS_FOLDER: secrets,
        ROLES_FILE: join(root, 'migrations/roles.sql'),
      },
    })
    writeFileSync(join(cluster.directory, 'data/pg_hba.conf'), 'host all all 127.0.0.1/32 scram-sha-256\n')
    await admin.query('select pg_reload_conf()')
  } finally {
    await admin.end()
  }
  // In compose the server is found by its name.
  for (const name of readdirSync(secrets)) {
    const path = join(secrets, name)
    const text = readFileSync(path, 'utf8')
    writeFileSync(path, text.replace('@postgres:5432/', `@127.0.0.1:${cluster.port}/`))
  }
}

async function operate(
  image: Image,
  folder: string,
  secrets: string,
  note: (line: string) => void,
): Promise<ContainerReport> {
  const compose = readCompose()
  const socketFolder = join(folder, 'vault-socket')
  mkdirSync(socketFolder)
  // A new volume begins with what the image has at that place, the owner included.
  if (image.user) chownSync(socketFolder, image.user.uid, image.user.gid)
  const port = await freePort()
  const place = { image, compose, secrets, socketFolder, port }

  const migrate = (await finish(await prepare('migrate', place))).trim().split('\n').at(-1) ?? ''
  note(migrate)

  const servers: Server[] = []
  try {
    const serve = async (name: string) => servers.push(await start(await prepare(name, place), note))
    await serve('vault')
    const [made] = await Promise.all([makeKeyPair(place), serve('api'), serve('worker')])
    const { private_key: privateKeyPem } = JSON.parse(made) as { private_key: string }
    const url = `http://127.0.0.1:${port}`
    const paid = await pay(url, await signToken({ privateKeyPem }))
    note(`paid: ${paid.payment_status}`)
    const listed = await listPayments(place, url, privateKeyPem)
    const attempt =
      'for place in /app/x /tmp/x /x /run/x /etc/x; do touch $place 2>/dev/null && echo $place; done; true'
    const written = await finish(await prepare('api', { ...place, command: ['sh', '-c', attempt] }))
    const processes: ContainerReport['processes'] = {}
    for (const server of servers.reverse())
      processes[server.name] = { ...server.powers(), exit_code: await server.stop() }
    return {
      ...(await measure(image)),
      migrate,
      processes,
      wrong_password: await tryWrongPassword(secrets),
      written_outside: written.split('\n').filter(Boolean),
      ...paid,
      listed,
    }
  } finally {
    for (const server of servers) server.kill()
  }
}

const makeKeyPair = async (place: Place) =>
  await finish(await prepare('api', { ...place, command: ['florin', 'keys', 'create', '--name', 'first', '--json'] }))

/** The statuses that the command line of the image gets from the api. */
async function listPayments(place: Place, url: string, privateKeyPem: string): Promise<string> {
  const list = `florin transactions list --api ${url} --key /dev/stdin --print status`
  const command = ['sh', '-c', `echo '${privateKeyPem}' | ${list}`]
  return (await finish(await prepare('api', { ...place, command }))).trim()
}

/** What PostgreSQL says to it. */
async function tryWrongPassword(secrets: string): Promise<string> {
  const url = readFileSync(join(secrets, 'api_database_url'), 'utf8').trim()
  const client = new pg.Client({ connectionString: url.replace(/:[0-9a-f]{48}@/, ':guessed@') })
  return await client.connect().then(
    () => 'welcome',
    (error: Error) => error.message,
  )
}

interface Place {
  image: Image
  compose: Compose
  secrets: string
  socketFolder: string
  /** The api's. */
  port: number
  command?: string[]
}

interface Prepared {
  name: string
  program: string
  words: string[]
  healthCheck: [string, string[]]
  privatePort: number
  stopSignal: NodeJS.Signals
}

/** A service as compose.yaml has it, on ports of its own: here all of them share the machine's network. */
async function prepare(
  name: string,
  { image, compose, secrets, socketFolder, port, command }: Place,
): Promise<Prepared> {
  const service = compose.services[name]
  if (!service) throw new Error(`compose.yaml has no service ${name}`)
  const privatePort = await freePort()
  const surroundings: Surroundings = {
    workdir: image.workdir,
    environment: {
      ...image.environment,
      ...environmentOf(service),
      FLORIN_PORT: String(port),
      FLORIN_PRIVATE_PORT: String(privatePort),
      FLORIN_DRAIN_DELAY_MS: '0',
    },
    ...(image.user && { user: image.user }),
    mounts: [
      ...(service.secrets ?? []).map((secret) => ({
        from: join(secrets, secret),
        to: `/run/secrets/${secret}`,
        writable: false,
      })),
      ...(service.volumes ?? []).map((volume) => ({
        from: socketFolder,
        to: volume.split(':')[1] ?? '',
        writable: true,
      })),
    ],
    readOnly: service.read_only === true,
  }
  const [program, words] = inTree(image.tree, image.base, command ?? service.command ?? image.command, surroundings)
  const check = (service.healthcheck?.test.slice(1) ?? image.healthCheck).map((word) =>
    word.replace(':9090/', `:${privatePort}/`),
  )
  return {
    name,
    program,
    words,
    healthCheck: inTree(image.tree, image.base, check, surroundings),
    privatePort,
    stopSignal: image.stopSignal,
  }
}

/** What a command that ends says, be it good or bad. */
async function finish({ program, words }: Prepared): Promise<string> {
  return await run(program, words).then(
    ({ stdout }) => stdout,
    (error: unknown) => (error as { stderr: string }).stderr,
  )
}

interface Server {
  name: string
  powers(): { uid: string; capabilities: string; no_new_privileges: string }
  stop(): Promise<number | null>
  kill(): void
}

async function start(
  { name, program, words, healthCheck, privatePort, stopSignal }: Prepared,
  note: (line: string) => void,
): Promise<Server> {
  const child = spawn(program, words, { stdio: ['ignore', 'pipe', 'pipe'] })
  let output = ''
  for (const stream of [child.stdout, child.stderr]) stream.on('data', (chunk: Buffer) => (output += chunk.toString()))
  const ended = once(child, 'close').then(([code]) => code as number | null)
  const deadline = Date.now() + readyWithinMs
  const answers = () =>
    fetch(`http://127.0.0.1:${privatePort}/readyz`).then(
      ({ ok }) => ok,
      () => false,
    )
  while (!(await answers())) {
    if (child.exitCode !== null || Date.now() > deadline) {
      child.kill('SIGKILL')
      throw new Error(`${name} did not become ready:\n${output}`)
    }
    await sleep(50)
  }
  await run(...healthCheck)
  note(`${name} is healthy`)
  return {
    name,
    powers() {
      const status = readFileSync(`/proc/${child.pid}/status`, 'utf8')
      const field = (key: string) => new RegExp(`^${key}:\\s+(\\w+)`, 'm').exec(status)?.[1] ?? ''
      return { uid: field('Uid'), capabilities: field('CapBnd'), no_new_privileges: field('NoNewPrivs') }
    },
    async stop() {
      child.kill(stopSignal)
      return await ended
    },
    kill: () => void child.kill('SIGKILL'),
  }
}

/** What an operator does first: a merchant account, a provider, then a stored card and a payment. */
async function pay(baseUrl: string, token: string) {
  const answers: Record<string, number> = {}
  const send = async (path: string, body: object) => {
    const response = await fetch(`${baseUrl}${path}`, {
      method: 'POST',
      headers: { authorization: `Bearer ${token}`, 'content-type': 'application/json' },
      body: JSON.stringify(body),
    })
    answers[path] = response.status
    return (await response.json()) as Record<string, string>
  }
  await send('/merchant-accounts', { id: 'default', display_name: 'Default' })
  await send('/payment-services', {
    display_name: 'Cards',
    payment_service_definition_id: 'mock-card',
    fields: [{ key: 'merchant_id', value: 'shop-4711' }],
    accepted_currencies: ['EUR'],
    accepted_countries: ['DE'],
  })
  const card = { method: 'card', number: '4111111111111111', expiration_date: '12/30' }
  const stored = await send('/payment-methods', card)
  const payment = await send('/transactions', {
    amount: 1299,
    currency: 'EUR',
    country: 'DE',
    intent: 'capture',
    payment_method: { method: 'id', id: stored['id'] },
  })
  return { answers, stored_card: stored['status'] ?? '', payment_status: payment['status'] ?? JSON.stringify(payment) }
}

async function measure({ tree, workdir }: Image) {
  const app = join(tree, workdir)
  const { stdout } = await run('du', ['-sm', app])
  const lock = JSON.parse(readFileSync(join(app, 'node_modules/.package-lock.json'), 'utf8')) as { packages: object }
  const files = readdirSync(app, { recursive: true, encoding: 'utf8' })
  return {
    tree_megabytes: Number.parseInt(stdout, 10),
    production_packages: Object.keys(lock.packages).filter((path) => path.startsWith('node_modules/')).length,
    test_files: files.filter(
      (file) => /\.test\.ts$|^(test|bench|scripts)\//.test(file) && !file.startsWith('node_modules'),
    ),
  }
}
