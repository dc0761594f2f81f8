import { randomUUID } from 'node:crypto'
import { beforeAll, expect, test } from 'vitest'
import { giftCard, makeGiftCardService } from '../../../test/gift-cards.ts'
import { card, refusal, usePayments } from '../../../test/payments.ts'

const { api } = usePayments()
beforeAll(async () => void (await makeGiftCardService(api)))

const browser = (embed?: object) =>
  api.makeToken(api.owner(), { scopes: ['embed'], claims: embed === undefined ? {} : { embed } })

async function makeBuyer(): Promise<{ id: string }> {
  return (await api.request<{ id: string }>('POST', '/buyers', { body: { external_identifier: randomUUID() } })).body
}

async function store(owner: object): Promise<string> {
  const made = await api.request<{ id: string }>('POST', '/gift-cards', { body: { ...giftCard(5000), ...owner } })
  if (made.status !== 201) throw new Error(made.text)
  return made.body.id
}

test("a buyer's stored gift card is looked up and paid with by a browser whose token pins this buyer, and by no other", async () => {
  const [buyer, other] = [await makeBuyer(), await makeBuyer()]
  const id = await store({ buyer_id: buyer.id })
  const lookUp = (token: string, card: string) =>
    api.request('POST', '/gift-cards/balances', { token, body: { items: [{ id: card }] } })
  const pay = (token: string, giftCardId: string, named: object) =>
    api.request('POST', '/transactions', {
      token,
      body: {
        amount: 1299,
        currency: 'EUR',
        country: 'DE',
        payment_method: card(),
        gift_cards: [{ id: giftCardId, amount: 500 }],
        ...named,
      },
    })
  for (const [embed, named] of [
    [undefined, {}],
    [{ buyer_id: other.id }, { buyer_id: other.id }],
  ] as const) {
    const token = await browser(embed)
    expect(refusal(await lookUp(token, id))).toEqual([400, '/items/0/id value_error.unknown'])
    expect((await lookUp(token, id)).body).toEqual((await lookUp(token, randomUUID())).body)
    expect(refusal(await pay(token, id, named))).toEqual([400, '/gift_cards/0/id value_error.unknown'])
  }
  const own = await browser({ buyer_id: buyer.id })
  expect((await lookUp(own, id)).body).toMatchObject({ items: [{ id, balance: 5000 }] })
  expect((await pay(own, id, { buyer_id: buyer.id })).status).toBe(201)
})

test('what counts against the limit counts together', async () => {
  const token = await browser()
  const left = async (path: string) =>
    (await api.request('POST', path, { token, body: {} })).headers.get('ratelimit')?.split(';')[1]
  expect(await left('/gift-cards/balances')).toBe('r=49')
  expect(await left('/gift-cards')).toBe('r=48')
  expect(await left('/transactions')).toBe('r=47')
  expect(await left('/gift-cards/activations')).toBe('r=46')
})
