import { randomUUID } from 'node:crypto'
import { beforeAll, expect, test } from 'vitest'
import { authorization, signal, useCardProcessor } from '../../../../test/card-processor.ts'
import type { PaymentConnector } from '../../payment.ts'
import type { SimulatorRule } from '../../simulator.ts'
import { createMockCard } from './connector.ts'

const { db, now, service, paymentRow } = useCardProcessor()
const approving: SimulatorRule = {
  id: 'a',
  conditions: {},
  outcome: { result: 'approved' },
  notifications: null,
  isCounted: false,
}
let connector: PaymentConnector
beforeAll(() => {
  const rules = { of: () => Promise.resolve([approving]), use: () => Promise.resolve(true) }
  connector = createMockCard({ db: db(), now, rules })
})

const about = (paymentReference: string) => ({
  service,
  reference: randomUUID(),
  paymentReference,
  currency: 'USD',
  signal,
})

test('a rule that approves everything moves no more money than there is, and nothing that is not there', async () => {
  const { providerReference: id } = (await connector.authorize(authorization(service))) as { providerReference: string }
  const capture = (amount: number, final = false) => connector.capture({ ...about(id), amount, final })
  const refund = (amount: number) => connector.refund({ ...about(id), amount, reason: null })
  expect(await capture(2_599)).toMatchObject({ result: 'failed', rawCode: 'S006' })
  expect(await refund(1)).toMatchObject({ result: 'failed', rawCode: 'S006' })
  expect(await capture(1_000, true)).toMatchObject({ result: 'approved' })
  expect(await capture(1)).toMatchObject({ result: 'failed', rawCode: 'S005' })
  expect(await connector.void(about(id))).toMatchObject({ result: 'failed', rawCode: 'S005' })
  expect(await refund(1_001)).toMatchObject({ result: 'failed', rawCode: 'S006' })
  expect(await refund(1_000)).toMatchObject({ result: 'approved' })
  expect(await connector.void(about(randomUUID()))).toMatchObject({ result: 'failed', rawCode: 'S003' })
  expect(await paymentRow(id)).toMatchObject({
    state: 'completed',
    authorized: 1_299,
    captured: 1_000,
    refunded: 1_000,
  })
})

test('a number that is no test number stays one', async () => {
  expect(await connector.authorize(authorization(service, { number: '4539148803436467' }))).toMatchObject({
    result: 'failed',
    rawCode: 'S001',
  })
})

test('an answer that takes longer than the caller waits is none, and what was done is done', async () => {
  const slow = createMockCard({
    db: db(),
    now,
    rules: {
      of: () => Promise.resolve([{ ...approving, outcome: { result: 'approved', delay_ms: 60_000 } }]),
      use: () => Promise.resolve(true),
    },
  })
  const call = authorization(service, { signal: AbortSignal.timeout(300) })
  expect(await slow.authorize(call)).toEqual({ result: 'unknown' })
  expect(await slow.sync({ service, reference: call.reference, signal })).toMatchObject({ result: 'approved' })
})
