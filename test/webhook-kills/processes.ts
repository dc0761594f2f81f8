import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import { rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { createInterface } from 'node:readline'
import { codeCache } from '../code-cache.ts'
import type { KillOrder, PlantedBug } from '../kill-hook.ts'

// A process that outlives the run would go on with its database.
const running = new Set<ChildProcess>()
process.once('exit', () => {
  for (const child of running) child.kill('SIGKILL')
})

export interface Victim {
  /** Ascending in the order of their starts. */
  number: number
  /** Ends when the process does: with true when it was killed. */
  died: Promise<boolean>
  /** It dies when it comes there. */
  dieAt(point: string): void
  /** Now. */
  kill(): void
  /** Takes the order back, and lets it finish what it does. */
  stop(): Promise<void>
}

export interface Script {
  file: 'dispatch.ts' | 'produce.ts'
  environment: Readonly<Record<string, string>>
  bugs: readonly PlantedBug[]
  folder: string
  onLine?: (line: string) => void
}

let started = 0
export const startedSoFar = () => started

/** Starts one of the scripts here and waits until it says that it has. */
export async function startVictim({ file, environment, bugs, folder, onLine }: Script): Promise<Victim> {
  started += 1
  const number = started
  const orderFile = join(folder, `order-${number}`)
  const files = ['../kill-hook.ts', file].map((name) => join(import.meta.dirname, name))
  const child = spawn(process.execPath, ['--import', ...files], {
    env: {
      PATH: process.env['PATH'] ?? '',
      ...codeCache,
      ...environment,
      NAME: String(number),
      KILL_ORDER: orderFile,
      PLANT: JSON.stringify(bugs),
    },
    stdio: ['ignore', 'pipe', 'pipe'],
  })
  running.add(child)
  let complaint = ''
  child.stderr.on('data', (chunk: Buffer) => (complaint += chunk.toString()))
  const ready = Promise.withResolvers<void>()
  createInterface({ input: child.stdout }).on('line', (line) => {
    if (line === 'started') ready.resolve()
    else onLine?.(line)
  })
  const died = once(child, 'close').then(([code, signal]) => {
    running.delete(child)
    ready.resolve()
    if (signal !== 'SIGKILL' && code !== 0) throw new Error(`${file} ended with ${String(code)}:\n${complaint}`)
    return signal === 'SIGKILL'
  })
  died.catch(() => undefined)
  await ready.promise
  return {
    number,
    died,
    dieAt: (point) => writeFileSync(orderFile, JSON.stringify({ points: [point], requests: 1 } satisfies KillOrder)),
    kill: () => void child.kill('SIGKILL'),
    async stop() {
      rmSync(orderFile, { force: true })
      child.kill('SIGTERM')
      await died
    },
  }
}
