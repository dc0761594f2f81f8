import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test } from 'vitest'
import { card, idOf, usePayments } from '../../../../test/payments.ts'
import { createConnectors, createGiftCards } from '../../../connectors/registry.ts'
import { newId } from '../../../ids.ts'
import { onFailpoint } from '../../../platform/failpoint.ts'
import { createLog } from '../../../platform/log.ts'
import { connect, type Database } from '../../../platform/postgres.ts'
import { resolveDue } from '../operations/resolve.ts'
import { verifyTransactions } from '../operations/verify.ts'
import { acceptDueReviews } from './operations.ts'

/* What an anti-fraud provider says about a payment, and what becomes of it. */

const { api, makeService, pay, paid, get, act, settled, timeline, events } = usePayments()
const { query } = api.database
const other = { 'X-Service-Merchant-Account-ID': 'other' }
let worker: Database

beforeAll(() => {
  worker = connect({
    url: api.database.url('florin_worker'),
    applicationName: 'test',
    poolSize: 4,
    onError: () => undefined,
  })
})
afterAll(() => worker.close())
afterEach(() => onFailpoint(async () => undefined))

const guard = async (change: object = {}) => {
  await query('delete from anti_fraud_services')
  await api.request('POST', '/anti-fraud-services', {
    body: { anti_fraud_service_definition_id: 'mock-anti-fraud', display_name: 'Fraud checks', ...change },
  })
}
beforeEach(() => guard())

const buyer = (name: string) => ({ billing_details: { email_address: `${name}@example.com` } })
const by = (name: string, change: object = {}) => paid({ buyer: buyer(name), ...change })
const review = (path: string, decision = 'accept') => act(`${path}/review`, { decision })
const operationsOf = (path: string) =>
  query(
    'select from sandbox_card_operations where reference in (select id::text from attempts where transaction_id = $1)',
    [idOf(path)],
  )
const accepted = async (path: string) =>
  (await events(idOf(path))).filter((name) => name.startsWith('transaction.review-accepted'))

const system = (hours: number) => {
  const now = () => new Date(Date.now() + hours * 60 * 60 * 1000)
  const connectors = createConnectors({ environment: 'sandbox', db: worker, now })
  const giftCards = createGiftCards({ environment: 'sandbox', db: worker, now })
  const log = createLog({ level: 'silent', process: 'test' })
  return { db: worker, vault: api.vault.client(), connectors, giftCards, now, newId, log, accounts: 'all' as const }
}
const { signal } = new AbortController()
const runJob = (hours: number) => acceptDueReviews(system(hours), signal)

async function expectVerified() {
  const found: unknown[] = []
  await verifyTransactions({ db: worker, accounts: 'all' }, { onDifference: (difference) => found.push(difference) })
  expect(found).toEqual([])
}

describe('every decision:', () => {
  test.each([
    ['accept', 'accept', ['anti-fraud-decision']],
    ['somebody', 'accept', ['anti-fraud-decision']],
    ['error', 'error', ['anti-fraud-decision-error']],
    ['timeout', 'exception', ['anti-fraud-decision-error']],
    ['unavailable', 'skipped', ['anti-fraud-decision-error', 'anti-fraud-decision-skipped']],
  ])('%s@ is %s, and the payment goes on', async (name, anti_fraud_decision, lines) => {
    const path = await by(name)
    expect(await get(path)).toMatchObject({
      status: 'authorization_succeeded',
      anti_fraud_decision,
      pending_review: false,
    })
    expect(await timeline(path)).toEqual([
      ...lines,
      'payment-connector-response-transaction-authorization-succeeded',
      'transaction-updated-status',
    ])
    await expectVerified()
  })

  test('nobody can be looked at without an address: skipped', async () => {
    const path = await paid()
    expect(await get(path)).toMatchObject({ status: 'authorization_succeeded', anti_fraud_decision: 'skipped' })
    expect(await timeline(path)).toContain('anti-fraud-decision-skipped')
  })

  test.each(['authorize', 'capture'])(
    'reject@ is declined with intent %s, and no processor hears of it',
    async (intent) => {
      const path = await by('reject', { intent })
      expect(await get(path)).toMatchObject({
        status: 'authorization_declined',
        error_code: 'suspected_fraud',
        anti_fraud_decision: 'reject',
        intent_outcome: 'failed',
        authorized_amount: 0,
        pending_review: false,
      })
      expect(await operationsOf(path)).toEqual([])
      expect(await timeline(path)).toEqual(['anti-fraud-decision', 'transaction-updated-status'])
      expect(await events(idOf(path))).toEqual(['transaction.declined 2'])
      await expectVerified()
    },
  )

  test('review@ goes on, and its review is pending', async () => {
    const path = await by('review', { intent: 'capture' })
    expect(await get(path)).toMatchObject({
      status: 'capture_succeeded',
      anti_fraud_decision: 'review',
      pending_review: true,
    })
    await expectVerified()
  })

  test('review@ of a payment that is declined leaves nothing to review', async () => {
    const path = await by('review', { amount: 200_011 })
    expect(await get(path)).toMatchObject({ status: 'authorization_declined', pending_review: false })
  })

  test('review@ is accepted where reviews are off', async () => {
    await guard({ reviews_enabled: false })
    const path = await by('review')
    expect(await get(path)).toMatchObject({ anti_fraud_decision: 'accept', pending_review: false })
  })

  test('a payment that its provider decides later is reviewed when it has', async () => {
    const path = await by('review', { payment_method: card('4000000000002008') })
    expect(await get(path)).toMatchObject({
      status: 'processing',
      anti_fraud_decision: 'review',
      pending_review: false,
    })
    expect(await settled(path)).toMatchObject({ status: 'authorization_succeeded', pending_review: true })
  })

  test('a stored card is not kept when the payment with it is rejected', async () => {
    const path = await by('reject', { store: true })
    const { payment_method: method } = await get<{ payment_method: { id: string } }>(path)
    expect(await get(`/payment-methods/${method.id}`)).toMatchObject({ status: 'failed' })
  })

  test('with the same idempotency key the answer is the same', async () => {
    const change = { buyer: buyer('reject') }
    const [first, again] = [
      await pay(change, { 'Idempotency-Key': 'rejected' }),
      await pay(change, { 'Idempotency-Key': 'rejected' }),
    ]
    expect(first.body).toMatchObject({ anti_fraud_decision: 'reject', status: 'authorization_declined' })
    expect([again.body, again.headers.get('idempotency-replayed')]).toEqual([first.body, 'true'])
  })
})

test('a service that is not active, or of another account, is not asked', async () => {
  await guard({ active: false })
  expect(await get(await by('reject'))).toMatchObject({ status: 'authorization_succeeded', anti_fraud_decision: null })
  await guard()
  await makeService({}, 'other')
  const { body } = await pay({ buyer: buyer('reject') }, other)
  expect(body).toMatchObject({ status: 'authorization_succeeded', anti_fraud_decision: null })
})

describe('a review', () => {
  test('that is accepted ends, and is told of', async () => {
    const path = await by('review')
    const { status, body } = await review(path)
    expect([status, body]).toMatchObject([
      200,
      { id: idOf(path), pending_review: false, anti_fraud_decision: 'review' },
    ])
    expect(await get(path)).toEqual(body)
    expect(await events(idOf(path))).toEqual(['transaction.authorized 2', 'transaction.review-accepted 3'])
    expect(await timeline(path)).toContain('anti-fraud-decision-update')
    await expectVerified()
  })

  test('that is rejected ends, and the merchant may void', async () => {
    const path = await by('review')
    expect((await review(path, 'reject')).body).toMatchObject({
      status: 'authorization_succeeded',
      pending_review: false,
      anti_fraud_decision: 'review',
    })
    expect(await accepted(path)).toEqual([])
    expect((await act(`${path}/void`)).body).toMatchObject({ status: 'authorization_voided' })
  })

  test('ends once, though 50 say so at once', async () => {
    const path = await by('review')
    const answers = await Promise.all(Array.from({ length: 50 }, () => review(path)))
    expect(answers.map(({ status }) => status)).toEqual(Array(50).fill(200))
    expect(await accepted(path)).toHaveLength(1)
    const names = await timeline(path)
    expect(names.filter((name) => name === 'anti-fraud-decision-update')).toHaveLength(1)
  })

  test('stays ended when the payment goes on', async () => {
    const path = await by('review', { intent: 'capture', async_capture: true })
    expect(await get(path)).toMatchObject({ status: 'capture_pending', pending_review: true })
    await review(path)
    expect(await settled(path)).toMatchObject({ status: 'capture_succeeded', pending_review: false })
  })

  test('that nobody makes is accepted after a day', async () => {
    const path = await by('review')
    await runJob(23)
    expect(await get(path)).toMatchObject({ pending_review: true })
    await Promise.all([runJob(25), runJob(25)])
    expect(await get(path)).toMatchObject({ pending_review: false })
    expect(await accepted(path)).toHaveLength(1)
    await runJob(50)
    expect(await accepted(path)).toHaveLength(1)
  })

  test('of a payment that is not decided after a day waits for it', async () => {
    const path = await by('review', { payment_method: card('4000000000002008') })
    await runJob(25)
    expect(await settled(path)).toMatchObject({ status: 'authorization_succeeded', pending_review: true })
    await runJob(60)
    expect(await get(path)).toMatchObject({ pending_review: false })
  })

  test('of a payment that was refused is forgotten', async () => {
    const path = await by('review', { amount: 200_011 })
    await runJob(25)
    expect(await query('select from anti_fraud_reviews where transaction_id = $1', [idOf(path)])).toEqual([])
    expect(await accepted(path)).toEqual([])
  })

  test('is for its own account, and for what is there', async () => {
    const path = await by('review')
    expect((await act(`${path}/review`, { decision: 'accept' }, other)).status).toBe(404)
    expect(await get(path)).toMatchObject({ pending_review: true })
    const none = await paid()
    expect((await review(none)).body).toEqual(await get(none))
  })
})

describe('a request that dies', () => {
  /** The request ends there as if its process had. */
  const dieAt = (place: string) =>
    onFailpoint(async (name) => {
      if (name === place) throw new Error('died')
    })

  test.each(['reject', 'review', 'accept'])('after %s was said is ended by the janitor', async (name) => {
    dieAt('authorize: intent recorded')
    const { status } = await pay({ buyer: buyer(name), external_identifier: `died-${name}` })
    expect(status).toBe(500)
    await resolveDue(system(0.1), signal)
    const [row] = await query<{ id: string }>('select id from transactions where external_identifier = $1', [
      `died-${name}`,
    ])
    const path = `/transactions/${row?.id}`
    expect(await get(path)).toMatchObject({ status: 'authorization_failed', pending_review: false })
    await runJob(25)
    expect(await query('select from anti_fraud_reviews where transaction_id = $1', [row?.id])).toEqual([])
    expect(await accepted(path)).toEqual([])
    await expectVerified()
  })

  test('after its provider said yes leaves the review to be made', async () => {
    dieAt('authorize: provider answered')
    const { status } = await pay({ buyer: buyer('review'), external_identifier: 'died-late' })
    expect(status).toBe(500)
    await resolveDue(system(0.1), signal)
    const [row] = await query<{ id: string }>("select id from transactions where external_identifier = 'died-late'")
    const path = `/transactions/${row?.id}`
    expect(await get(path)).toMatchObject({
      status: 'authorization_succeeded',
      anti_fraud_decision: 'review',
      pending_review: true,
    })
    await expectVerified()
  })
})
