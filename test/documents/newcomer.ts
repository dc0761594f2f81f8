import { type ChildProcess, spawn } from 'node:child_process'
import { chmod, cp, mkdtemp, readFile, rm, symlink } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'

const root = join(import.meta.dirname, '../..')

/** A copy of the repository in which `florin dev` runs, as it does for somebody who follows the documents. */
export interface Newcomer {
  folder: string
  url: string
  token: string
  privateKey: string
  stop(): Promise<void>
}

const copied = ['bin', 'docs', 'migrations', 'public', 'src', 'openapi.json', 'package.json', 'schema.sql']

export async function startNewcomer(): Promise<Newcomer> {
  const folder = await mkdtemp(join(tmpdir(), 'florin-documents-'))
  // PostgreSQL runs as another user when root starts it.
  await chmod(folder, 0o755)
  await Promise.all(copied.map((name) => cp(join(root, name), join(folder, name), { recursive: true })))
  await symlink(join(root, 'node_modules'), join(folder, 'node_modules'))
  const child = spawn(process.execPath, ['src/main/florin.ts', 'dev', '--json', '--port', '0'], {
    cwd: folder,
    // How busy the machine is must not decide.
    env: { ...plainEnvironment(), FLORIN_VAULT_TIMEOUT_MS: '60000' },
    stdio: ['ignore', 'pipe', 'pipe'],
  })
  const ended = new Promise<void>((resolve) => child.once('close', () => resolve()))
  const stop = async () => {
    child.kill('SIGTERM')
    await ended
    await rm(folder, { recursive: true, force: true })
  }
  try {
    const ready = await firstLine(child)
    const { base_url: url, token } = JSON.parse(ready) as { base_url: string; token: string }
    return { folder, url, token, privateKey: await readFile(join(folder, '.florin/private-key.pem'), 'utf8'), stop }
  } catch (error) {
    await stop()
    throw error
  }
}

/** Without the settings of whoever runs the tests. */
export const plainEnvironment = (): NodeJS.ProcessEnv =>
  Object.fromEntries(Object.entries(process.env).filter(([name]) => !/^(DATABASE|FLORIN|NATS|npm)_/i.test(name)))

function firstLine(child: ChildProcess): Promise<string> {
  return new Promise((resolve, reject) => {
    let [stdout, stderr] = ['', '']
    child.stderr?.on('data', (data: Buffer) => (stderr += data.toString()))
    child.stdout?.on('data', (data: Buffer) => {
      stdout += data.toString()
      if (stdout.includes('\n')) resolve(stdout)
    })
    child.once('close', () => reject(new Error(`florin dev ended: ${stderr}`)))
  })
}
