import { spawn } from 'node:child_process'
import { randomBytes } from 'node:crypto'
import { once } from 'node:events'
import { join } from 'node:path'
import { onTestFinished } from 'vitest'
import { codeCache } from './code-cache.ts'

export interface TestProcess {
  /** What the process said it listens on. */
  url: string
  /** Only with a FLORIN_PRIVATE_PORT: the process does not say which port it took by itself. */
  privateUrl: string | undefined
  pid: number
  /** Everything written to stdout and stderr so far. */
  output(): string
  /** The lines of the log, read. */
  logs(): Record<string, unknown>[]
  kill(signal: NodeJS.Signals): void
  /** The exit code; null after a signal. */
  exited: Promise<number | null>
}

/** How the api, the worker and the vault say that they serve. */
const readyMessages: ReadonlySet<unknown> = new Set(['listening', 'working', 'guarding'])

export interface ProcessOptions {
  /** For Node itself, before the entry. */
  nodeArguments?: readonly string[]
  startTimeoutMs?: number
}

/** What every api process of one deployment shares. */
export function apiEnvironment(databaseUrl: string): Record<string, string> {
  return { DATABASE_URL: databaseUrl, FLORIN_CURSOR_KEYS: randomBytes(32).toString('base64'), FLORIN_PORT: '0' }
}

/** Starts `src/main/…` as a process of its own and waits until it serves. It is killed when the test ends. */
export async function startProcess(
  entry: string,
  environment: Readonly<Record<string, string>>,
  { nodeArguments = [], startTimeoutMs = 120_000 }: ProcessOptions = {},
): Promise<TestProcess> {
  const root = join(import.meta.dirname, '..')
  const child = spawn(process.execPath, [...nodeArguments, entry], {
    cwd: root,
    env: {
      PATH: process.env['PATH'] ?? '',
      ...codeCache,
      ...environment,
    },
    stdio: ['ignore', 'pipe', 'pipe'],
  })
  // A process that outlives the run would keep its port and its database.
  const killChild = () => child.kill('SIGKILL')
  process.on('exit', killChild)
  let output = ''
  const address = Promise.withResolvers<string>()
  const read = (chunk: Buffer) => {
    output += chunk.toString()
    const found = parseLog(output).find(({ message }) => readyMessages.has(message))
    if (typeof found?.['address'] === 'string') {
      child.stdout.off('data', read)
      child.stdout.on('data', (later: Buffer) => (output += later.toString()))
      address.resolve(found['address'])
    }
  }
  child.stdout.on('data', read)
  child.stderr.on('data', (chunk: Buffer) => (output += chunk.toString()))
  const exited = once(child, 'close').then(([code]) => {
    process.off('exit', killChild)
    address.reject(new Error(`${entry} ended with ${String(code)} before it served:\n${output}`))
    return code as number | null
  })
  onTestFinished(async () => {
    killChild()
    await exited
  })
  const timer = setTimeout(() => {
    address.reject(new Error(`${entry} does not serve after ${startTimeoutMs} ms:\n${output}`))
  }, startTimeoutMs)
  try {
    const url = await address.promise
    const privatePort = environment['FLORIN_PRIVATE_PORT']
    return {
      url,
      privateUrl: privatePort === undefined ? undefined : `http://127.0.0.1:${privatePort}`,
      pid: child.pid ?? 0,
      output: () => output,
      logs: () => parseLog(output),
      kill: (signal) => void child.kill(signal),
      exited,
    }
  } finally {
    clearTimeout(timer)
  }
}

function parseLog(output: string): Record<string, unknown>[] {
  // The last line may be half of one.
  const lines = output.split('\n').slice(0, -1)
  return lines.filter((line) => line.startsWith('{')).map((line) => JSON.parse(line) as Record<string, unknown>)
}
