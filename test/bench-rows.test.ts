import { expect, test } from 'vitest'
import { type Drawn, drawRow } from '../bench/list/draw.ts'
import { tables } from '../bench/list/lines.ts'
import { marks } from '../bench/list/values.ts'
import { accountIds, bigAccount, oldestCount } from '../bench/list/world.ts'
import { timeOfId } from '../src/ids.ts'

const rows = 20_000
const drawn = Array.from({ length: rows }, (_, row) => drawRow(row, rows))
const big = drawn.filter(({ account }) => account === bigAccount)

/** What of a row each mark is compared with. */
const marked: Record<keyof typeof marks, (row: Drawn) => unknown> = {
  amount: ({ amount }) => amount,
  currency: ({ currency }) => currency,
  country: ({ country }) => country,
  method: ({ method }) => method,
  status: ({ status }) => status,
  payment_source: ({ source }) => source,
  external_identifier: ({ reference }) => reference,
  buyer_external_identifier: ({ buyer }) => buyer?.reference,
  buyer_id: ({ buyer }) => buyer?.id,
  buyer_email_address: ({ buyer }) => buyer?.email,
  checkout_session_id: ({ sessionId }) => sessionId,
  error_code: ({ errorCode }) => errorCode,
  payment_method_id: ({ card }) => card?.id,
  payment_method_label: ({ card }) => card?.label,
  payment_method_scheme: ({ card }) => card?.scheme,
  payment_method_country: ({ card, country }) => card?.country ?? country,
  payment_method_bin: ({ card }) => card?.bin,
  payment_method_fingerprint: ({ card }) => card?.fingerprint,
  payment_service_id: ({ serviceId }) => serviceId,
  payment_service_transaction_id: ({ providerReference }) => providerReference,
  metadata: ({ metadata }) => metadata.map(([name, value]) => `${name}=${value}`),
  gift_card_id: ({ giftCard }) => giftCard?.id,
  gift_card_last4: ({ giftCard }) => giftCard?.last4,
}

const has = (row: Drawn, name: keyof typeof marks, value: unknown) => {
  const found = marked[name](row)
  if (!Array.isArray(found)) return found === value
  return Object.entries(value as object).every(([key, text]) => found.includes(`${key}=${text}`))
}

test.each(Object.keys(marks) as (keyof typeof marks)[])(
  'on the big account %s has values of nothing, of exactly the 20 oldest rows and of about half',
  (name) => {
    const { nothing, oldest, half } = marks[name]
    expect(big.filter((row) => has(row, name, nothing))).toEqual([])
    expect(big.filter((row) => has(row, name, oldest))).toEqual(big.slice(0, oldestCount))
    const share = big.filter((row) => has(row, name, half)).length / big.length
    expect(share).toBeGreaterThan(0.4)
    expect(share).toBeLessThan(0.65)
  },
)

test('one account holds half of the rows, and all 200 have some', () => {
  expect(big).toHaveLength(rows / 2)
  expect(new Set(drawn.map(({ account }) => account))).toEqual(new Set(accountIds))
})

test('ids ascend, and the millisecond inside is the one of creation', () => {
  expect(drawn.map(({ id }) => id)).toEqual(drawn.map(({ id }) => id).sort())
  expect(new Set(drawn.map(({ id }) => id)).size).toBe(rows)
  for (const { id, createdAt } of drawn) expect(timeOfId(id).getTime()).toBe(createdAt)
})

test('a row is the same whenever it is drawn, and its texts are JSON', () => {
  const { columns, lines } = tables['transactions'] ?? { columns: [], lines: () => '' }
  for (const row of [0, 1, 4_711, rows - 1]) {
    const line = lines(drawRow(row, rows))
    expect(line).toBe(lines(drawn[row] as Drawn))
    const cells = new Map(
      line
        .trimEnd()
        .split('\t')
        .map((cell, index) => [columns[index], cell]),
    )
    expect(cells.size).toBe(columns.length)
    for (const inner of ['summary', 'details']) expect(() => JSON.parse(`{${cells.get(inner)}}`)).not.toThrow()
    for (const whole of ['payment_method', 'payment_service']) {
      expect(() => JSON.parse(cells.get(whole) ?? '')).not.toThrow()
    }
  }
})
