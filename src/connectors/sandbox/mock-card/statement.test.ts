import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { signal, useCardProcessor } from '../../../../test/card-processor.ts'
import type { StatementLine } from '../../payment.ts'
import { statementOf } from './statement.ts'
import type { MoveRow } from './store.ts'

const processor = useCardProcessor()
const dayMs = 24 * 60 * 60 * 1000

const statement = async (paymentReference: string, service = processor.service) =>
  (await processor.connector().statement?.({ service, paymentReference, signal })) as StatementLine[]
const kinds = async (payment: string) => (await statement(payment)).map(({ kind, amount }) => `${kind} ${amount}`)

describe('a statement', () => {
  test('is made from the books: captures and refunds a day after they were made', async () => {
    const payment = await processor.pay()
    await processor.capture(payment, 1000)
    expect(await kinds(payment)).toEqual([])
    processor.wait(dayMs - 1)
    await processor.refund(payment, 400)
    expect(await kinds(payment)).toEqual([])
    processor.wait(1)
    expect(await kinds(payment)).toEqual(['settlement 1000'])
    processor.wait(dayMs)
    expect(await kinds(payment)).toEqual(['settlement 1000', 'refund-settlement 400'])
  })

  test('says nothing of what was refused, reserved or voided', async () => {
    const payment = await processor.pay()
    await processor.capture(payment, 500_002)
    await processor.void(payment)
    const reserved = await processor.pay()
    processor.wait(30 * dayMs)
    expect(await kinds(payment)).toEqual([])
    expect(await kinds(reserved)).toEqual([])
  })

  test('counts a charge that takes time from the moment it was made', async () => {
    const reference = 'a charge that takes time'
    await processor.authorize({ reference, intent: 'capture', asyncCapture: true })
    processor.wait(5 * dayMs)
    const made = await processor.sync(reference)
    const payment = 'providerReference' in made ? (made.providerReference ?? '') : ''
    expect(await kinds(payment)).toEqual([])
    processor.wait(dayMs)
    expect(await kinds(payment)).toEqual(['settlement 1299'])
  })

  test('is the same when it is asked for again, but for what is new', async () => {
    const payment = await processor.pay({ intent: 'capture', number: '4000000000004012' })
    processor.wait(dayMs)
    const first = await statement(payment)
    expect(await statement(payment)).toEqual(first)
    processor.wait(13 * dayMs)
    const all = await statement(payment)
    expect(all.slice(0, 1)).toEqual(first)
    expect(all.map(({ kind }) => kind)).toEqual(['settlement', 'chargeback', 'chargeback-reversal'])
    expect(new Set(all.map(({ id }) => id)).size).toBe(3)
  })

  test('is for the service that has the payment, and for no other', async () => {
    const payment = await processor.pay({ intent: 'capture' })
    processor.wait(2 * dayMs)
    expect(await statement(payment)).toHaveLength(1)
    expect(await statement(payment, { ...processor.service, serviceId: 'another' })).toEqual([])
    expect(await statement(payment, { ...processor.service, merchantAccountId: 'other' })).toEqual([])
    expect(await statement('no payment')).toEqual([])
  })
})

test('the parts of a commission are the commission, whatever the amount', () => {
  const move = (amount: number): MoveRow => ({
    id: '01900000-0000-7000-8000-000000000001',
    reference: 'x',
    kind: 'sale',
    amount,
    decided_at: new Date(0),
    currency: 'EUR',
    forces: null,
  })
  fc.assert(
    fc.property(fc.integer({ min: 1, max: 2 * 99_999_999 }), (amount) => {
      const [line] = statementOf([move(amount)], new Date(dayMs))
      const parts = [line?.interchange, line?.schemeFee, line?.markup].map((part) => part ?? Number.NaN)
      expect(parts.every((part) => Number.isInteger(part) && part >= 0)).toBe(true)
      expect(parts.reduce((sum, part) => sum + part, 0)).toBe(line?.commission)
    }),
  )
})
