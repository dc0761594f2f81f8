import { randomUUID } from 'node:crypto'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import pg from 'pg'
import { afterEach, expect, test } from 'vitest'
import { answerError } from '../src/http/errors.ts'
import { connectVault, VaultUnavailableError } from '../src/vault/client.ts'
import { useDatabase } from './database.ts'
import { makeCardNumber, type SpawnedVault, spawnVault, useFolder, writeKeyFile } from './vault.ts'

const database = useDatabase()
const folder = useFolder()
const keyFile = writeKeyFile(folder)
const listen = `unix:${join(folder, 'v.sock')}`
const owner = () => ({ merchantAccountId: 'default', id: randomUUID() })
const cleanups: (() => Promise<void>)[] = []
afterEach(async () => {
  for (const cleanup of cleanups.splice(0)) await cleanup()
})

async function start(): Promise<SpawnedVault> {
  const vault = await spawnVault(database.url('florin_vault'), { keyFile, listen })
  cleanups.push(vault.stop)
  return vault
}

function connect() {
  const client = connectVault({ url: listen })
  cleanups.push(client.close)
  return client
}

/** How every one of the calls ended, and after how long the last of them. */
async function outcomes(calls: readonly Promise<unknown>[]) {
  const began = performance.now()
  const settled = await Promise.allSettled(calls)
  const errors = settled.map((result) => (result.status === 'rejected' ? result.reason : undefined) as unknown)
  return { errors, ms: performance.now() - began }
}

async function msUntilServed(client: ReturnType<typeof connect>): Promise<number> {
  const began = performance.now()
  for (;;) {
    try {
      await client.storeCard(owner(), makeCardNumber())
      return performance.now() - began
    } catch (error) {
      if (!(error instanceof VaultUnavailableError)) throw error
      await sleep(20)
    }
  }
}

test('no vault at all: every call fails at once', async () => {
  const client = connect()
  const { errors, ms } = await outcomes([client.readCard(owner()), client.storeCard(owner(), makeCardNumber())])
  expect(errors.every((error) => error instanceof VaultUnavailableError)).toBe(true)
  expect(ms).toBeLessThan(5_000)
})

test('killed: calls under way and after fail within 2 s, and it serves within 2 s of its return', async () => {
  const vault = await start()
  const client = connect()
  const reference = owner()
  const number = makeCardNumber()
  await client.storeCard(reference, number)
  const underWay = Array.from({ length: 100 }, () => client.storeCard(owner(), makeCardNumber()))
  vault.child.kill('SIGKILL')
  const during = await outcomes(underWay)
  expect(during.errors.every((error) => error === undefined || error instanceof VaultUnavailableError)).toBe(true)
  expect(during.ms).toBeLessThan(5_000)
  const after = await outcomes(Array.from({ length: 20 }, () => client.readCard(reference)))
  expect(after.errors.every((error) => error instanceof VaultUnavailableError)).toBe(true)
  expect(after.ms).toBeLessThan(5_000)
  await start()
  expect(await msUntilServed(client)).toBeLessThan(10_000)
  expect(await client.readCard(reference)).toBe(number)
})

test('stopped in its tracks: calls fail within 2 s although the connection stands, and it serves within 2 s of going on', async () => {
  const vault = await start()
  const client = connect()
  const reference = owner()
  const number = makeCardNumber()
  await client.storeCard(reference, number)
  vault.child.kill('SIGSTOP')
  for (let round = 0; round < 2; round += 1) {
    const { errors, ms } = await outcomes(Array.from({ length: 150 }, () => client.readCard(reference)))
    expect(errors.every((error) => error instanceof VaultUnavailableError)).toBe(true)
    expect(ms).toBeLessThan(5_000)
  }
  vault.child.kill('SIGCONT')
  expect(await msUntilServed(client)).toBeLessThan(10_000)
  expect(await client.readCard(reference)).toBe(number)
})

test('gone on, it does not work off the calls that nobody waits for any more, but for removals', async () => {
  const vault = await start()
  const client = connect()
  const doomed = owner()
  await client.storeCard(doomed, makeCardNumber())
  vault.child.kill('SIGSTOP')
  const references = Array.from({ length: 60 }, owner)
  await outcomes([
    ...references.map((reference) => client.storeCard(reference, makeCardNumber())),
    client.remove([doomed]),
  ])
  vault.child.kill('SIGCONT')
  await msUntilServed(client)
  const ids = async () => (await database.query<{ id: string }>('select id from vault.secrets')).map(({ id }) => id)
  await expect.poll(ids).not.toContain(doomed.id)
  expect((await ids()).filter((id) => references.some((reference) => reference.id === id))).toEqual([])
})

test('asked to end, it finishes what is under way: a rolling restart loses no call that it took', async () => {
  const vault = await start()
  const client = connectVault({ url: listen, timeoutMs: 10_000 })
  cleanups.push(client.close)
  await client.storeCard(owner(), makeCardNumber())
  const references = Array.from({ length: 60 }, owner)
  const calls = references.map((reference) => client.storeCard(reference, makeCardNumber()))
  await Promise.race(calls)
  await vault.stop()
  const settled = await Promise.allSettled(calls)
  await start()
  for (const [index, { status }] of settled.entries()) {
    const reference = references[index] ?? owner()
    // A call that got an answer is stored; one that came too late was told so.
    if (status === 'fulfilled') expect(await client.readCard(reference)).toBeDefined()
  }
  expect(settled.filter(({ status }) => status === 'fulfilled').length).toBeGreaterThan(0)
})

test('a call that waits for a locked row holds up no other', async () => {
  await start()
  const client = connect()
  const locked = owner()
  await client.storeCard(locked, makeCardNumber())
  const admin = new pg.Client({ connectionString: database.url() })
  await admin.connect()
  await admin.query('begin')
  await admin.query('select from vault.secrets where id = $1 for update', [locked.id])
  const waiting = client.storeCard(locked, makeCardNumber()).catch((error: unknown) => error)
  await sleep(50)
  const others = await outcomes([
    ...Array.from({ length: 20 }, () => client.storeCard(owner(), makeCardNumber())),
    ...Array.from({ length: 20 }, () => client.readCard(locked)),
  ])
  expect(others.errors.filter(Boolean)).toEqual([])
  expect(others.ms).toBeLessThan(1_400)
  await admin.query('rollback')
  await admin.end()
  await waiting
})

test('for the caller of the API a vault that does not answer is 504 gateway_timeout', () => {
  const { status, code } = answerError(new VaultUnavailableError('the vault cannot be reached'))
  expect({ status, code }).toEqual({ status: 504, code: 'gateway_timeout' })
})
