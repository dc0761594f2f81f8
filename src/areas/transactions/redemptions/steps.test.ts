import { afterEach, beforeAll, expect, test } from 'vitest'
import { balanceOf, differences, giftCard, makeGiftCardService } from '../../../../test/gift-cards.ts'
import { usePayments } from '../../../../test/payments.ts'
import { createConnectors } from '../../../connectors/registry.ts'
import { onFailpoint } from '../../../platform/failpoint.ts'
import { connect } from '../../../platform/postgres.ts'

/* What else happens between two steps of a payment with gift cards. */

const { api, pay } = usePayments()

beforeAll(() => makeGiftCardService(api))
afterEach(async () => {
  onFailpoint(() => Promise.resolve())
  expect(await differences(api)).toEqual([])
})

/** Once, when a request comes there. */
function atPoint(point: string, work: () => Promise<void>): void {
  let isDone = false
  onFailpoint(async (name) => {
    if (isDone || name !== point) return
    isDone = true
    await work()
  })
}

/** Asks the card processor about the call that is open; one that has not come can come no more. */
async function askAboutOpenCall(): Promise<void> {
  const [open] = await api.database.query<{ id: string }>("select id from attempts where state <> 'done'")
  const url = api.database.url('florin_api')
  const db = connect({ url, applicationName: 'test', poolSize: 1, onError: () => undefined })
  const connector = createConnectors({ environment: 'sandbox', db, now: () => new Date() }).get('mock-card')
  const service = {
    merchantAccountId: 'default',
    serviceId: '',
    fields: {},
    notificationUrl: null,
    secrets: () => Promise.resolve({}),
  }
  const { signal } = new AbortController()
  expect(await connector?.sync({ service, reference: open?.id ?? '', signal })).toEqual({ result: 'never_arrived' })
  await db.close()
}

test('a reservation is let go although somebody asked about it before the call came', async () => {
  const gift = giftCard(100)
  atPoint('reverse: begun', askAboutOpenCall)
  const { body } = await pay({ amount: 2000, gift_cards: [{ ...gift, amount: 500 }] })
  expect(body).toMatchObject({ status: 'authorization_failed', error_code: 'insufficient_funds' })
  expect(await balanceOf(api, gift)).toBe(100)
  expect(await api.database.query('select state, captured from sandbox_card_payments')).toEqual([
    { state: 'voided', captured: 0 },
  ])
})
