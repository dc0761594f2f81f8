import { randomUUID } from 'node:crypto'
import { expect, test } from 'vitest'
import { giftCard, newNumber, useGiftCardProvider } from '../../../../test/gift-card-provider.ts'
import type { GiftCardToCharge } from '../../gift-card.ts'
import { refusalsByPin, refusingDigits } from './catalogue.ts'

const provider = useGiftCardProvider()
const { balance, redeem, reverse, refund } = provider

const failed = (errorCode: string) => ({ result: 'failed', errorCode })
const succeeded = { result: 'succeeded' }

async function left(card: GiftCardToCharge): Promise<number> {
  const answer = await balance(card)
  if (answer.result !== 'succeeded') throw new Error(answer.errorCode)
  return answer.balance
}

test('a PIN that begins with 0 is the opening balance, whatever its length', async () => {
  for (const [pin, amount] of [
    ['01234', 1234],
    ['00000', 0],
    ['0', 0],
    ['0123456', 123456],
  ] as const) {
    expect(await balance(giftCard(pin)), pin).toMatchObject({ ...succeeded, balance: amount, currency: 'USD' })
  }
})

test('every refusing PIN has its code in every call with a card, and the three kinds differ in the raw code only', async () => {
  for (const [digit, { rawCode }] of Object.entries(refusingDigits)) {
    for (const [code, errorCode] of [...Object.entries(refusalsByPin), ['4711', 'unknown_error']]) {
      const card = giftCard(`${digit}${code}`)
      const refusal = { result: 'failed', errorCode, rawCode }
      expect(await balance(card)).toMatchObject(refusal)
      expect(await redeem(card, 1)).toMatchObject(refusal)
      expect(await activate(card)).toMatchObject(refusal)
    }
  }
})

test('a PIN of any other shape belongs to no card', async () => {
  for (const pin of ['40000', '1', '100000', 'secret', '0x10', ' 01234', '٠١٢٣٤', '0'.repeat(13)]) {
    expect(await balance(giftCard(pin)), pin).toMatchObject(failed('invalid_gift_card'))
    expect(await redeem(giftCard(pin), 1), pin).toMatchObject(failed('invalid_gift_card'))
  }
})

test('the first PIN sets the balance; redemptions lower it, and a later PIN does not raise it', async () => {
  const card = giftCard('05000')
  expect(await redeem(card, 2000)).toMatchObject(succeeded)
  expect(await left(card)).toBe(3000)
  expect(await left({ ...card, pin: '09999' })).toBe(3000)
  expect(await redeem(card, 3001)).toMatchObject(failed('insufficient_funds'))
  expect(await redeem(card, 3000)).toMatchObject(succeeded)
  expect(await left(card)).toBe(0)
})

test('a redemption that comes again is answered as before and takes nothing', async () => {
  const card = giftCard('05000')
  const reference = randomUUID()
  const first = await redeem(card, 3000, { reference })
  expect(await redeem(card, 3000, { reference })).toEqual(first)
  expect(await left(card)).toBe(2000)
  const refused = randomUUID()
  const no = await redeem(card, 4000, { reference: refused })
  expect(no).toMatchObject(failed('insufficient_funds'))
  await reverse(reference)
  expect(await redeem(card, 4000, { reference: refused })).toEqual(no)
})

test('copies of a redemption at once take its amount once', async () => {
  for (let round = 0; round < 10; round += 1) {
    const card = giftCard('05000')
    const reference = randomUUID()
    const answers = await Promise.all(Array.from({ length: 10 }, () => redeem(card, 1000, { reference })))
    expect(new Set(answers.map((answer) => JSON.stringify(answer))).size).toBe(1)
    expect(answers[0]).toMatchObject(succeeded)
    expect(await left(card)).toBe(4000)
  }
})

test('of 100 redemptions at once, also of a card that was never seen, as many succeed as the balance covers', async () => {
  for (const seenBefore of [false, true]) {
    const card = giftCard('01050')
    if (seenBefore) await balance(card)
    const answers = await Promise.all(Array.from({ length: 100 }, () => redeem(card, 100)))
    expect(answers.filter(({ result }) => result === 'succeeded')).toHaveLength(10)
    expect(answers.filter(({ result }) => result === 'failed')).toHaveLength(90)
    expect(await left(card)).toBe(50)
  }
})

test('a reversal gives the money back once, however often and at once it is asked for', async () => {
  const card = giftCard('05000')
  const reference = randomUUID()
  await redeem(card, 3000, { reference })
  const answers = await Promise.all(Array.from({ length: 10 }, () => reverse(reference)))
  expect(answers.every(({ result }) => result === 'succeeded')).toBe(true)
  expect(await left(card)).toBe(5000)
  expect(await redeem(card, 3000, { reference })).toMatchObject(failed('operation_canceled'))
  expect(await left(card)).toBe(5000)
})

test('a redemption that is reversed before it comes is refused when it comes', async () => {
  const card = giftCard('05000')
  const reference = randomUUID()
  expect(await reverse(reference)).toMatchObject(succeeded)
  expect(await redeem(card, 3000, { reference })).toMatchObject(failed('operation_canceled'))
  expect(await left(card)).toBe(5000)
  const rows = await provider.database.query(
    'select kind, state, fingerprint from sandbox_gift_card_operations where reference = $1',
    [reference],
  )
  expect(rows).toEqual([{ kind: 'redeem', state: 'reversed', fingerprint: null }])
})

test('a redemption and its reversal at once end with the money on the card', async () => {
  for (let round = 0; round < 30; round += 1) {
    const card = giftCard('05000')
    if (round % 2 === 0) await balance(card)
    const reference = randomUUID()
    const again = () => redeem(card, 3000, { reference })
    await Promise.all([again(), reverse(reference), again(), reverse(reference), again()])
    expect(await left(card)).toBe(5000)
  }
})

test('refunds give back what was redeemed, in parts and never more, and a reversal gives back the rest', async () => {
  const card = giftCard('05000')
  const reference = randomUUID()
  await redeem(card, 3000, { reference })
  expect(await refund(reference, 1000)).toMatchObject(succeeded)
  expect(await left(card)).toBe(3000)
  expect(await refund(reference, 2010)).toMatchObject(failed('invalid_amount'))
  expect(await refund(reference, 500, { currency: 'USD' })).toMatchObject(failed('incorrect_currency'))
  expect(await refund(randomUUID(), 500)).toMatchObject(failed('unexpected_state'))
  const copies = { reference: randomUUID() }
  const answers = await Promise.all(Array.from({ length: 10 }, () => refund(reference, 500, copies)))
  expect(new Set(answers.map((answer) => JSON.stringify(answer))).size).toBe(1)
  expect(await left(card)).toBe(3500)
  await reverse(reference)
  expect(await left(card)).toBe(5000)
  expect(await refund(reference, 500)).toMatchObject(failed('unexpected_state'))
})

test('of many refunds at once no more than was redeemed is given back', async () => {
  const card = giftCard('05000')
  const reference = randomUUID()
  await redeem(card, 3000, { reference })
  const answers = await Promise.all(Array.from({ length: 20 }, () => refund(reference, 400)))
  expect(answers.filter(({ result }) => result === 'succeeded')).toHaveLength(7)
  expect(await left(card)).toBe(4800)
})

test('the last digit of the amount refuses a refund: 1, 2 and 3, and no other', async () => {
  const card = giftCard('05000')
  const reference = randomUUID()
  await redeem(card, 5000, { reference })
  for (const digit of [0, 1, 2, 3, 4, 5, 6, 7, 8, 9]) {
    const refusing = refusingDigits[`${digit}` as keyof typeof refusingDigits]
    const expected = refusing ? { ...failed('service_error'), rawCode: refusing.rawCode } : succeeded
    expect(await refund(reference, 10 + digit), `${digit}`).toMatchObject(expected)
  }
})

test('the first redemption fixes the currency', async () => {
  const card = giftCard('05000')
  expect(await redeem(card, 9000)).toMatchObject(failed('insufficient_funds'))
  expect(await balance(card)).toMatchObject({ currency: 'USD' })
  await redeem(card, 1000)
  expect(await balance(card)).toMatchObject({ currency: 'EUR' })
  expect(await redeem(card, 1000, { currency: 'GBP' })).toMatchObject(failed('incorrect_currency'))
})

test('a number that ends in 0 has expired, and others do by the clock', async () => {
  const expired = giftCard('05000', newNumber('0'))
  const answer = await balance(expired)
  expect(answer).toMatchObject({ ...succeeded, balance: 5000, expiresAt: new Date('2030-05-04T12:00:00Z') })
  expect(await redeem(expired, 100)).toMatchObject(failed('expired_card'))
  const good = giftCard('05000')
  expect(await redeem(good, 100)).toMatchObject(succeeded)
  provider.wait(3 * 366 * 24 * 60 * 60 * 1000)
  expect(await redeem(good, 100)).toMatchObject(failed('expired_card'))
})

const activate = (
  card: GiftCardToCharge | (Omit<GiftCardToCharge, 'pin'> & { pin: null }),
  value: { amount: number; currency: string } | null = null,
  reference: string = randomUUID(),
) =>
  provider
    .connector()
    .activate({ service: provider.service, signal: new AbortController().signal, reference, card, value })

test('an activation puts its amount on the card, once, and fixes the currency', async () => {
  const card = giftCard('05000')
  const reference = randomUUID()
  const value = { amount: 700, currency: 'EUR' }
  const answers = await Promise.all(Array.from({ length: 5 }, () => activate({ ...card, pin: null }, value, reference)))
  expect(new Set(answers.map((answer) => JSON.stringify(answer))).size).toBe(1)
  expect(await balance(card)).toMatchObject({ balance: 700, currency: 'EUR' })
  expect(await activate(card, { amount: 1, currency: 'USD' })).toMatchObject(failed('incorrect_currency'))
  expect(await activate(card, value)).toMatchObject(succeeded)
  expect(await left(card)).toBe(1400)
  const without = giftCard('05000')
  expect(await activate({ ...without, pin: null })).toMatchObject(succeeded)
  expect(await left(without)).toBe(5000)
})

test('an issued card has an address, the same for the same reference', async () => {
  const call = {
    service: provider.service,
    signal: new AbortController().signal,
    reference: randomUUID(),
    theme: 'birthday',
    amount: 5000,
    currency: 'EUR',
  }
  const first = await provider.connector().issue(call)
  expect(first).toMatchObject({ ...succeeded, url: expect.stringMatching(/^https:\/\/gift-cards\.example\//) })
  expect(await provider.connector().issue(call)).toEqual(first)
  const nothing = { ...call, reference: randomUUID(), amount: 0 }
  expect(await provider.connector().issue(nothing)).toMatchObject(failed('invalid_amount'))
})

/** What a call comes to whose caller gives up. */
async function givenUp(call: (signal: AbortSignal) => Promise<unknown>): Promise<unknown> {
  const controller = new AbortController()
  const pending = call(controller.signal).catch((error: Error) => error.name)
  setTimeout(() => controller.abort(), 200)
  return pending
}

test('a silent card does nothing; with the other one it is done and only the second asking is answered', async () => {
  const { connector, service } = provider
  const silent = giftCard('05000', newNumber('9991'))
  const lost = giftCard('05000', newNumber('9992'))
  const reference = randomUUID()
  const call = (card: GiftCardToCharge) => (signal: AbortSignal) =>
    connector().redeem({ service, card, amount: 100, currency: 'EUR', reference, signal })
  expect(await givenUp((signal) => connector().balance({ service, card: silent, signal }))).toBe('AbortError')
  expect(await givenUp(call(silent))).toBe('AbortError')
  const operations = () =>
    provider.database.query('select state from sandbox_gift_card_operations where reference = $1', [reference])
  expect(await operations()).toEqual([])
  expect(await givenUp(call(lost))).toBe('AbortError')
  expect(await operations()).toEqual([{ state: 'done' }])
  expect(await call(lost)(new AbortController().signal)).toMatchObject(succeeded)
  expect(await left(lost)).toBe(4900)
})

test('the books hold neither a number nor a PIN', async () => {
  const card = giftCard('0987654', newNumber('7531'))
  const reference = randomUUID()
  await balance(card)
  await redeem(card, 100, { reference })
  await refund(reference, 50)
  await activate(card, { amount: 5, currency: 'EUR' })
  const [row] = await provider.database.query<{ books: string }>(
    `select (select json_agg(c)::text from sandbox_gift_cards c) || (select json_agg(o)::text from sandbox_gift_card_operations o) as books`,
  )
  expect(row?.books).not.toContain(card.number)
  expect(row?.books).not.toContain(card.pin)
})
