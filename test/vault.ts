import { type ChildProcess, spawn } from 'node:child_process'
import { randomBytes, randomInt } from 'node:crypto'
import { once } from 'node:events'
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { createInterface } from 'node:readline'
import { afterAll, beforeAll } from 'vitest'
import { startVault, type VaultConfig, type VaultProcess } from '../src/main/vault.ts'
import { Secret } from '../src/platform/secret.ts'
import { connectVault, connectVaultKeys, type Vault, type VaultKeys } from '../src/vault/client.ts'
import { codeCache } from './code-cache.ts'
import type { TestDatabase } from './database.ts'

/** A card number of nobody: the range is for tests, the rest is chance, the last digit makes it valid. */
export function makeCardNumber(): string {
  const digits = `400000${String(randomInt(1_000_000_000)).padStart(9, '0')}`
  const sum = digits.split('').reduce((total, digit, index) => {
    const doubled = index % 2 === 0 ? Number(digit) * 2 : Number(digit)
    return total + (doubled > 9 ? doubled - 9 : doubled)
  }, 0)
  return digits + String((10 - (sum % 10)) % 10)
}

/** Short, because the path of a socket may have about 100 characters; removed when the file's tests are over. */
export function useFolder(): string {
  const folder = mkdtempSync(join(tmpdir(), 'fv-'))
  afterAll(() => rmSync(folder, { recursive: true, force: true }))
  return folder
}

export function writeKeyFile(folder: string, name = 'key'): string {
  const path = join(folder, name)
  writeFileSync(path, `${randomBytes(32).toString('base64')}\n`, { mode: 0o600 })
  return path
}

export function vaultConfig(
  databaseUrl: string,
  { keyFile, listen }: { keyFile: string; listen: string },
  overrides: Partial<VaultConfig> = {},
): VaultConfig {
  return {
    environment: 'sandbox',
    instance: 'test',
    databaseUrl: new Secret(databaseUrl),
    databaseDirectUrl: undefined,
    databasePoolSize: 10,
    privateHost: '127.0.0.1',
    privatePort: 0,
    logLevel: 'info',
    drainDelayMs: 0,
    shutdownTimeoutMs: 10_000,
    vaultListen: listen,
    vaultTlsCa: undefined,
    vaultTlsCert: undefined,
    vaultTlsKey: undefined,
    keyProvider: 'file',
    keyFile,
    transitUrl: undefined,
    transitToken: undefined,
    transitKey: undefined,
    awsRegion: undefined,
    awsAccessKeyId: undefined,
    awsSecretAccessKey: undefined,
    awsKmsKeyId: undefined,
    awsKmsEndpoint: undefined,
    ...overrides,
  }
}

export interface TestVault {
  client(): Vault
  keys(): VaultKeys
  url(): string
  privateUrl(): string
  folder: string
  keyFile: string
  logs: string[]
}

/** A vault in this process, on the test file's own database. */
export function useVault(database: TestDatabase, overrides: Partial<VaultConfig> = {}): TestVault {
  const folder = useFolder()
  const keyFile = writeKeyFile(folder)
  const logs: string[] = []
  let vault: VaultProcess
  let client: Vault
  let keys: VaultKeys
  beforeAll(async () => {
    const listen = `unix:${join(folder, 'v.sock')}`
    const config = vaultConfig(database.url('florin_vault'), { keyFile, listen }, overrides)
    vault = await startVault(config, (line) => logs.push(line))
    client = connectVault({ url: vault.url, timeoutMs: 10_000 })
    keys = connectVaultKeys({ url: vault.url })
  })
  afterAll(async () => {
    await client.close()
    await keys.close()
    await vault.close()
  })
  return {
    client: () => client,
    keys: () => keys,
    url: () => vault.url,
    privateUrl: () => vault.privateUrl,
    folder,
    keyFile,
    logs,
  }
}

export interface SpawnedVault {
  child: ChildProcess
  url: string
  /** What it logged, line by line. */
  lines: string[]
  stop(): Promise<void>
}

const root = join(import.meta.dirname, '..')

/** A vault as a process of its own. Fails with what it wrote when it ends before it is ready. */
export async function spawnVault(
  databaseUrl: string,
  { keyFile, listen, env = {} }: { keyFile: string; listen: string; env?: Record<string, string> },
): Promise<SpawnedVault> {
  const inherited = Object.entries(process.env).filter(([name]) => !/^(DATABASE|FLORIN)_/.test(name))
  const child = spawn(process.execPath, [join(root, 'src/main/vault.ts')], {
    cwd: root,
    env: {
      ...Object.fromEntries(inherited),
      DATABASE_URL: databaseUrl,
      FLORIN_INSTANCE: 'test',
      FLORIN_KEY_FILE: keyFile,
      FLORIN_VAULT_LISTEN: listen,
      ...env,
    },
    stdio: ['ignore', 'pipe', 'pipe'],
  })
  const lines: string[] = []
  const ready = Promise.withResolvers<string>()
  for (const input of [child.stdout, child.stderr]) {
    createInterface({ input }).on('line', (line) => {
      lines.push(line)
      const [, address] = /"address":"([^"]+)","message":"guarding"/.exec(line) ?? []
      if (address) ready.resolve(address)
    })
  }
  child.once('close', (code) => ready.reject(new Error(`the vault ended with ${code}: ${lines.join('\n')}`)))
  const url = await ready.promise
  return {
    child,
    url,
    lines,
    async stop() {
      if (child.exitCode !== null || child.signalCode !== null) return
      const closed = once(child, 'close')
      child.kill('SIGCONT')
      child.kill('SIGTERM')
      await closed
    },
  }
}

const commandLine = `
  import { Command } from 'commander'
  import { vaultCommand } from '${root}/src/cli/commands/vault.ts'
  import { reportError } from '${root}/src/cli/output.ts'
  const program = new Command('florin').addCommand(vaultCommand())
  await program.parseAsync(process.argv.slice(1), { from: 'user' }).catch((error) => reportError(error, false))`

export interface CommandRun {
  child: ChildProcess
  lines: string[]
  done: Promise<{ code: number | null; stdout: string; stderr: string }>
}

/** `florin vault …` as a process of its own. */
export function runVaultCommand(args: readonly string[], vaultUrl: string): CommandRun {
  const child = spawn(process.execPath, ['--input-type=module', '-e', commandLine, 'vault', ...args], {
    cwd: root,
    env: {
      PATH: process.env['PATH'],
      ...codeCache,
      FLORIN_VAULT_URL: vaultUrl,
    },
    stdio: ['ignore', 'pipe', 'pipe'],
  })
  const lines: string[] = []
  let stderr = ''
  createInterface({ input: child.stdout }).on('line', (line) => lines.push(line))
  child.stderr.on('data', (chunk: Buffer) => (stderr += chunk.toString()))
  const done = once(child, 'close').then(([code]) => ({
    code: code as number | null,
    stdout: lines.join('\n'),
    stderr,
  }))
  return { child, lines, done }
}
