import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import { chmodSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { delimiter, dirname, join } from 'node:path'
import { readUnit } from './units.ts'

/** What stands for systemd: it runs the units of deploy/systemd, with this machine's folders and ports in place of theirs. */
export interface Machine {
  /** For a shell: `systemctl`, `florin`, Node. */
  path: string
  start(unit: string): void
  stop(unit: string): Promise<void>
  output(unit: string): string
  close(): Promise<void>
}

export interface Places {
  folder: string
  etc: string
  releases: string
  /** More directories of programs. */
  programs: string[]
  ports: Record<string, Record<string, string>>
}

export async function startMachine({ folder, etc, releases, programs, ports }: Places): Promise<Machine> {
  const running = new Map<string, ChildProcess>()
  const outputs = new Map<string, string>()
  const node = dirname(process.execPath)

  function start(name: string): void {
    if (running.has(name)) return
    const { command, environment, credentials } = readUnit(name)
    const ours = (text: string) =>
      text
        .replaceAll('/opt/florin', releases)
        .replaceAll('/etc/florin', etc)
        .replaceAll('/run/florin', join(folder, 'run'))
    // systemd copies credentials to a folder of the process when it starts; here the process reads the files themselves.
    const given = Object.entries(environment).map(([key, value]) => [
      key,
      ours(value.replace(/^%d\/(.*)$/, (_, credential: string) => credentials[credential] ?? '')),
    ])
    const child = spawn(command[0] ?? '', command.slice(1), {
      cwd: join(releases, 'current'),
      env: {
        ...(Object.fromEntries(given) as Record<string, string>),
        ...readEnvironmentFile(join(etc, 'florin.env')),
        ...ports[name],
        FLORIN_DRAIN_DELAY_MS: '0',
        PATH: [node, process.env['PATH']].join(delimiter),
      },
      stdio: ['ignore', 'pipe', 'pipe'],
    })
    const keep = (chunk: Buffer) => outputs.set(name, (outputs.get(name) ?? '') + chunk.toString())
    child.stdout.on('data', keep)
    child.stderr.on('data', keep)
    running.set(name, child)
  }

  async function stop(name: string): Promise<void> {
    const child = running.get(name)
    running.delete(name)
    if (!child || child.exitCode !== null) return
    const ended = once(child, 'close')
    child.kill('SIGTERM')
    await ended
  }

  const control = createServer((request, response) => {
    const [, verb = '', unit = ''] = (request.url ?? '').split('/')
    const done = async () => {
      if (!/^(start|stop|restart)$/.test(verb)) throw new Error(`systemctl ${verb} is not known here`)
      if (verb !== 'start') await stop(unit)
      if (verb !== 'stop') start(unit)
    }
    done().then(
      () => response.end(),
      (error: unknown) => response.writeHead(500).end(String(error)),
    )
  }).listen(0, '127.0.0.1')
  await once(control, 'listening')

  const shims = join(folder, 'programs')
  mkdirSync(shims)
  const { port } = control.address() as AddressInfo
  writeProgram(join(shims, 'systemctl'), `exec curl -fsS "http://127.0.0.1:${port}/$1/$2"`)
  writeProgram(join(shims, 'florin'), `exec "${releases}/current/bin/florin" "$@"`)
  return {
    path: [shims, node, ...programs, process.env['PATH']].join(delimiter),
    start,
    stop,
    output: (name) => outputs.get(name) ?? '',
    async close() {
      for (const name of [...running.keys()].reverse()) await stop(name)
      control.closeAllConnections()
      control.close()
    },
  }
}

function writeProgram(path: string, text: string): void {
  writeFileSync(path, `#!/bin/sh\n${text}\n`)
  chmodSync(path, 0o755)
}

const readEnvironmentFile = (path: string) =>
  Object.fromEntries(
    readFileSync(path, 'utf8')
      .split('\n')
      .filter((line) => line.includes('='))
      .map((line) => line.split(/=(.*)/s, 2) as [string, string]),
  )
