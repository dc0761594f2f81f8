import { randomUUID } from 'node:crypto'
import { statSync } from 'node:fs'
import pg from 'pg'
import { expect, test } from 'vitest'
import { useDatabase } from './database.ts'
import { makeCardNumber, useVault } from './vault.ts'

const database = useDatabase()
const vault = useVault(database)
const owner = (merchantAccountId = 'default') => ({ merchantAccountId, id: randomUUID() })

test('a stored card can be read under its own reference and under no other', async () => {
  const reference = owner()
  const number = makeCardNumber()
  const { fingerprint } = await vault.client().storeCard(reference, number)
  expect(fingerprint).toMatch(/^[0-9a-f]{64}$/)
  expect(await vault.client().readCard(reference)).toBe(number)
  expect(await vault.client().readCard({ ...reference, merchantAccountId: 'other' })).toBeUndefined()
  expect(await vault.client().readCard(owner())).toBeUndefined()
  expect(await vault.client().readCard(reference, 'replacement')).toBeUndefined()
})
