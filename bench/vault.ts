import { type ChildProcess, spawn } from 'node:child_process'
import { randomBytes, randomInt, randomUUID } from 'node:crypto'
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { createInterface } from 'node:readline'
import { parseArgs } from 'node:util'
import { startCluster } from '../src/cli/postgres-cluster.ts'
import { migrate } from '../src/platform/migrations.ts'
import {
  connectVault,
  connectVaultKeys,
  type RewrapProgress,
  type SecretReference,
  type Vault,
} from '../src/vault/client.ts'

/** What the vault does a second, and how long a call takes: against a PostgreSQL that really writes to disk. */
const { values: options } = parseArgs({
  options: {
    seconds: { type: 'string', default: '5' },
    rows: { type: 'string', default: '100000' },
    help: { type: 'boolean', default: false },
  },
})
if (options.help) {
  console.log(
    'npm run bench:vault -- [--seconds 5] [--rows 100000]\n\nExample: npm run bench:vault -- --seconds 2 --rows 20000',
  )
  process.exit(0)
}
const seconds = Number(options.seconds)
const floors = { storeAt32: 1_000, rewrap: 5_000 }
const note = (line: string) => process.stderr.write(`${line}\n`)

async function startVault(databaseUrl: string, folder: string): Promise<{ child: ChildProcess; url: string }> {
  const keyFile = join(folder, 'key')
  writeFileSync(keyFile, randomBytes(32).toString('base64'))
  const child = spawn(process.execPath, [join(import.meta.dirname, '../src/main/vault.ts')], {
    env: {
      ...process.env,
      DATABASE_URL: databaseUrl,
      FLORIN_KEY_FILE: keyFile,
      FLORIN_VAULT_LISTEN: `unix:${join(folder, 'v.sock')}`,
    },
    stdio: ['ignore', 'pipe', 'inherit'],
  })
  const url = await new Promise<string>((resolve) => {
    createInterface({ input: child.stdout }).on('line', (line) => {
      const [, address] = /"address":"([^"]+)","message":"guarding"/.exec(line) ?? []
      if (address) resolve(address)
    })
  })
  return { child, url }
}

interface Figures {
  per_second: number
  p50_ms: number
  p99_ms: number
}

async function measure(inFlight: number, work: () => Promise<unknown>): Promise<Figures> {
  const times: number[] = []
  const start = performance.now()
  const end = start + seconds * 1000
  await Promise.all(
    Array.from({ length: inFlight }, async () => {
      while (performance.now() < end) {
        const before = performance.now()
        await work()
        times.push(performance.now() - before)
      }
    }),
  )
  const sorted = times.toSorted((left, right) => left - right)
  const at = (share: number) => Math.round((sorted[Math.floor(sorted.length * share)] ?? 0) * 100) / 100
  return {
    per_second: Math.round(times.length / ((performance.now() - start) / 1000)),
    p50_ms: at(0.5),
    p99_ms: at(0.99),
  }
}

const newOwner = (): SecretReference => ({ merchantAccountId: 'default', id: randomUUID() })
const newNumber = () => `4000000${String(randomInt(1_000_000_000)).padStart(9, '0')}`

async function fill(vault: Vault, owners: SecretReference[], rows: number): Promise<void> {
  while (owners.length < rows) {
    const more = Array.from({ length: Math.min(512, rows - owners.length) }, newOwner)
    await Promise.all(more.map((owner) => vault.storeCard(owner, newNumber())))
    owners.push(...more)
  }
}

const folder = mkdtempSync(join(tmpdir(), 'fvb-'))
const cluster = await startCluster({ dataDirectory: join(folder, 'pg') })
await migrate(cluster.url())
const { child, url } = await startVault(cluster.url({ user: 'florin_vault' }), folder)
const vault = connectVault({ url, timeoutMs: 30_000 })
const keys = connectVaultKeys({ url })
try {
  const owners: SecretReference[] = []
  await fill(vault, owners, 2_000)
  const store = async () => vault.storeCard(newOwner(), newNumber())
  const read = async () => vault.readCard(owners[randomInt(owners.length)] ?? newOwner())
  const figures: Record<string, Figures> = {}
  for (const inFlight of [1, 32]) {
    note(`store, ${inFlight} in flight`)
    figures[`store_${inFlight}`] = await measure(inFlight, store)
    note(`read, ${inFlight} in flight`)
    figures[`read_${inFlight}`] = await measure(inFlight, read)
  }
  note(`filling to ${options.rows} rows, then rotating and rewrapping`)
  await fill(vault, owners, Number(options.rows))
  await keys.rotate()
  const progress: RewrapProgress[] = []
  const start = performance.now()
  let lastMove = start
  await keys.rewrap((line) => {
    if (line.done > (progress.at(-1)?.done ?? 0)) lastMove = performance.now()
    progress.push(line)
  })
  const done = progress.at(-1)?.done ?? 0
  // The end of a rewrap waits for stores that might still be under way; that is not work.
  const rewrapPerSecond = Math.round(done / ((lastMove - start) / 1000))
  const passed = (figures['store_32']?.per_second ?? 0) >= floors.storeAt32 && rewrapPerSecond >= floors.rewrap
  console.log(
    JSON.stringify({
      bench: 'vault',
      ...figures,
      rewrap_rows: done,
      rewrap_per_second: rewrapPerSecond,
      floors,
      passed,
    }),
  )
  process.exitCode = passed ? 0 : 1
} finally {
  await vault.close()
  await keys.close()
  child.kill('SIGTERM')
  await cluster.stop()
  rmSync(cluster.directory, { recursive: true, force: true })
  rmSync(folder, { recursive: true, force: true })
}
