import { afterAll, beforeAll, expect, test } from 'vitest'
import { useApi } from '../../../test/api.ts'
import { giftCard, makeGiftCardService } from '../../../test/gift-cards.ts'
import { newId } from '../../ids.ts'
import { createLog } from '../../platform/log.ts'
import { connect, type Database } from '../../platform/postgres.ts'
import { sweepVault } from '../payment-methods/operations/replace.ts'

const api = useApi()
const log = createLog({ level: 'silent', process: 'test' })
const later = () => new Date(Date.now() + 3_600_000)
let worker: Database
beforeAll(async () => {
  const url = api.database.url('florin_worker')
  worker = connect({ url, applicationName: 'test', poolSize: 2, onError: () => undefined })
  await makeGiftCardService(api)
})
afterAll(() => worker.close())

const fields = ['gift_card_number', 'gift_card_pin']
const isInVault = async (id: string) =>
  Object.keys(await api.vault.client().readSecrets({ merchantAccountId: 'default', id }, fields)).length > 0
const store = async () => (await api.request<{ id: string }>('POST', '/gift-cards', { body: giftCard(5000) })).body.id

test('numbers of gift cards that a crash left behind are removed with their PINs, and those of stored cards stay', async () => {
  const [kept, archived, orphan] = [await store(), await store(), newId()]
  const secrets = { gift_card_number: '6035000000001234', gift_card_pin: '05000' }
  await api.vault.client().storeSecrets({ merchantAccountId: 'default', id: orphan }, secrets)
  await api.database.query('update gift_cards set archived_at = now() where id = $1', [archived])
  const sweep = () =>
    sweepVault({ db: worker, vault: api.vault.client(), now: later, log }, new AbortController().signal)
  expect(await sweep()).toBe(2)
  expect([await isInVault(kept), await isInVault(archived), await isInVault(orphan)]).toEqual([true, false, false])
  expect(await sweep()).toBe(0)
})
