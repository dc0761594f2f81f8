import { type ChildProcess, spawn } from 'node:child_process'
import { randomInt } from 'node:crypto'
import { once } from 'node:events'
import { closeSync, openSync } from 'node:fs'
import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises'
import { createServer } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { createInterface } from 'node:readline'
import { setTimeout as sleep } from 'node:timers/promises'
import { bringNatsServer } from './nats-server.ts'

/** Three nats-servers on loopback that keep what they acknowledged: every write is on disk first. */
export interface NatsCluster {
  /** As NATS_URL: Florin's user, at all three. */
  url: string
  /** As FLORIN_EVENT_STREAM_URL. */
  eventsUrl: string
  /** The user that may only read the stream of events. */
  readerUrl: string
  nodes: readonly NatsNode[]
  /** With SIGKILL. `index` from 0, as in `nodes`. */
  kill(index: number): Promise<void>
  /** At the same address; ends when it listens. */
  start(index: number): Promise<void>
  /** Removes what a node has stored, while it does not run. */
  wipe(index: number): Promise<void>
  /** Ends when all three run and agree on a leader. */
  ready(): Promise<void>
  /** Of all; removes their folder. */
  stop(): Promise<void>
}

export interface NatsNode {
  name: string
  host: string
  port: number
  /** Monitoring. */
  httpPort: number
  storeFolder: string
  logFile: string
  /** Of the server; undefined while it does not run. */
  pid: number | undefined
}

export interface NatsClusterOptions {
  /** Default: a new one under the temporary directory, that stop() removes. */
  folder?: string
  /** Where each node listens, and what its command begins with to be there. Default: all on loopback. */
  places?: readonly { host: string; command: readonly string[] }[]
  /** `always`, unless to show what happens otherwise. */
  syncInterval?: string
  /** The text of `docs/nats/accounts.conf`, unless to show what happens with another. */
  accounts?: string
}

const passwords = {
  NATS_FLORIN_PASSWORD: 'florin-local',
  NATS_EVENTS_PASSWORD: 'events-local',
  NATS_READER_PASSWORD: 'reader-local',
}
const accountsFile = join(import.meta.dirname, '../docs/nats/accounts.conf')
const startTimeoutMs = 120_000

/*
 * Runs the command ("$@") and says its number. When our end of the pipe closes, which happens however this process dies, the command is
 * killed.
 */
const supervisor = `
exec 3<&0
"$@" </dev/null 3<&- 2>&4 >&4 &
command=$!
echo $command
( while read -r line; do :; done <&3; kill -KILL $command ) >/dev/null 2>&1 &
watcher=$!
exec 3<&-
wait $command
kill $watcher
`

interface RunningNode extends NatsNode {
  configFile: string
  command: readonly string[]
  child: ChildProcess | undefined
}

export async function startNatsCluster({
  folder,
  places,
  syncInterval = 'always',
  accounts,
}: NatsClusterOptions = {}): Promise<NatsCluster> {
  const binary = await bringNatsServer()
  const home = folder ?? (await mkdtemp(join(tmpdir(), 'florin-nats-')))
  const ports = await freePorts(9)
  const placeOf = (index: number) => places?.[index] ?? { host: '127.0.0.1', command: [] }
  const routes = ports.slice(6).map((port, index) => `nats://${placeOf(index).host}:${port}`)
  const nodes: RunningNode[] = [0, 1, 2].map((index) => ({
    name: `node-${index + 1}`,
    ...placeOf(index),
    port: ports[index] ?? 0,
    httpPort: ports[3 + index] ?? 0,
    storeFolder: join(home, `node-${index + 1}`),
    logFile: join(home, `node-${index + 1}.log`),
    configFile: join(home, `node-${index + 1}.conf`),
    pid: undefined,
    child: undefined,
  }))
  await writeFile(join(home, 'accounts.conf'), accounts ?? (await readFile(accountsFile, 'utf8')))
  for (const [index, node] of nodes.entries()) {
    await writeFile(
      node.configFile,
      `server_name: ${node.name}
listen: ${node.host}:${node.port}
http: ${node.host}:${node.httpPort}
jetstream {
  store_dir: ${JSON.stringify(node.storeFolder)}
  sync_interval: ${syncInterval}
  max_memory_store: 64MB
  max_file_store: 8GB
}
cluster {
  name: florin
  listen: ${node.host}:${ports[6 + index]}
  routes: ${JSON.stringify(routes)}
}
include accounts.conf
`,
    )
  }
  const nodeAt = (index: number): RunningNode => {
    const node = nodes[index]
    if (!node) throw new Error(`there is no node ${index}`)
    return node
  }
  const cluster: NatsCluster = {
    url: urlOf(nodes, 'florin', passwords.NATS_FLORIN_PASSWORD),
    eventsUrl: urlOf(nodes, 'events', passwords.NATS_EVENTS_PASSWORD),
    readerUrl: urlOf(nodes, 'reader', passwords.NATS_READER_PASSWORD),
    nodes,
    kill: (index) => kill(nodeAt(index)),
    start: (index) => start(nodeAt(index), binary),
    wipe: (index) => rm(nodeAt(index).storeFolder, { recursive: true, force: true }),
    ready: () => becomeReady(nodes),
    async stop() {
      await Promise.all(nodes.map(kill))
      if (folder === undefined) await rm(home, { recursive: true, force: true })
    },
  }
  try {
    await Promise.all(nodes.map((node) => start(node, binary)))
    await cluster.ready()
    return cluster
  } catch (error) {
    await cluster.stop()
    throw error
  }
}

async function start(node: RunningNode, binary: string): Promise<void> {
  if (node.child) throw new Error(`${node.name} runs already`)
  const log = openSync(node.logFile, 'a')
  // Detached: a Ctrl-C in the terminal is for us to handle.
  const child = spawn('/bin/sh', ['-c', supervisor, 'florin-nats', ...node.command, binary, '-c', node.configFile], {
    env: { PATH: process.env['PATH'] ?? '', ...passwords },
    stdio: ['pipe', 'pipe', log, 'ignore', log],
    detached: true,
  })
  closeSync(log)
  node.child = child
  const ended = once(child, 'close').then(() => {
    node.child = undefined
    node.pid = undefined
  })
  if (!child.stdout) throw new Error('the server has no output')
  const [pid] = (await once(createInterface({ input: child.stdout }), 'line')) as [string]
  node.pid = Number(pid)
  const end = Date.now() + startTimeoutMs
  let hasEnded = false
  void ended.then(() => (hasEnded = true))
  while (!(await answers(`http://${node.host}:${node.httpPort}/varz`))) {
    if (hasEnded || Date.now() > end) throw new Error(`${node.name} did not start:\n${await logOf(node)}`)
    await sleep(20)
  }
}

async function kill(node: RunningNode): Promise<void> {
  const { child, pid } = node
  if (!child || pid === undefined) return
  const closed = once(child, 'close')
  process.kill(pid, 'SIGKILL')
  await closed
}

async function becomeReady(nodes: readonly RunningNode[]): Promise<void> {
  const end = Date.now() + startTimeoutMs
  for (const node of nodes) {
    while (!(await answers(`http://${node.host}:${node.httpPort}/healthz`))) {
      if (Date.now() > end) throw new Error(`${node.name} did not get ready:\n${await logOf(node)}`)
      await sleep(50)
    }
  }
}

async function answers(url: string): Promise<boolean> {
  const answer = await fetch(url).catch(() => undefined)
  await answer?.body?.cancel()
  return answer?.ok ?? false
}

const logOf = async ({ logFile }: RunningNode) => (await readFile(logFile, 'utf8')).split('\n').slice(-30).join('\n')

const urlOf = (nodes: readonly NatsNode[], user: string, password: string) =>
  nodes.map(({ host, port }) => `nats://${user}:${password}@${host}:${port}`).join(',')

/** Below those that outgoing connections take: nobody gets them while a node is down. */
async function freePorts(count: number): Promise<number[]> {
  const ports = new Set<number>()
  while (ports.size < count) {
    const port = randomInt(20_000, 30_000)
    if (await isFree(port)) ports.add(port)
  }
  return [...ports]
}

function isFree(port: number): Promise<boolean> {
  const server = createServer()
  return new Promise((resolve) => {
    server.once('error', () => resolve(false))
    server.listen(port, '127.0.0.1', () => server.close(() => resolve(true)))
  })
}
