import { spawn } from 'node:child_process'
import { join } from 'node:path'
import { createInterface } from 'node:readline'
import { setTimeout as sleep } from 'node:timers/promises'
import { CommandError } from '../output.ts'
import { root } from '../repository.ts'
import { parseLogLine, renderLogLine } from './child-log.ts'

/** The processes of a Florin, each with its own database role. The message is the one it logs when it is ready. */
export const processes = {
  vault: { name: 'vault', entry: 'src/main/vault.ts', role: 'florin_vault', readyMessage: 'guarding' },
  api: { name: 'api', entry: 'src/main/api.ts', role: 'florin_api', readyMessage: 'listening' },
  worker: { name: 'worker', entry: 'src/main/worker.ts', role: 'florin_worker', readyMessage: 'working' },
} as const

export type Process = (typeof processes)[keyof typeof processes]

export interface Child {
  name: Process['name']
  /** The address it announced; fails when it ends before. */
  ready: Promise<string>
  /** Fails when it ends without having been asked to. */
  lost: Promise<never>
  stop(): Promise<void>
}

const readyWithinMs = 30_000
const stopsWithinMs = 8_000
const linesKept = 20

export function startChild(
  { name, entry, readyMessage }: Process,
  environment: NodeJS.ProcessEnv,
  onLine: (name: string, line: string) => void,
): Child {
  const hook = new URL('../follow-parent-hook.ts', import.meta.url).href
  // Detached: a Ctrl-C in the terminal is for us, and we end the others in order.
  const child = spawn(process.execPath, ['--import', hook, join(root, entry)], {
    cwd: root,
    env: environment,
    stdio: ['ignore', 'pipe', 'pipe', 'ipc'],
    detached: true,
  })
  const lastLines: string[] = []
  let stopping = false
  const { promise: announced, resolve: announce } = Promise.withResolvers<string>()
  for (const input of [child.stdout, child.stderr]) {
    if (!input) continue
    createInterface({ input }).on('line', (line) => {
      lastLines.push(line)
      if (lastLines.length > linesKept) lastLines.shift()
      onLine(name, line)
      const entry = parseLogLine(line)
      if (entry?.message === readyMessage && entry.address) announce(entry.address)
    })
  }
  // "close", not "exit": by then its last words have been read.
  const ended = new Promise<string>((resolve) => {
    child.once('close', (code, signal) => resolve(signal ? `signal ${signal}` : `exit code ${code}`))
    child.once('error', (error) => resolve(error.message))
  })
  const lost = ended.then((how): Promise<never> => {
    if (stopping) return new Promise(() => undefined)
    const log = lastLines.map((line) => `  ${renderLogLine(name, line) ?? line}`).join('\n')
    throw new CommandError(`The ${name} process ended unexpectedly (${how}). Its last log lines:\n${log}`)
  })
  lost.catch(() => undefined)
  return {
    name,
    lost,
    ready: Promise.race([announced, lost, tooLate(name)]),
    async stop() {
      stopping = true
      child.kill('SIGTERM')
      const insist = setTimeout(() => child.kill('SIGKILL'), stopsWithinMs)
      await ended
      clearTimeout(insist)
    },
  }
}

async function tooLate(name: string): Promise<never> {
  await sleep(readyWithinMs, undefined, { ref: false })
  throw new CommandError(
    `The ${name} process was not ready within ${readyWithinMs / 1000} s. Is this machine very busy?`,
  )
}
