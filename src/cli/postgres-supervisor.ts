import { spawn } from 'node:child_process'
import { closeSync, openSync } from 'node:fs'
import { open, stat, truncate } from 'node:fs/promises'
import { type PostgresBinaries, postgresEnvironment } from './postgres-binaries.ts'
import { type Folder, missing } from './postgres-folder.ts'

const largestLog = 16 * 1024 * 1024

/*
 * Runs the command ("$@") until it ends or our end of the pipe closes, which happens however this process dies. Then it
 * interrupts the command, insists after a while, and removes the folder $remove if one is given. When the command ends
 * by itself the watcher is still reading, dies of SIGTERM (143), and the folder stays.
 */
const supervisor = `
trap '' INT
remove=$1; shift
exec 3<&0
"$@" </dev/null 3<&- &
command=$!
(
  while read -r line; do :; done <&3
  trap 'exit 0' TERM
  tries=0
  signal=INT
  while kill -$signal $command 2>/dev/null; do
    sleep 1 3<&- & wait $!
    tries=$((tries + 1))
    if [ $tries -ge 20 ]; then signal=QUIT; fi
  done
) &
watcher=$!
exec 3<&-
wait $command
code=$?
kill $watcher 2>/dev/null
wait $watcher
if [ $? -ne 143 ] && [ -n "$remove" ]; then rm -rf "$remove"; fi
exit $code
`

const supervisors = new Set<number>()

function interruptAll(): void {
  for (const pid of supervisors) {
    try {
      process.kill(-pid, 'SIGINT')
    } catch {
      // It has just ended.
    }
  }
}

/** `remove`: what the supervisor removes when stopped or orphaned. */
export async function supervise(folder: Folder, binaries: PostgresBinaries, command: string[], remove = '') {
  const size = (await stat(folder.log).catch(missing))?.size ?? 0
  if (size > largestLog) await truncate(folder.log)
  const offset = size > largestLog ? 0 : size
  const log = openSync(folder.log, 'a')
  // Detached: a Ctrl-C in the terminal must not reach the server before our own processes are done with it.
  const child = spawn('/bin/sh', ['-c', supervisor, 'florin-postgres', remove, ...command], {
    cwd: '/',
    env: postgresEnvironment(binaries),
    stdio: ['pipe', log, log],
    detached: true,
    ...folder.user,
  })
  closeSync(log)
  const { pid, stdin } = child
  let failure: string | undefined
  const exited = new Promise<number>((done) => {
    child.once('exit', (code) => done(code ?? 1))
    child.once('error', (error) => {
      failure = error.message
      done(1)
    })
  })
  if (pid !== undefined) {
    if (supervisors.size === 0) process.on('exit', interruptAll)
    supervisors.add(pid)
    void exited.then(() => {
      supervisors.delete(pid)
      if (supervisors.size === 0) process.off('exit', interruptAll)
    })
  }
  return {
    exited,
    unref: () => {
      child.unref()
      if (stdin && 'unref' in stdin && typeof stdin.unref === 'function') stdin.unref()
    },
    stop: async () => {
      child.ref()
      stdin?.end()
      await exited
    },
    log: async () => failure ?? lastLines(folder.log, offset),
  }
}

export async function lastLines(path: string, offset: number): Promise<string> {
  const file = await open(path).catch(missing)
  if (!file) return ''
  try {
    const { size } = await file.stat()
    const from = Math.max(offset, size - 20_000)
    const { buffer, bytesRead } = await file.read(Buffer.alloc(20_000), 0, 20_000, from)
    return buffer.toString('utf8', 0, bytesRead).trim().split('\n').slice(-30).join('\n')
  } finally {
    await file.close()
  }
}
