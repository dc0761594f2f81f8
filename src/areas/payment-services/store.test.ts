import { afterAll, beforeAll, expect, test } from 'vitest'
import { useApi } from '../../../test/api.ts'
import type { PageRequest } from '../../page.ts'
import { connect, type Database } from '../../platform/postgres.ts'
import type { PaymentService } from './schema.ts'
import {
  deletePaymentServiceRow,
  findPaymentService,
  findRoutedRow,
  findUsableRows,
  listPaymentServiceRows,
  updatePaymentServiceRow,
} from './store.ts'

const api = useApi()
let db: Database

// The superuser is held by no policy, which leaves the predicates alone.
beforeAll(() => {
  db = connect({ url: api.database.url(), applicationName: 'test', poolSize: 1, onError: () => undefined })
})
afterAll(() => db.close())

test('each function of this store keeps to its accounts by itself', async () => {
  const { body } = await api.request<PaymentService>('POST', '/payment-services', {
    headers: { 'X-Service-Merchant-Account-ID': 'other' },
    body: {
      display_name: 'Cards',
      payment_service_definition_id: 'mock-card',
      fields: [{ key: 'merchant_id', value: 'shop' }],
      accepted_currencies: ['EUR'],
      accepted_countries: ['DE'],
    },
  })
  const row = await findPaymentService(db, ['other'], body.id)
  if (!row) throw new Error('it is not there')
  const page: PageRequest = { limit: 20, position: undefined, seal: () => '' }
  const wanted = { method: 'card', currency: 'EUR', country: null }
  const now = new Date()
  for (const accounts of [['default'], ['default', 'no-such-account'], []]) {
    expect({
      find: await findPaymentService(db, accounts, row.id),
      list: await listPaymentServiceRows(db, accounts, { method: undefined, deleted: false }, page),
      usable: await findUsableRows(db, accounts, wanted),
      routed: await findRoutedRow(db, accounts, row.id),
      update: await updatePaymentServiceRow(db, accounts, row, { ...row, display_name: 'x' }, now),
      remove: await deletePaymentServiceRow(db, accounts, row.id, now),
    }).toEqual({ list: { rows: [], hasBehind: false }, usable: [] })
  }
  expect(await findPaymentService(db, ['default', 'other'], row.id)).toEqual(row)
  expect(await findUsableRows(db, ['default', 'other'], wanted)).toHaveLength(1)
})

test('a change of what was read before another change finds nothing', async () => {
  const [row] = (
    await listPaymentServiceRows(
      db,
      'all',
      { method: 'card', deleted: false },
      { limit: 1, position: undefined, seal: () => '' },
    )
  ).rows
  if (!row) throw new Error('it is not there')
  expect((await updatePaymentServiceRow(db, 'all', row, row, new Date()))?.version).toBe(row.version + 1)
  expect(await updatePaymentServiceRow(db, 'all', row, row, new Date())).toBeUndefined()
})
