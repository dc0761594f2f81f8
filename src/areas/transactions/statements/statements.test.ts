import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { card, idOf, usePayments } from '../../../../test/payments.ts'
import { afterDays } from '../../../../test/statements.ts'
import { createConnectors, createGiftCards } from '../../../connectors/registry.ts'
import { signNotification } from '../../../connectors/sandbox/mock-card/notification.ts'
import { newId } from '../../../ids.ts'
import { createLog } from '../../../platform/log.ts'
import { connect, type Database } from '../../../platform/postgres.ts'
import { verifyTransactions } from '../operations/verify.ts'
import type { Refund } from '../refunds/schema.ts'
import { fetchStatements, ingestStatement } from './operations/ingest.ts'
import type { RefundSettlement, Settlement } from './schema.ts'

/* What a provider paid out, took back and was disputed, from its statement into our books. */

const { api, makeService, paid, get, act, timeline, events } = usePayments()
const { query } = api.database
let reporting: string
let worker: Database

beforeAll(async () => {
  reporting = await makeService({ settlement_reporting_enabled: true })
  worker = connect({
    url: api.database.url('florin_worker'),
    applicationName: 'test',
    poolSize: 10,
    onError: () => undefined,
  })
})
afterAll(() => worker.close())

const sale = (change: object = {}) => paid({ intent: 'capture', payment_service_id: reporting, ...change })
const later = (path: string, days: number) => afterDays(api, idOf(path), days)
const list = async <Line = Settlement>(path: string, kind = 'settlements') =>
  (await get<{ items: Line[] }>(`${path}/${kind}`)).items

const system = (days = 0) => {
  const now = () => new Date(Date.now() + days * 24 * 60 * 60 * 1000)
  const connectors = createConnectors({ environment: 'sandbox', db: worker, now })
  const giftCards = createGiftCards({ environment: 'sandbox', db: worker, now })
  const log = createLog({ level: 'silent', process: 'test' })
  return { db: worker, vault: api.vault.client(), connectors, giftCards, now, newId, log, accounts: 'all' as const }
}
const runJob = (days: number) => fetchStatements(system(days), new AbortController().signal)
const checksOf = (path: string) => query('select from statement_checks where transaction_id = $1', [idOf(path)])

async function expectVerified() {
  const found: unknown[] = []
  await verifyTransactions({ db: worker, accounts: 'all' }, { onDifference: (difference) => found.push(difference) })
  expect(found).toEqual([])
}

describe('a settlement', () => {
  test('comes a day after the charge, with its fees', async () => {
    const path = await sale()
    await later(path, 0)
    expect(await get(path)).toMatchObject({ settled: false, settled_amount: 0, settled_currency: null })
    expect(await list(path)).toEqual([])
    await later(path, 1)
    expect(await get(path)).toMatchObject({ settled: true, settled_amount: 1299, settled_currency: 'EUR' })
    const [line, ...others] = await list(path)
    expect(others).toEqual([])
    expect(line).toMatchObject({
      type: 'settlement',
      merchant_account_id: 'default',
      transaction_id: idOf(path),
      currency: 'EUR',
      amount: 1299,
      exchange_rate: null,
      commission: 43,
      interchange: 3,
      scheme_fee: 1,
      markup: 39,
      payment_service_report_file_ids: [],
    })
    expect(await get(`${path}/settlements/${line?.id}`)).toEqual(line)
    expect(await timeline(path)).toContain('payment-connector-report-transaction-settled')
    expect(await events(idOf(path))).toEqual(['transaction.captured 2', 'transaction.settled 3'])
    await expectVerified()
  })

  test('is of what was captured, each capture by itself, and the event comes once', async () => {
    const path = await paid({ payment_service_id: reporting })
    await act(`${path}/capture`, { amount: 1000, final: false })
    await later(path, 1)
    expect(await get(path)).toMatchObject({ settled: true, settled_amount: 1000 })
    await act(`${path}/capture`, { amount: 299 })
    await later(path, 1)
    expect(await get(path)).toMatchObject({ settled: true, settled_amount: 1299 })
    expect((await list(path)).map(({ amount }) => amount)).toEqual([299, 1000])
    const names = await events(idOf(path))
    expect(names.filter((name) => name.startsWith('transaction.settled'))).toHaveLength(1)
    await expectVerified()
  })

  test('of two payments of one day is in the same report, and of another day in another', async () => {
    const reportOf = async (madeAt: string) => {
      const path = await sale()
      await query(
        'update sandbox_card_operations set decided_at = $2 where reference in (select id::text from attempts where transaction_id = $1)',
        [idOf(path), madeAt],
      )
      await later(path, 0)
      return (await list(path))[0]?.payment_service_report_id
    }
    const report = await reportOf('2026-01-01T00:00:00Z')
    expect(await reportOf('2026-01-01T23:59:59Z')).toBe(report)
    expect(await reportOf('2026-01-02T00:00:00Z')).not.toBe(report)
  })

  test('is not asked for where the service does not report, or nothing was charged', async () => {
    const silent = await paid({ intent: 'capture' })
    const open = await paid({ payment_service_id: reporting })
    for (const path of [silent, open]) {
      await later(path, 2)
      expect(await get(path)).toMatchObject({ settled: false })
      expect(await list(path)).toEqual([])
    }
    expect(await checksOf(silent)).toHaveLength(0)
    expect(await checksOf(open)).toHaveLength(1)
  })
})

test('a refund is settled a day after it was made, and taken off what is settled', async () => {
  const path = await sale()
  const { body: refund } = await act<Refund>(`${path}/refunds`, { amount: 300 })
  expect(refund).toMatchObject({ status: 'succeeded', settled: false, settled_amount: 0, settled_currency: null })
  await later(path, 1)
  expect(await get(path)).toMatchObject({ settled: true, settled_amount: 999, settled_currency: 'EUR' })
  const [line] = await list<RefundSettlement>(path, 'refund-settlements')
  expect(line).toMatchObject({ type: 'refund-settlement', refund_id: refund.id, amount: 300, commission: 25 })
  expect(await get(`${path}/refund-settlements/${line?.id}`)).toEqual(line)
  expect(await get(`/refunds/${refund.id}`)).toMatchObject({
    settled: true,
    settled_amount: 300,
    settled_currency: 'EUR',
  })
  expect(await timeline(path)).toContain('payment-connector-report-refund-settled')
  await expectVerified()
})

describe('a dispute', () => {
  test('makes a payment disputed when it is charged back', async () => {
    const path = await sale({ payment_method: card('4000000000004004') })
    await later(path, 3)
    expect(await get(path)).toMatchObject({ settled: true, disputed: false })
    await later(path, 1)
    expect(await get(path)).toMatchObject({ settled: true, settled_amount: 1299, disputed: true })
    expect(await list(path, 'chargebacks')).toMatchObject([{ type: 'chargeback', amount: 1299, commission: 1500 }])
    await later(path, 30)
    expect(await get(path)).toMatchObject({ disputed: true })
    expect(await list(path, 'chargeback-reversals')).toEqual([])
    expect(await timeline(path)).toContain('payment-connector-report-chargeback-posted')
    await expectVerified()
  })

  test('that is won makes it undisputed again', async () => {
    const path = await sale({ payment_method: card('4000000000004012') })
    await later(path, 13)
    expect(await get(path)).toMatchObject({ disputed: true })
    await later(path, 1)
    expect(await get(path)).toMatchObject({ settled: true, disputed: false })
    expect(await list(path, 'chargeback-reversals')).toMatchObject([{ type: 'chargeback-reversal', amount: 1299 }])
    expect(await timeline(path)).toContain('payment-connector-report-chargeback-reversal-posted')
    await expectVerified()
  })
})

describe('asking', () => {
  test('100 times at once writes each line once, and tells of it once', async () => {
    const path = await sale({ payment_method: card('4000000000004012') })
    await act(`${path}/refunds`, { amount: 300 })
    await query("update sandbox_card_operations set decided_at = decided_at - interval '20 days'")
    await Promise.all(Array.from({ length: 100 }, () => ingestStatement(system(), idOf(path))))
    const lines = await query<{ kind: string }>(
      'select kind from statement_lines where transaction_id = $1 order by 1',
      [idOf(path)],
    )
    expect(lines.map(({ kind }) => kind)).toEqual([
      'chargeback',
      'chargeback-reversal',
      'refund-settlement',
      'settlement',
    ])
    expect(await get(path)).toMatchObject({ settled: true, settled_amount: 999, disputed: false })
    const names = await timeline(path)
    expect(names.filter((name) => name.startsWith('payment-connector-report'))).toHaveLength(4)
    const told = await events(idOf(path))
    expect(told.filter((name) => name.startsWith('transaction.settled'))).toHaveLength(1)
    await expectVerified()
  })

  test('is done at once when the provider says that there is more', async () => {
    const secret = 'a secret of this service'
    const fields = [
      { key: 'merchant_id', value: 'shop' },
      { key: 'webhook_secret', value: secret },
    ]
    const service = await makeService({ settlement_reporting_enabled: true, fields })
    const path = await sale({ payment_service_id: service })
    await query("update sandbox_card_operations set decided_at = decided_at - interval '1 day'")
    const [attempt] = await query<{ id: string }>('select id from attempts where transaction_id = $1', [idOf(path)])
    const body = Buffer.from(JSON.stringify({ id: 'report of today', reference: attempt?.id, kind: 'report' }))
    const headers = signNotification({ secret, body, now: new Date() })
    for (const _ of [1, 2]) {
      const sent = { token: '', headers, rawBody: body }
      expect((await api.request('POST', `/payment-services/${service}/notifications`, sent)).status).toBe(200)
    }
    expect(await get(path)).toMatchObject({ settled: true, settled_amount: 1299 })
    expect(await list(path)).toHaveLength(1)
  })

  test('is done by the worker when a day has passed, and again the next day', async () => {
    const path = await sale({ payment_method: card('4000000000004004') })
    await runJob(0.9)
    expect(await get(path)).toMatchObject({ settled: false })
    await runJob(1.1)
    expect(await get(path)).toMatchObject({ settled: true, disputed: false })
    await runJob(5)
    expect(await get(path)).toMatchObject({ disputed: true })
    expect(await checksOf(path)).toHaveLength(1)
    await runJob(70)
    expect(await checksOf(path)).toHaveLength(0)
  })

  test('by two workers asks about a payment once', async () => {
    const made = await Promise.all(Array.from({ length: 20 }, () => sale()))
    await query(
      "update statement_checks set next_check_at = now() + interval '1 year' where transaction_id <> all($1)",
      [made.map(idOf)],
    )
    const asked = await Promise.all([runJob(1.5), runJob(1.5), runJob(1.5)])
    expect(asked.reduce((sum, count) => sum + count, 0)).toBe(20)
  })

  test('ends for what was never charged, and begins again with a refund', async () => {
    const [declined, voided, refunded] = [
      await sale({ amount: 200_011 }),
      await paid({ payment_service_id: reporting }),
      await sale(),
    ]
    await act(`${voided}/void`)
    await runJob(1.1)
    expect(await checksOf(declined)).toHaveLength(0)
    expect(await checksOf(voided)).toHaveLength(0)
    await query('delete from statement_checks where transaction_id = $1', [idOf(refunded)])
    await act(`${refunded}/refunds`, { amount: 100 })
    expect(await checksOf(refunded)).toHaveLength(1)
  })
})

test('another account does not see them', async () => {
  const path = await sale()
  await later(path, 1)
  const [line] = await list(path)
  const headers = { 'X-Service-Merchant-Account-ID': 'other' }
  for (const what of [
    'settlements',
    `settlements/${line?.id}`,
    'refund-settlements',
    'chargebacks',
    'chargeback-reversals',
  ]) {
    expect((await api.request('GET', `${path}/${what}`, { headers })).status).toBe(404)
  }
  const another = await sale()
  expect((await api.request('GET', `${another}/settlements/${line?.id}`)).status).toBe(404)
  expect((await api.request('GET', `${path}/refund-settlements/${line?.id}`)).status).toBe(404)
})
