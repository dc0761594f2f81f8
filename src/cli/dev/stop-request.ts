import { execFile } from 'node:child_process'
import { promisify } from 'node:util'
import { isAlive } from '../dev-folder.ts'

const signals = ['SIGINT', 'SIGTERM', 'SIGHUP'] as const
const patienceMs = 20_000

/** Aborted when we are asked to stop. A signal that comes again changes nothing: npm repeats the terminal's. */
export function stopRequest(): AbortSignal {
  const controller = new AbortController()
  const stop = () => {
    if (controller.signal.aborted) return
    controller.abort()
    // What hangs, such as a start on a database that does not answer, ends with us.
    setTimeout(() => process.exit(), patienceMs).unref()
  }
  for (const signal of signals) process.on(signal, stop)
  // A reader that has seen enough may close its end; that is no reason to fall over.
  for (const stream of [process.stdout, process.stderr]) stream.on('error', () => undefined)
  if (process.env['npm_lifecycle_event'] !== undefined) void stopWithNpm(stop)
  return controller.signal
}

/** npm passes signals on to its shell, and not every shell passes them on to us; nor can npm when it is killed. */
async function stopWithNpm(stop: () => void): Promise<void> {
  const parent = process.ppid
  const { stdout } = await promisify(execFile)('ps', ['-o', 'ppid=,args=', '-p', String(parent)]).catch(() => ({
    stdout: '',
  }))
  // Between npm and us there is a shell, unless it has made way.
  const npm = Number(/^\s*(\d+)\s+\S*sh -c /.exec(stdout)?.[1] ?? parent)
  setInterval(() => (process.ppid !== parent || !isAlive(npm)) && stop(), 500).unref()
}
