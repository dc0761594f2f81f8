import { randomBytes, randomUUID } from 'node:crypto'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import pg from 'pg'
import { afterEach, beforeEach, describe, expect, test } from 'vitest'
import { startVault, type VaultConfig } from '../src/main/vault.ts'
import { Secret } from '../src/platform/secret.ts'
import { connectVault, connectVaultKeys } from '../src/vault/client.ts'
import { useDatabase } from './database.ts'
import { startKmsServer, startTransitServer } from './key-servers.ts'
import { makeCardNumber, spawnVault, useFolder, vaultConfig, writeKeyFile } from './vault.ts'

const database = useDatabase()
const folder = useFolder()
const keyFile = writeKeyFile(folder)
const cleanups: (() => Promise<void>)[] = []
const owner = () => ({ merchantAccountId: 'default', id: randomUUID() })

beforeEach(async () => {
  await database.query('truncate vault.secrets, vault.keys')
})
afterEach(async () => {
  for (const cleanup of cleanups.splice(0).reverse()) await cleanup()
})

async function start(overrides: Partial<VaultConfig> = {}) {
  const logs: string[] = []
  const listen = `unix:${join(folder, `${randomBytes(4).toString('hex')}.sock`)}`
  const config = vaultConfig(database.url('florin_vault'), { keyFile, listen }, overrides)
  const vault = await startVault(config, (line) => logs.push(line))
  const client = connectVault({ url: vault.url, timeoutMs: 10_000 })
  const keys = connectVaultKeys({ url: vault.url, timeoutMs: 10_000 })
  let isClosed = false
  const close = async () => {
    if (isClosed) return
    isClosed = true
    await client.close()
    await keys.close()
    await vault.close()
  }
  cleanups.push(close)
  return { vault, client, keys, logs, close }
}

const versionsOfRows = async () =>
  (await database.query<{ key_version: number }>('select distinct key_version from vault.secrets order by 1')).map(
    ({ key_version }) => key_version,
  )

const stateOf = async (version: number) =>
  (
    await database.query<{ state: string }>("select state from vault.keys where purpose = 'data' and version = $1", [
      version,
    ])
  )[0]?.state

describe('the first start', () => {
  test('several vaults at once make one key of each purpose, and read each other’s cards', async () => {
    const vaults = await Promise.all(Array.from({ length: 6 }, () => start()))
    expect(await database.query('select purpose, version, state from vault.keys order by purpose')).toEqual([
      { purpose: 'data', version: 1, state: 'active' },
      { purpose: 'fingerprint', version: 1, state: 'active' },
    ])
    const number = makeCardNumber()
    const references = vaults.map(() => owner())
    const stored = await Promise.all(
      vaults.map(({ client }, index) => client.storeCard(references[index] ?? owner(), number)),
    )
    expect(new Set(stored.map(({ fingerprint }) => fingerprint)).size).toBe(1)
    for (const { client } of vaults) {
      for (const reference of references) expect(await client.readCard(reference)).toBe(number)
    }
  })

  test('no key is in the database as it is', async () => {
    await start()
    const [row] = await database.query<{ wrapped: Buffer }>('select wrapped from vault.keys')
    // Version, nonce, key and commitment, tag: as long as sealed, not as long as plain.
    expect(row?.wrapped).toHaveLength(1 + 12 + 64 + 16)
  })

  test('keys that are lost while rows are there are not replaced by new ones', async () => {
    const { client, close } = await start()
    await client.storeCard(owner(), makeCardNumber())
    await close()
    await database.query('truncate vault.keys')
    await expect(start()).rejects.toThrow(/no active data key in vault.keys.*Restore/s)
  })
})

describe('a start is refused, in words', () => {
  test('with another key-encryption key: as a process it ends with exit code 1 and says whose keys they are', async () => {
    await (await start()).close()
    const other = writeKeyFile(folder, 'other')
    const listen = `unix:${join(folder, 'refused.sock')}`
    const failure = await spawnVault(database.url('florin_vault'), { keyFile: other, listen }).catch(
      (error: Error) => error,
    )
    expect(failure).toBeInstanceOf(Error)
    const { message } = failure as Error
    expect(message).toMatch(/ended with 1/)
    expect(message).toMatch(/The data key version 1 cannot be opened: the key in .*other does not open it/)
    expect(message).toMatch(/It was wrapped by file:[0-9a-f]{16}, this vault uses file:[0-9a-f]{16}/)
  })

  test('on a database that lacks migrations, or none at all', async () => {
    await database.query("update florin_migrations set name = 'hidden' where name = '0006_vault'")
    await expect(start()).rejects.toThrow(/lacks the migrations 0006_vault: run florin migrate/)
    await database.query("update florin_migrations set name = '0006_vault' where name = 'hidden'")
    await expect(start({ databaseUrl: new Secret('postgresql://127.0.0.1:1/none') })).rejects.toThrow(
      /nothing listens there/,
    )
  })

  test('as another instance', async () => {
    await (await start()).close()
    await expect(start({ instance: 'another' })).rejects.toThrow(/cannot be opened.*FLORIN_INSTANCE/s)
  })

  test.each([
    ['purposes', "purpose = 'data' and version = 1", "purpose = 'fingerprint' and version = 1"],
    ['versions', "purpose = 'data' and version = 1", "purpose = 'data' and version = 2"],
  ])('with wrapped keys swapped between %s', async (_, left, right) => {
    const { keys, close } = await start()
    await keys.rotate()
    await close()
    const column = (where: string) => `(select wrapped from vault.keys where ${where})`
    await database.query(`
      update vault.keys set wrapped = case when ${left} then ${column(right)} else ${column(left)} end
      where (${left}) or (${right})`)
    await expect(start()).rejects.toThrow(/key version \d cannot be opened/)
  })

  test('with a whole row put in place of another', async () => {
    const { keys, close } = await start()
    await keys.rotate()
    await close()
    await database.query("update vault.keys set version = version + 10 where purpose = 'data'")
    await expect(start()).rejects.toThrow(/data key version 11 cannot be opened/)
  })

  test('with one bit of a wrapped key changed', async () => {
    await (await start()).close()
    await database.query(
      "update vault.keys set wrapped = set_bit(wrapped, 300, 1 - get_bit(wrapped, 300)) where purpose = 'data'",
    )
    await expect(start()).rejects.toThrow(/cannot be opened/)
  })
})

describe.each(['transit', 'aws-kms'] as const)('with keys wrapped by %s', (keyProvider) => {
  test('cards are stored, the key is rotated, and a restart reads them', async () => {
    const kms = {
      accessKeyId: 'AKIDEXAMPLEEXAMPLE',
      secretAccessKey: 'secret',
      region: 'eu-north-1',
      keyId: 'alias/florin',
    }
    const server =
      keyProvider === 'transit'
        ? await startTransitServer({ token: 'token', key: 'florin', derived: true })
        : await startKmsServer(kms)
    cleanups.push(server.close)
    const settings: Partial<VaultConfig> = {
      keyProvider,
      transitUrl: `${server.url}/v1/transit`,
      transitToken: new Secret('token'),
      transitKey: 'florin',
      awsRegion: kms.region,
      awsAccessKeyId: kms.accessKeyId,
      awsSecretAccessKey: new Secret(kms.secretAccessKey),
      awsKmsKeyId: kms.keyId,
      awsKmsEndpoint: server.url,
    }
    const first = await start(settings)
    const [before, after] = [owner(), owner()]
    const number = makeCardNumber()
    await first.client.storeCard(before, number)
    await first.keys.rotate()
    await first.client.storeCard(after, number)
    await first.close()
    const second = await start(settings)
    expect(await second.client.readCard(before)).toBe(number)
    expect(await second.client.readCard(after)).toBe(number)
    server.misbehave(...Array.from({ length: 3 }, () => ({ status: 500, body: {} })))
    await expect(second.keys.rotate()).rejects.toThrow(/answers with status 500/)
    expect(await second.client.readCard(before)).toBe(number)
  })
})

describe('rotation', () => {
  test('another vault stores with the new key and reads with it at once, before it has looked at the keys again', async () => {
    const [first, second] = [await start(), await start()]
    const [old, mine, theirs] = [owner(), owner(), owner()]
    const number = makeCardNumber()
    await first.client.storeCard(old, number)
    expect(await first.keys.rotate()).toEqual({ version: 2, before: 1 })
    await first.client.storeCard(mine, number)
    const began = performance.now()
    expect(await second.client.readCard(mine)).toBe(number)
    await second.client.storeCard(theirs, number)
    expect(performance.now() - began).toBeLessThan(1_500)
    expect(await second.client.readCard(old)).toBe(number)
    expect(
      await database.query('select key_version from vault.secrets where id = any($1)', [[mine.id, theirs.id]]),
    ).toEqual([{ key_version: 2 }, { key_version: 2 }])
    expect(await stateOf(1)).toBe('decrypt-only')
  })

  test('a vault that has not heard of it adds no row to the old key', async () => {
    const [first, second] = [await start(), await start()]
    for (let round = 0; round < 5; round += 1) {
      await database.query('truncate vault.secrets')
      const { version } = await first.keys.rotate()
      await Promise.all(Array.from({ length: 10 }, () => second.client.storeCard(owner(), makeCardNumber())))
      expect(await versionsOfRows()).toEqual([version])
    }
  })

  test('a waiting replacement is applied with the new key too', async () => {
    const [first, second] = [await start(), await start()]
    const reference = owner()
    const number = makeCardNumber()
    await second.client.storeCard(reference, makeCardNumber())
    await second.client.storeCard(reference, number, 'replacement')
    await first.keys.rotate()
    expect(await second.client.applyReplacement(reference)).toBe(true)
    expect(await second.client.readCard(reference)).toBe(number)
    expect(await versionsOfRows()).toEqual([2])
  })

  test('of several rotations at once each makes one key or says that another was faster; one key is active', async () => {
    const vaults = await Promise.all([start(), start(), start()])
    const results = await Promise.allSettled(vaults.map(({ keys }) => keys.rotate()))
    const made = results.filter(({ status }) => status === 'fulfilled').length
    expect(made).toBeGreaterThan(0)
    for (const result of results) {
      if (result.status === 'rejected') expect(String(result.reason)).toMatch(/another rotation was faster/)
    }
    const rows = await database.query("select version from vault.keys where purpose = 'data' and state = 'active'")
    expect(rows).toEqual([{ version: 1 + made }])
  })

  test('the fingerprint of a number stays the same over rotations', async () => {
    const { client, keys } = await start()
    const number = makeCardNumber()
    const { fingerprint } = await client.storeCard(owner(), number)
    await keys.rotate()
    expect((await client.storeCard(owner(), number)).fingerprint).toBe(fingerprint)
  })
})

describe('destroying', () => {
  test('is refused for the active key, for one with rows, for one not retired, and for one that never was', async () => {
    const { client, keys } = await start()
    await client.storeCard(owner(), makeCardNumber())
    await expect(keys.destroy(1)).rejects.toThrow(/is the active one: rotate first/)
    await keys.rotate()
    await expect(keys.destroy(1)).rejects.toThrow(/rows are still on it/)
    await database.query('truncate vault.secrets')
    await expect(keys.destroy(1)).rejects.toThrow(/it is not retired yet/)
    await expect(keys.destroy(9)).rejects.toThrow(/there is no data key version 9/)
  })

  test('is refused by the database itself while one row is on the key, retired or not', async () => {
    const { client, keys } = await start()
    await client.storeCard(owner(), makeCardNumber())
    await keys.rotate()
    await database.query("update vault.keys set state = 'retired' where purpose = 'data' and version = 1")
    await expect(keys.destroy(1)).rejects.toThrow(/rows are still on it/)
    expect(await stateOf(1)).toBe('retired')
  })
})

test('a rewrap passes over rows that do not open, names them in the log, and does not retire their key', async () => {
  const { client, keys, logs } = await start()
  const references = Array.from({ length: 20 }, owner)
  await Promise.all(references.map((reference) => client.storeCard(reference, makeCardNumber())))
  const [broken = owner()] = references
  await database.query(
    'update vault.secrets set sealed = set_byte(sealed, 20, 255 - get_byte(sealed, 20)) where id = $1',
    [broken.id],
  )
  await keys.rotate()
  // As if the rotation were long past: nothing under way can use the old key any more.
  await database.query("update vault.keys set changed_at = now() - interval '1 hour' where state = 'decrypt-only'")
  const progress: { done: number; failed: number; finished: boolean; left: number }[] = []
  await keys.rewrap((line) => progress.push(line))
  expect(progress.at(-1)).toMatchObject({ done: 19, failed: 1, left: 1, finished: true, retired: [] })
  expect(logs.filter((line) => line.includes('a row does not open') && line.includes(broken.id))).toHaveLength(1)
  expect(await stateOf(1)).toBe('decrypt-only')
})

test('a store that was under way when the key was rotated is waited for: its row is moved, and only then the key retires', async () => {
  const { client, keys } = await start()
  const reference = owner()
  const number = makeCardNumber()
  await client.storeCard(reference, number)
  const [row] = await database.query<{ sealed: Buffer }>('select sealed from vault.secrets')
  await client.remove([reference])
  const late = new pg.Client({ connectionString: database.url('florin_vault') })
  await late.connect()
  await late.query('begin')
  await late.query(
    `insert into vault.secrets (created_at, key_version, id, merchant_account_id, field, sealed)
     values (now(), 1, $1, $2, 'number', $3)`,
    [reference.id, reference.merchantAccountId, row?.sealed],
  )
  await keys.rotate()
  await sleep(1_500)
  // The time that is always waited has passed; what is left is the transaction itself.
  await database.query("update vault.keys set changed_at = now() - interval '11 seconds' where state = 'decrypt-only'")
  const rewrapping = keys.rewrap(() => undefined)
  await sleep(1_000)
  expect(await stateOf(1)).toBe('decrypt-only')
  await late.query('commit')
  await late.end()
  await rewrapping
  expect(await stateOf(1)).toBe('retired')
  expect(await versionsOfRows()).toEqual([2])
  expect(await client.readCard(reference)).toBe(number)
})

test('encryptions are counted, and beyond 2^30 the vault warns', async () => {
  const { client, close } = await start()
  for (let count = 0; count < 7; count += 1) await client.storeCard(owner(), makeCardNumber())
  await close()
  const count = async () =>
    (
      await database.query<{ encryptions: string }>("select encryptions::text from vault.keys where purpose = 'data'")
    )[0]?.encryptions
  expect(await count()).toBe('7')
  await database.query("update vault.keys set encryptions = 1073741824 where purpose = 'data'")
  const { logs, vault } = await start()
  expect(logs.filter((line) => line.includes('more than 2^30 encryptions'))).toHaveLength(1)
  expect(await (await fetch(`${vault.privateUrl}/metrics`)).text()).toContain(
    'florin_vault_key_encryptions{version="1",state="active"} 1073741824',
  )
})

test('a socket left behind by a killed vault is taken over; one in use is not', async () => {
  const listen = `unix:${join(folder, 'taken.sock')}`
  const killed = await spawnVault(database.url('florin_vault'), { keyFile, listen })
  const second = spawnVault(database.url('florin_vault'), { keyFile, listen })
  await expect(second, 'and it ends instead of hanging').rejects.toThrow(/ended with 1: .*another vault listens on/s)
  const ended = new Promise((resolve) => killed.child.once('close', resolve))
  killed.child.kill('SIGKILL')
  await ended
  const { client } = await start({ vaultListen: listen })
  const reference = owner()
  const number = makeCardNumber()
  await client.storeCard(reference, number)
  expect(await client.readCard(reference)).toBe(number)
})
