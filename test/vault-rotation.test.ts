import { createSecretKey, randomInt, randomUUID } from 'node:crypto'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { connectVault, type RewrapProgress, type SecretReference, type Vault } from '../src/vault/client.ts'
import { unwrapKey } from '../src/vault/key-provider.ts'
import { fileKeyProvider } from '../src/vault/key-providers/file.ts'
import { seal } from '../src/vault/sealing.ts'
import { useDatabase } from './database.ts'
import { makeCardNumber, runVaultCommand, type SpawnedVault, spawnVault, useFolder, writeKeyFile } from './vault.ts'

const database = useDatabase()
const folder = useFolder()
const keyFile = writeKeyFile(folder)
const rows = Number(process.env['VAULT_ROTATION_ROWS'] ?? 9_000)
const vaults: SpawnedVault[] = []
const clients: Vault[] = []

async function startAnother(name: string): Promise<Vault> {
  const vault = await spawnVault(database.url('florin_vault'), {
    keyFile,
    listen: `unix:${join(folder, `${name}.sock`)}`,
    env: { FLORIN_LOG_LEVEL: 'info' },
  })
  const client = connectVault({ url: vault.url, timeoutMs: 10_000 })
  vaults.push(vault)
  clients.push(client)
  return client
}

beforeAll(async () => {
  await startAnother('a')
  await startAnother('b')
})
afterAll(async () => {
  for (const client of clients) await client.close()
  for (const vault of vaults) await vault.stop()
})

interface StoredCard {
  reference: SecretReference
  number: string
}

/** Many cards at once, sealed here with the vault's own key: through the vault it would take longer than the test itself. */
async function fill(count: number): Promise<StoredCard[]> {
  const [row] = await database.query<{ id: string; wrapped: Buffer }>(
    "select id, wrapped from vault.keys where purpose = 'data' and version = 1",
  )
  if (!row) throw new Error('there is no key')
  const context = { instance: 'test', id: row.id, purpose: 'data', version: 1 } as const
  const key = createSecretKey((await unwrapKey(fileKeyProvider(keyFile), context, row.wrapped)).export())
  const cards = Array.from({ length: count }, () => ({
    reference: { merchantAccountId: `account-${randomInt(20)}`, id: randomUUID() },
    number: makeCardNumber(),
  }))
  const sealed = cards.map(({ reference, number }) =>
    seal(key, { instance: 'test', ...reference, field: 'number' }, Buffer.from(number)),
  )
  await database.query(
    `insert into vault.secrets (created_at, key_version, id, merchant_account_id, field, sealed)
     select now(), 1, id, account, 'number', sealed
     from unnest($1::uuid[], $2::text[], $3::bytea[]) as filled (id, account, sealed)`,
    [cards.map(({ reference }) => reference.id), cards.map(({ reference }) => reference.merchantAccountId), sealed],
  )
  return cards
}

/** Stores, replaces, reads and removes cards of its own, and reads everybody's, over both vaults, until told to stop. */
async function workload(cards: readonly StoredCard[], stop: AbortSignal) {
  const tally = { calls: 0, failures: [] as string[], kept: [] as StoredCard[] }
  const pick = () => clients[randomInt(2)] as Vault
  const expectNumber = (found: string | undefined, wanted: string | undefined, what: string) => {
    if (found !== wanted) tally.failures.push(`${what}: another number, or none`)
  }
  const steps: ((card: StoredCard) => Promise<void>)[] = [
    async ({ reference, number }) => void (await pick().storeCard(reference, number)),
    async ({ reference, number }) => expectNumber(await pick().readCard(reference), number, 'own card'),
    async (card) => {
      card.number = makeCardNumber()
      await pick().storeCard(card.reference, card.number, 'replacement')
    },
    async ({ reference }) => {
      if (!(await pick().applyReplacement(reference))) tally.failures.push('the replacement was not there')
    },
    async ({ reference, number }) => expectNumber(await pick().readCard(reference), number, 'replaced card'),
    async () => {
      const card = cards[randomInt(cards.length)]
      if (card) expectNumber(await pick().readCard(card.reference), card.number, 'old card')
    },
    async (card) => {
      if (randomInt(3) > 0) return void tally.kept.push(card)
      await pick().remove([card.reference])
      expectNumber(await pick().readCard(card.reference), undefined, 'removed card')
    },
  ]
  await Promise.all(
    Array.from({ length: 8 }, async () => {
      while (!stop.aborted) {
        const card = { reference: { merchantAccountId: 'busy', id: randomUUID() }, number: makeCardNumber() }
        for (const step of steps) {
          tally.calls += 1
          await step(card).catch((error: Error) => tally.failures.push(`${error.name}: ${error.message}`))
        }
      }
    }),
  )
  return tally
}

const listKeys = async () => {
  const { stdout } = await runVaultCommand(['keys', 'list', '--json'], vaults[0]?.url ?? '').done
  const { keys } = JSON.parse(stdout) as { keys: { purpose: string; version: number; state: string; rows: number }[] }
  return keys.filter(({ purpose }) => purpose === 'data').map(({ version, state }) => `${version} ${state}`)
}

test('the data key is rotated, every row rewrapped and the old key destroyed while two vaults are at work: no call fails', async () => {
  const [a = '', b = ''] = vaults.map(({ url }) => url)
  const cards = await fill(rows)
  const stop = new AbortController()
  const working = workload(cards, stop.signal)

  const rotated = await runVaultCommand(['keys', 'rotate'], a).done
  expect(rotated).toMatchObject({
    code: 0,
    stdout: expect.stringMatching(/version 2 is active; version 1 only decrypts/),
  })
  expect(await listKeys()).toEqual(['1 decrypt-only', '2 active'])

  // The first one is killed on its way; what it has done is done, and the next ones find the rest.
  const interrupted = runVaultCommand(['keys', 'rewrap', '--json'], a)
  while (interrupted.lines.length === 0 && interrupted.child.exitCode === null) await sleep(10)
  interrupted.child.kill('SIGKILL')
  await interrupted.done
  const [first] = interrupted.lines.map((line) => JSON.parse(line) as RewrapProgress)

  const runs = await Promise.all([a, b].map((url) => runVaultCommand(['keys', 'rewrap', '--json'], url).done))
  const ends = runs.map(({ stdout }) => JSON.parse(stdout.split('\n').at(-1) ?? '{}') as RewrapProgress)
  for (const [index, end] of ends.entries()) {
    expect(runs[index]).toMatchObject({ code: 0, stderr: '' })
    expect(end).toMatchObject({ finished: true, failed: 0, left: 0 })
  }
  expect(ends.flatMap(({ retired }) => retired)).toEqual([1])
  expect(await database.query('select distinct key_version from vault.secrets')).toEqual([{ key_version: 2 }])

  const destroyed = await runVaultCommand(['keys', 'destroy', '1'], b).done
  expect(destroyed).toMatchObject({ code: 0, stdout: 'data key version 1 is destroyed' })
  expect(await listKeys()).toEqual(['1 destroyed', '2 active'])
  const [key] = await database.query("select wrapped from vault.keys where purpose = 'data' and version = 1")
  expect(key).toEqual({ wrapped: null })

  await sleep(500)
  stop.abort()
  const { calls, failures, kept } = await working
  expect(failures).toEqual([])
  expect(calls).toBeGreaterThan(500)

  // A vault that never held the old key reads everything that was ever stored.
  const fresh = await startAnother('c')
  const everything = [...cards, ...kept]
  let wrong = 0
  for (let start = 0; start < everything.length; start += 500) {
    const numbers = await Promise.all(
      everything.slice(start, start + 500).map(({ reference }) => fresh.readCard(reference)),
    )
    wrong += numbers.filter((number, index) => number !== everything[start + index]?.number).length
  }
  expect(wrong).toBe(0)
  const seconds = first ? first.done / first.rows_per_second : 0
  process.stderr.write(
    `rewrap under load: ${first?.rows_per_second} rows a second over ${seconds.toFixed(1)} s; ` +
      `${calls} calls meanwhile, 0 failed; ${everything.length} cards readable\n`,
  )
})

test('what cannot be done is told by the command, with exit code 1', async () => {
  const [url = ''] = vaults.map((vault) => vault.url)
  expect(await runVaultCommand(['keys', 'destroy', '2'], url).done).toMatchObject({
    code: 1,
    stderr: 'error: The vault refuses: data key version 2 is the active one: rotate first.\n',
  })
  const nowhere = await runVaultCommand(['keys', 'list'], `unix:${join(folder, 'nowhere.sock')}`).done
  expect(nowhere.code).toBe(1)
  expect(nowhere.stderr).toMatch(/^error: The vault at unix:.*nowhere.sock did not do it: .*ENOENT.*FLORIN_VAULT_URL/)
  const listed = await runVaultCommand(['keys', 'list'], url).done
  expect(listed.stdout).toMatch(/^KEY +STATE +CREATED +ROWS +ENCRYPTIONS +WRAPPED BY\ndata 1 +destroyed/)
})

test('every command explains itself', async () => {
  const commands = ['', 'keys', 'keys list', 'keys rotate', 'keys rewrap', 'keys destroy']
  const runs = await Promise.all(
    commands.map((command) => runVaultCommand([...command.split(' ').filter(Boolean), '--help'], '').done),
  )
  for (const { code, stdout } of runs) {
    expect(code).toBe(0)
    expect(stdout).toMatch(/Examples?:\n {2}\$ florin vault/)
  }
})
