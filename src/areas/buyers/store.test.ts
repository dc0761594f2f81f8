import { afterAll, beforeAll, expect, test } from 'vitest'
import { useApi } from '../../../test/api.ts'
import type { PageRequest } from '../../page.ts'
import { connect, type Database } from '../../platform/postgres.ts'
import type { Buyer } from './schema.ts'
import {
  deleteShippingDetailsRow,
  findShippingDetails,
  listShippingDetailsRows,
  updateShippingDetailsRow,
} from './shipping-details/store.ts'
import {
  deleteBuyerRow,
  findBuyer,
  findBuyers,
  findBuyersByExternalIdentifier,
  listBuyerRows,
  searchBuyerRows,
  updateBuyerRow,
} from './store.ts'

const api = useApi()
let db: Database

// The superuser is held by no policy, which leaves the predicates alone.
beforeAll(() => {
  db = connect({ url: api.database.url(), applicationName: 'test', poolSize: 1, onError: () => undefined })
})
afterAll(() => db.close())

test('each function of these stores keeps to its accounts by itself', async () => {
  const options = { headers: { 'X-Service-Merchant-Account-ID': 'other' } }
  const body = { display_name: 'Secret', external_identifier: 'secret' }
  const { body: buyer } = await api.request<Buyer>('POST', '/buyers', { body, ...options })
  const path = `/buyers/${buyer.id}/shipping-details`
  const { body: details } = await api.request<{ id: string }>('POST', path, { body: {}, ...options })
  const key = { buyer_id: buyer.id, shipping_details_id: details.id }
  const page: PageRequest = { limit: 20, position: undefined, seal: () => '' }
  const now = new Date()
  const nothing = { rows: [], hasBehind: false }
  for (const accounts of [['default'], ['default', 'no-such-account'], []]) {
    expect({
      findBuyer: await findBuyer(db, accounts, buyer.id),
      findBuyers: await findBuyers(db, accounts, [buyer.id]),
      findBuyersByExternalIdentifier: await findBuyersByExternalIdentifier(db, accounts, 'secret'),
      listBuyerRows: await listBuyerRows(db, accounts, undefined, page),
      listBuyerRowsFiltered: await listBuyerRows(db, accounts, 'secret', page),
      searchBuyerRows: await searchBuyerRows(db, accounts, 'secret', undefined, page),
      updateBuyerRow: await updateBuyerRow(db, accounts, buyer.id, { display_name: 'x' }, now),
      deleteBuyerRow: await deleteBuyerRow(db, accounts, buyer.id),
      findShippingDetails: await findShippingDetails(db, accounts, key),
      listShippingDetailsRows: await listShippingDetailsRows(db, accounts, buyer.id),
      updateShippingDetailsRow: await updateShippingDetailsRow(db, accounts, key, { first_name: 'x' }, now),
      deleteShippingDetailsRow: await deleteShippingDetailsRow(db, accounts, key),
    }).toEqual({
      findBuyers: [],
      findBuyersByExternalIdentifier: [],
      listBuyerRows: nothing,
      listBuyerRowsFiltered: nothing,
      searchBuyerRows: nothing,
    })
  }
  expect(await findBuyer(db, ['default', 'other'], buyer.id)).toMatchObject(body)
  expect((await listBuyerRows(db, ['default', 'other'], undefined, page)).rows).toHaveLength(1)
  expect(await listShippingDetailsRows(db, 'all', buyer.id)).toHaveLength(1)
})
