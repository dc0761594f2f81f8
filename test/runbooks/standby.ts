import { execFile } from 'node:child_process'
import { chownSync, mkdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { defaultProcessUser } from '../../src/cli/postgres-binaries.ts'
import type { Cluster } from '../../src/cli/postgres-cluster.ts'

const run = promisify(execFile)

export interface Standby {
  port: number
  data: string
  stop(): Promise<void>
}

/** A second server that follows the first. */
export async function startStandby(primary: Cluster, folder: string, port: number): Promise<Standby> {
  const user = await defaultProcessUser()
  mkdirSync(folder, { mode: 0o700 })
  if (user) chownSync(folder, user.uid, user.gid)
  const data = join(folder, 'data')
  const program = (name: string) => join(primary.binaries.directory, name)
  const as = { cwd: '/', env: { PATH: process.env['PATH'] ?? '', LC_ALL: 'C' }, ...user }
  const source = `${primary.url()}?application_name=standby`
  await run(program('pg_basebackup'), ['-d', source, '-D', data, '-R', '-c', 'fast', '--no-sync'], as)
  const settings = `-p ${port} -c listen_addresses=127.0.0.1 -c unix_socket_directories= -c max_connections=200`
  await run(program('pg_ctl'), ['-D', data, '-l', join(folder, 'log'), '-w', '-o', settings, 'start'], as)
  return {
    port,
    data,
    stop: async () =>
      void (await run(program('pg_ctl'), ['-D', data, '-m', 'immediate', 'stop'], as).catch(() => undefined)),
  }
}

/** At once and without a word, as a machine that loses its power. */
export function killServer(cluster: Cluster): void {
  const pid = Number(readFileSync(join(cluster.directory, 'data/postmaster.pid'), 'utf8').split('\n')[0])
  process.kill(pid, 'SIGKILL')
}
