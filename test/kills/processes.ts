import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { createInterface } from 'node:readline'
import type { KillOrder, PlantedBug } from '../kill-hook.ts'

/** Processes for runs that are longer than a test, and outside of one too. */

const root = join(import.meta.dirname, '../..')

// A process that outlives the run would keep its port and its database.
const running = new Set<ChildProcess>()
process.once('exit', () => {
  for (const child of running) child.kill('SIGKILL')
})

export interface RunningProcess {
  url: string
  /** How it ended: a signal, or null. */
  exited: Promise<NodeJS.Signals | null>
  kill(signal: NodeJS.Signals): void
}

/** Starts `src/main/…` and waits until it serves; fails with what it wrote when it does not. */
export async function startProcess(
  entry: string,
  environment: Readonly<Record<string, string>>,
  nodeArguments: readonly string[] = [],
): Promise<RunningProcess> {
  const child = spawn(process.execPath, [...nodeArguments, join(root, 'src/main', entry)], {
    cwd: root,
    env: { PATH: process.env['PATH'] ?? '', ...environment },
    stdio: ['ignore', 'pipe', 'pipe'],
  })
  running.add(child)
  const lines: string[] = []
  const ready = Promise.withResolvers<string>()
  for (const input of [child.stdout, child.stderr]) {
    createInterface({ input }).on('line', (line) => {
      lines.splice(0, lines.length - 20)
      lines.push(line)
      const [, address] = /"address":"([^"]+)","message":"(?:guarding|listening)"/.exec(line) ?? []
      if (address) ready.resolve(address)
    })
  }
  const exited = once(child, 'close').then(([code, signal]) => {
    running.delete(child)
    ready.reject(new Error(`${entry} ended with ${String(code ?? signal)}:\n${lines.join('\n')}`))
    return signal as NodeJS.Signals | null
  })
  exited.catch(() => undefined)
  return { url: await ready.promise, exited, kill: (signal) => void child.kill(signal) }
}

/** A process that is killed writes nothing to the cache. */
export async function fillCompileCache(environment: Readonly<Record<string, string>>): Promise<void> {
  const source = `await import(${JSON.stringify(join(root, 'src/main/api.ts'))}); process.exit(0)`
  const child = spawn(process.execPath, ['--input-type=module', '-e', source], {
    env: { PATH: process.env['PATH'] ?? '', ...environment },
    stdio: 'ignore',
  })
  await once(child, 'close')
}

export interface Victim extends RunningProcess {
  order(order: KillOrder): void
}

export interface ApiOptions {
  environment: Readonly<Record<string, string>>
  folder: string
}

const hook = ['--import', join(root, 'test/kill-hook.ts')]
let victims = 0

/** How busy the machine is must not decide: a request that is refused for its time did not get to where it was to die. */
const patience: readonly PlantedBug[] = [
  { file: 'src/deadline.ts', from: 'AbortSignal.timeout(ms)', to: 'AbortSignal.timeout(120_000)' },
  { file: 'platform/postgres.ts', from: 'connectionTimeoutMillis: 5_000', to: 'connectionTimeoutMillis: 120_000' },
]

const planting = (bugs: readonly PlantedBug[]) => ({
  FLORIN_VAULT_TIMEOUT_MS: '120000',
  PLANT: JSON.stringify([...patience, ...bugs]),
})

function newOrder(folder: string): { file: string; order: (order: KillOrder) => void } {
  victims += 1
  const file = join(folder, `order-${process.pid}-${victims}`)
  return { file, order: (order) => writeFileSync(file, JSON.stringify(order)) }
}

/** An api that kills itself where it is told to. */
export async function startVictim({ environment, folder }: ApiOptions, bugs: readonly PlantedBug[]): Promise<Victim> {
  const { file, order } = newOrder(folder)
  const started = await startProcess('api.ts', { ...environment, KILL_ORDER: file, ...planting(bugs) }, hook)
  return { ...started, order }
}

/** An api whose clock is ahead, for clients that come back later. */
export const startLaterApi = (
  { environment }: ApiOptions,
  { aheadMs, bugs }: { aheadMs: number; bugs: readonly PlantedBug[] },
): Promise<RunningProcess> =>
  startProcess('api.ts', { ...environment, CLOCK_AHEAD_MS: String(aheadMs), ...planting(bugs) }, hook)

export interface JanitorOptions {
  account: string
  aheadMs: number
  /** Where it dies, should it come there. */
  point?: string
  bugs?: readonly PlantedBug[]
}

/** The janitor goes round once, in a process of its own. Returns how it ended: a signal, or null. */
export async function runJanitor(
  { environment, folder }: ApiOptions,
  { account, aheadMs, point, bugs = [] }: JanitorOptions,
): Promise<NodeJS.Signals | null> {
  const { file, order } = newOrder(folder)
  if (point !== undefined) order({ points: [point], requests: 1 })
  const child = spawn(process.execPath, [...hook, join(root, 'test/kills/janitor.ts')], {
    env: {
      PATH: process.env['PATH'] ?? '',
      ...environment,
      ACCOUNT: account,
      CLOCK_AHEAD_MS: String(aheadMs),
      KILL_ORDER: file,
      ...planting(bugs),
    },
    stdio: ['ignore', 'ignore', 'pipe'],
  })
  running.add(child)
  let complaint = ''
  child.stderr.on('data', (chunk: Buffer) => (complaint += chunk.toString()))
  const [code, signal] = (await once(child, 'close')) as [number | null, NodeJS.Signals | null]
  running.delete(child)
  if (code !== null && code !== 0) throw new Error(`the janitor ended with ${code}:\n${complaint}`)
  return signal
}

/** Started ahead, because an api takes longer to start than to die. */
export function keepSpares<Spare extends RunningProcess>(start: () => Promise<Spare>, count: number) {
  const spares: Promise<Spare>[] = []
  let isOpen = true
  const fill = () => {
    while (isOpen && spares.length < count) {
      const spare = start()
      spare.catch(() => undefined)
      spares.push(spare)
    }
  }
  fill()
  return {
    take(): Promise<Spare> {
      const spare = spares.shift() ?? start()
      fill()
      return spare
    },
    async close(): Promise<void> {
      isOpen = false
      for (const spare of spares) {
        const started = await spare.catch(() => undefined)
        started?.kill('SIGKILL')
        await started?.exited
      }
    },
  }
}
