import { afterAll, beforeAll, expect, test } from 'vitest'
import { useApi } from '../../../../test/api.ts'
import { commandLineContext } from '../../../cli/command-line-context.ts'
import { newId, timeOfId } from '../../../ids.ts'
import { connect, type Database } from '../../../platform/postgres.ts'
import { auditEntry } from '../../audit-logs/operations.ts'
import type { NewCardRow } from '../store.ts'
import { storeRow } from './store-row.ts'

const api = useApi()
let db: Database
let statements: number
beforeAll(() => {
  db = connect({ url: api.database.url('florin_api'), applicationName: 'test', poolSize: 4, onError: () => undefined })
  db.pool.on('acquire', () => (statements += 1))
})
afterAll(() => db.close())

function put(account: string, change: Partial<NewCardRow> = {}) {
  const id = newId()
  const ctx = { ...commandLineContext(db, 'test'), accounts: [account] }
  const entry = auditEntry(ctx, 'created', { type: 'payment-method', id, name: '1111', merchantAccountId: account })
  const card: NewCardRow = {
    merchant_account_id: account,
    id,
    buyer_id: null,
    external_identifier: null,
    status: 'succeeded',
    label: '1111',
    scheme: 'visa',
    additional_schemes: ['star', 'a "b", {c}'],
    bin: '41111111',
    card_type: null,
    card_issuer_name: null,
    issuer_country: null,
    expiration_date: '12/30',
    expires_at: new Date('2031-01-01T00:00:00Z'),
    fingerprint: '0'.repeat(64),
    created_at: timeOfId(id),
    ...change,
  }
  return { id, row: storeRow(ctx, { card, entry }) }
}

/** Which of the ids have a row, and an audit row. */
async function kept(ids: readonly string[]): Promise<{ cards: number; audited: number }> {
  const [row] = await api.database.query<{ cards: number; audited: number }>(
    `select (select count(*)::int from payment_methods where id = any($1::uuid[])) as cards,
      (select count(*)::int from audit_logs where resource_id = any($1::text[])) as audited`,
    [ids],
  )
  return row ?? { cards: 0, audited: 0 }
}

test('a card comes back as it went in', async () => {
  const { id, row } = put('default')
  expect(await row).toMatchObject({
    id,
    merchant_account_id: 'default',
    additional_schemes: ['star', 'a "b", {c}'],
    expires_at: new Date('2031-01-01T00:00:00Z'),
    created_at: timeOfId(id),
    version: 1,
  })
  expect(await kept([id])).toEqual({ cards: 1, audited: 1 })
})

test('cards that come together share statements, each with its audit row, but not across merchant accounts', async () => {
  statements = 0
  const all = Array.from({ length: 60 }, (_, index) => put(index % 2 === 0 ? 'default' : 'other'))
  const rows = await Promise.all(all.map(({ row }) => row))
  expect(rows.map((row) => row?.id)).toEqual(all.map(({ id }) => id))
  expect(rows.map((row) => row?.merchant_account_id)).toEqual(
    rows.map((_, index) => (index % 2 === 0 ? 'default' : 'other')),
  )
  expect(await kept(all.map(({ id }) => id))).toEqual({ cards: 60, audited: 60 })
  expect(statements).toBeGreaterThanOrEqual(2)
  expect(statements).toBeLessThan(10)
})

test('a card that the database refuses fails alone, and so does one of another account', async () => {
  const good = Array.from({ length: 10 }, () => put('default'))
  const bad = put('default', { buyer_id: newId() })
  const more = Array.from({ length: 10 }, () => put('default'))
  const foreign = put('default', { merchant_account_id: 'other' })
  await expect(bad.row).rejects.toMatchObject({ constraint: 'payment_methods_buyer' })
  expect(await foreign.row).toBeUndefined()
  await Promise.all([...good, ...more].map(({ row }) => row))
  expect(await kept([...good, ...more].map(({ id }) => id))).toEqual({ cards: 20, audited: 20 })
  expect(await kept([bad.id, foreign.id])).toEqual({ cards: 0, audited: 0 })
})

test('of two cards with one external identifier in one statement, one is stored', async () => {
  const all = Array.from({ length: 5 }, () => put('default', { external_identifier: 'twice' }))
  const rows = await Promise.all(all.map(({ row }) => row))
  expect(rows.filter((row) => row !== undefined)).toHaveLength(1)
  expect(await kept(all.map(({ id }) => id))).toEqual({ cards: 1, audited: 1 })
})
