import { randomUUID } from 'node:crypto'
import { expect, test } from 'vitest'
import { approved, authorization, signal, useCardProcessor } from '../../../../test/card-processor.ts'
import { forcingNumbers, testNumbers } from '../../../cards/test-numbers.ts'
import { scrub } from '../../../platform/log.ts'
import { connect } from '../../../platform/postgres.ts'
import { createMockCard } from './connector.ts'

const processor = useCardProcessor()
const { authorize, capture, refund, cancel, sync, pay, paymentRow, wait } = processor
const voidIt = processor.void
const unasked = { pageUrl: () => '', scenarios: async () => [] }
const failure = (errorCode: string) => ({ result: 'failed', errorCode, retriable: false })
const numberThatForces = (forces: string) => forcingNumbers.find((entry) => entry.forces === forces)?.number ?? ''
const count = (outcomes: readonly { result: string }[], result: string) =>
  outcomes.filter((outcome) => outcome.result === result).length
const day = 24 * 60 * 60 * 1000
const times = <Result>(many: number, work: (index: number) => Promise<Result>) =>
  Promise.all(Array.from({ length: many }, (_, index) => work(index)))

test('an approval has codes that depend on its reference alone and do not look like a card', async () => {
  const first = approved(await authorize({ reference: 'codes', securityCode: null }))
  expect(first).toEqual({
    result: 'approved',
    amount: 1299,
    providerReference: expect.stringMatching(/^[0-9a-f-]{36}$/),
    authorizationCode: expect.stringMatching(/^\d{6}$/),
    schemeTransactionId: expect.stringMatching(/^\d{15}$/),
    avs: 'match',
    cvv: 'not_provided',
    rawCode: '00',
    rawDescription: 'approved',
  })
  const elsewhere = { ...processor.service, merchantAccountId: 'codes' }
  const second = approved(await authorize({ reference: 'codes', service: elsewhere }))
  expect(second).toMatchObject({
    authorizationCode: first.authorizationCode,
    schemeTransactionId: first.schemeTransactionId,
  })
  const ids = (await times(200, () => authorize())).map((outcome) => approved(outcome).schemeTransactionId ?? '')
  expect(new Set(ids).size).toBe(200)
  expect(ids.map(scrub)).toEqual(ids)
})

test('authorize, capture in parts, refund: the payment adds up', async () => {
  const payment = await pay({ amount: 1000 })
  expect(await paymentRow(payment)).toEqual({ state: 'authorized', authorized: 1000, captured: 0, refunded: 0 })
  expect(await capture(payment, 300)).toMatchObject({ result: 'approved', amount: 300 })
  expect(await capture(payment, 400, { final: true })).toMatchObject({ result: 'approved', amount: 400 })
  expect(await capture(payment, 1)).toMatchObject(failure('invalid_operation'))
  expect(await refund(payment, 700)).toMatchObject({ result: 'approved', amount: 700 })
  expect(await refund(payment, 1)).toMatchObject(failure('invalid_amount'))
  expect(await paymentRow(payment)).toEqual({ state: 'completed', authorized: 1000, captured: 700, refunded: 700 })
})

test('a sale is captured at once and can only be refunded', async () => {
  const payment = await pay({ amount: 1000, intent: 'capture' })
  expect(await paymentRow(payment)).toEqual({ state: 'completed', authorized: 1000, captured: 1000, refunded: 0 })
  expect(await capture(payment, 1)).toMatchObject(failure('invalid_operation'))
  expect(await voidIt(payment)).toMatchObject(failure('invalid_operation'))
  expect(await cancel(payment)).toMatchObject(failure('invalid_operation'))
  expect(await refund(payment, 1001)).toMatchObject(failure('invalid_amount'))
  expect(await refund(payment, 1000)).toMatchObject({ result: 'approved', amount: 1000 })
})

test('a void needs a payment without captures, and nothing comes after it', async () => {
  const payment = await pay({ amount: 1000 })
  expect(await voidIt(payment)).toMatchObject({ result: 'approved', amount: 1000 })
  expect(await voidIt(payment)).toMatchObject(failure('invalid_operation'))
  expect(await capture(payment, 1)).toMatchObject(failure('invalid_operation'))
  expect(await refund(payment, 1)).toMatchObject(failure('invalid_amount'))
  const captured = await pay({ amount: 1000 })
  await capture(captured, 1)
  expect(await voidIt(captured)).toMatchObject(failure('invalid_operation'))
})

test('twice the authorized amount can be captured and no more', async () => {
  const payment = await pay({ amount: 1000 })
  expect(await capture(payment, 2001)).toMatchObject(failure('invalid_amount'))
  expect(await capture(payment, 2000)).toMatchObject({ result: 'approved', amount: 2000 })
  expect(await capture(payment, 1)).toMatchObject(failure('invalid_amount'))
})

test('a payment of another account, of another service, or of nobody is unknown; another currency is refused', async () => {
  const payment = await pay()
  const about = { reference: randomUUID(), paymentReference: payment, currency: 'USD', signal }
  const elsewhere = { ...processor.service, merchantAccountId: 'other' }
  const otherService = { ...processor.service, serviceId: randomUUID() }
  for (const service of [elsewhere, otherService]) {
    expect(await processor.connector().void({ ...about, reference: randomUUID(), service })).toMatchObject(
      failure('unknown_service_resource'),
    )
  }
  for (const unknown of [randomUUID(), 'no id', '']) {
    expect(await capture(unknown, 1)).toMatchObject(failure('unknown_service_resource'))
  }
  expect(await capture(payment, 1, { currency: 'EUR' })).toMatchObject(failure('incorrect_currency'))
  const refused = await authorize({ amount: 200011 })
  expect(await capture('providerReference' in refused ? (refused.providerReference ?? '') : '', 1)).toMatchObject(
    failure('invalid_operation'),
  )
})

test('a number that is no test number is refused, and told where the list is', async () => {
  const answer = await authorize({ number: '4111111111111129' })
  expect(answer).toMatchObject(failure('invalid_payment_method'))
  expect(answer).toMatchObject({ rawDescription: expect.stringMatching(/test numbers only.*docs\/sandbox\.md/) })
})

test.each(testNumbers)('$number is taken', async ({ number }) => {
  expect(await authorize({ number })).toMatchObject({ result: 'approved' })
})

test('a card is good through the last moment of its month by the clock of the processor', async () => {
  expect(await authorize({ expirationDate: '05/30' })).toMatchObject({ result: 'approved' })
  expect(await authorize({ expirationDate: '04/30' })).toMatchObject({
    result: 'declined',
    errorCode: 'expired_payment_method',
    rawCode: '54',
  })
})

test('an authorization expires after seven days by the clock of the account: no capture any more, but a void', async () => {
  const [early, late, partly] = [await pay(), await pay(), await pay()]
  await capture(partly, 100)
  wait(7 * day - 1)
  expect(await capture(early, 1299)).toMatchObject({ result: 'approved' })
  wait(1)
  const reference = randomUUID()
  const expired = { result: 'declined', errorCode: 'expired_authorization', rawCode: '5C' }
  expect(await capture(late, 1, { reference })).toMatchObject(expired)
  expect(await sync(reference)).toMatchObject(expired)
  expect(await capture(partly, 1)).toMatchObject(expired)
  expect(await refund(partly, 100)).toMatchObject({ result: 'approved' })
  expect(await voidIt(late)).toMatchObject({ result: 'approved' })
  expect(await capture(late, 1)).toMatchObject(failure('invalid_operation'))
})

test('a capture that was asked for before the authorization expired is made, however late it is decided', async () => {
  const payment = await pay({ number: numberThatForces('capture_pending') })
  wait(7 * day - 1)
  const reference = randomUUID()
  expect(await capture(payment, 1299, { final: true, reference })).toMatchObject({ result: 'pending' })
  wait(day)
  expect(await sync(reference)).toMatchObject({ result: 'approved', amount: 1299 })
})

test('the same reference again gives the same answer and charges once, also fifty at once', async () => {
  const reference = randomUUID()
  const answers = await times(50, () => authorize({ reference, intent: 'capture' }))
  const first = approved(answers[0] ?? { result: 'none' })
  for (const answer of [...answers, await authorize({ reference, intent: 'capture' }), await sync(reference)]) {
    expect(answer).toEqual(first)
  }
  const payments = await processor.database.query(
    'select p.id from sandbox_card_payments p join sandbox_card_operations o on o.payment_id = p.id where o.reference = $1',
    [reference],
  )
  expect(payments).toEqual([{ id: first.providerReference }])
})

test('a refusal is remembered too', async () => {
  const reference = randomUUID()
  const first = await authorize({ reference, amount: 200012 })
  expect(await authorize({ reference, amount: 200012 })).toEqual(first)
})

test('the same follow-up fifty times at once moves the money once', async () => {
  const payment = await pay({ amount: 1000 })
  for (const move of [
    (reference: string) => capture(payment, 10, { reference }),
    (reference: string) => refund(payment, 3, reference),
  ]) {
    const reference = randomUUID()
    const answers = await times(50, () => move(reference))
    for (const answer of answers) expect(answer).toEqual(approved(answers[0] ?? { result: 'none' }))
  }
  expect(await paymentRow(payment)).toMatchObject({ captured: 10, refunded: 3 })
})

test('a reference that was used for something else is refused, and nothing moves', async () => {
  const reference = randomUUID()
  const payment = approved(await authorize({ reference, amount: 1000 })).providerReference ?? ''
  const used = failure('duplicate_transaction')
  expect(await authorize({ reference, amount: 1001 })).toMatchObject(used)
  expect(await authorize({ reference, amount: 1000, intent: 'capture' })).toMatchObject(used)
  expect(await capture(payment, 1000, { reference })).toMatchObject(used)
  const captured = randomUUID()
  await capture(payment, 5, { reference: captured })
  expect(await capture(payment, 6, { reference: captured })).toMatchObject(used)
  expect(await capture(await pay(), 5, { reference: captured })).toMatchObject(used)
  expect(await paymentRow(payment)).toMatchObject({ state: 'authorized', captured: 5 })
})

test('what never arrived will not arrive: a late call is refused', async () => {
  const reference = randomUUID()
  expect(await sync(reference)).toEqual({ result: 'never_arrived' })
  expect(await authorize({ reference })).toMatchObject(failure('duplicate_transaction'))
  const payment = await pay()
  const captured = randomUUID()
  expect(await sync(captured)).toEqual({ result: 'never_arrived' })
  expect(await capture(payment, 1, { reference: captured })).toMatchObject(failure('duplicate_transaction'))
  expect(await paymentRow(payment)).toMatchObject({ captured: 0 })
  for (const one of [reference, captured]) expect(await sync(one)).toEqual({ result: 'never_arrived' })
})

test('a call and the question about it at the same moment: either it was made, or it never will be', async () => {
  const seen = new Set<string>()
  await times(60, async (index) => {
    const reference = randomUUID()
    const call = () => authorize({ reference })
    const ask = () => sync(reference)
    const [made, asked] =
      index % 2 === 0
        ? await Promise.all([call(), ask()])
        : await Promise.all([ask(), call()]).then(([second, first]) => [first, second] as const)
    seen.add(asked.result)
    expect(asked.result).toBe(made.result === 'approved' ? 'approved' : 'never_arrived')
  })
  expect([...seen]).toContain('never_arrived')
})

test('a call that timed out before it was made: no trace, and asking closes it', async () => {
  const reference = randomUUID()
  expect(await authorize({ reference, number: numberThatForces('timeout_before') })).toEqual({ result: 'unknown' })
  const rows = () =>
    processor.database.query('select kind from sandbox_card_operations where reference = $1', [reference])
  expect(await rows()).toEqual([])
  expect(await sync(reference)).toEqual({ result: 'never_arrived' })
  expect(await rows()).toEqual([{ kind: 'never_arrived' }])
})

test('a call that timed out after it was made: asking, and calling again, tell what was done', async () => {
  const reference = randomUUID()
  const asked = { reference, amount: 1000, number: numberThatForces('timeout_after') }
  expect(await authorize(asked)).toEqual({ result: 'unknown' })
  const known = approved(await sync(reference))
  expect(await authorize(asked)).toEqual(known)
  expect(await paymentRow(known.providerReference ?? '')).toMatchObject({ state: 'authorized', authorized: 1000 })
})

test.each(['capture', 'void', 'refund'] as const)('%s that timed out was made, once', async (kind) => {
  const number = numberThatForces(`${kind}_timeout`)
  const payment = await pay({ number, amount: 1000, intent: kind === 'refund' ? 'capture' : 'authorize' })
  const reference = randomUUID()
  const move = () =>
    kind === 'capture'
      ? capture(payment, 400, { reference })
      : kind === 'void'
        ? voidIt(payment, reference)
        : refund(payment, 400, reference)
  expect(await move()).toEqual({ result: 'unknown' })
  const known = approved(await sync(reference))
  expect(known.amount).toBe(kind === 'void' ? 1000 : 400)
  expect(await move()).toEqual(known)
  expect(await paymentRow(payment)).toEqual(
    {
      capture: { state: 'authorized', authorized: 1000, captured: 400, refunded: 0 },
      void: { state: 'voided', authorized: 1000, captured: 0, refunded: 0 },
      refund: { state: 'completed', authorized: 1000, captured: 1000, refunded: 400 },
    }[kind],
  )
})

test('a sale that is captured later: pending until its time, then made once, however many ask', async () => {
  const reference = randomUUID()
  const first = await authorize({ reference, amount: 1000, intent: 'capture', asyncCapture: true })
  expect(first).toMatchObject({ result: 'pending', isAuthorized: true, askAfterMs: 2000 })
  const payment = 'providerReference' in first ? (first.providerReference ?? '') : ''
  wait(1999)
  expect(await sync(reference)).toMatchObject({ result: 'pending', askAfterMs: 1, providerReference: payment })
  expect(await paymentRow(payment)).toEqual({ state: 'pending', authorized: 1000, captured: 0, refunded: 0 })
  expect(await capture(payment, 1)).toMatchObject(failure('invalid_operation'))
  wait(1)
  const answers = await times(20, () => sync(reference))
  expect(count(answers, 'approved')).toBeGreaterThan(0)
  expect(count(answers, 'approved') + count(answers, 'pending')).toBe(20)
  expect(approved(await sync(reference))).toMatchObject({ amount: 1000, cvv: 'match', providerReference: payment })
  expect(await paymentRow(payment)).toEqual({ state: 'completed', authorized: 1000, captured: 1000, refunded: 0 })
})

test('of a sale that is captured later, a declined card is told at once and a failed capture later; the money stays reserved', async () => {
  const sale = { intent: 'capture', asyncCapture: true } as const
  expect(await authorize({ ...sale, amount: 200011 })).toMatchObject({ errorCode: 'insufficient_funds' })
  const reference = randomUUID()
  const first = await authorize({ ...sale, reference, amount: 500001 })
  expect(first).toMatchObject({ result: 'pending' })
  wait(2000)
  expect(await sync(reference)).toMatchObject({ result: 'failed', errorCode: 'service_network_error' })
  const payment = 'providerReference' in first ? (first.providerReference ?? '') : ''
  expect(await paymentRow(payment)).toMatchObject({ state: 'authorized', authorized: 500001, captured: 0 })
  expect(await cancel(payment)).toMatchObject(failure('invalid_operation'))
})

test('a pending capture, void and refund move the money when they fall due, once', async () => {
  const captured = await pay({ number: numberThatForces('capture_pending'), amount: 1000 })
  const voided = await pay({ number: numberThatForces('void_pending'), amount: 1000 })
  const refunded = await pay({ number: numberThatForces('refund_pending'), amount: 1000, intent: 'capture' })
  const references = { capture: randomUUID(), void: randomUUID(), refund: randomUUID() }
  const answers = [
    await capture(captured, 900, { reference: references.capture, final: true }),
    await voidIt(voided, references.void),
    await refund(refunded, 900, references.refund),
  ]
  for (const answer of answers) expect(answer).toMatchObject({ result: 'pending', askAfterMs: 2000 })
  const rows = () => Promise.all([captured, voided, refunded].map(paymentRow))
  const before = await rows()
  expect(before).toMatchObject([{ captured: 0 }, { state: 'authorized' }, { refunded: 0 }])
  for (const reference of Object.values(references)) expect(await sync(reference)).toMatchObject({ result: 'pending' })
  expect(await rows()).toEqual(before)
  wait(2000)
  for (const reference of Object.values(references)) {
    await times(10, () => sync(reference))
    expect(await sync(reference)).toMatchObject({ result: 'approved' })
  }
  expect(await rows()).toEqual([
    { state: 'completed', authorized: 1000, captured: 900, refunded: 0 },
    { state: 'voided', authorized: 1000, captured: 0, refunded: 0 },
    { state: 'completed', authorized: 1000, captured: 1000, refunded: 900 },
  ])
})

test('what no longer fits when it falls due fails then', async () => {
  const payment = await pay({ number: numberThatForces('refund_pending'), amount: 1000, intent: 'capture' })
  const [first, second] = [randomUUID(), randomUUID()]
  for (const reference of [first, second]) {
    expect(await refund(payment, 600, reference)).toMatchObject({ result: 'pending' })
  }
  wait(2000)
  expect(await sync(first)).toMatchObject({ result: 'approved', amount: 600 })
  expect(await sync(second)).toMatchObject(failure('invalid_amount'))
  const captured = await pay({ number: numberThatForces('capture_pending'), amount: 1000 })
  const reference = randomUUID()
  await capture(captured, 1000, { reference })
  await voidIt(captured)
  wait(2000)
  expect(await sync(reference)).toMatchObject(failure('invalid_operation'))
  expect(await paymentRow(captured)).toMatchObject({ state: 'voided', captured: 0 })
})

test('a pending payment can be canceled, and is canceled from then on', async () => {
  const reference = randomUUID()
  const first = await authorize({ reference, number: numberThatForces('pending') })
  const payment = 'providerReference' in first ? (first.providerReference ?? '') : ''
  const canceling = randomUUID()
  expect(await cancel(payment, canceling)).toMatchObject({ result: 'approved' })
  expect(await sync(reference)).toMatchObject(failure('canceled'))
  wait(2000)
  expect(await sync(reference)).toMatchObject(failure('canceled'))
  expect(await cancel(payment, canceling)).toMatchObject({ result: 'approved' })
  expect(await cancel(payment)).toMatchObject(failure('invalid_operation'))
  expect(await paymentRow(payment)).toEqual({ state: 'canceled', authorized: 0, captured: 0, refunded: 0 })
})

test('cancel and decision at the same moment: one of them wins, and both say which', async () => {
  await times(30, async () => {
    const reference = randomUUID()
    const first = await authorize({ reference, intent: 'capture', number: numberThatForces('pending') })
    const payment = 'providerReference' in first ? (first.providerReference ?? '') : ''
    wait(2000)
    const [canceled] = await Promise.all([cancel(payment), sync(reference)])
    const inTheEnd = await sync(reference)
    expect(inTheEnd.result).toBe(canceled.result === 'approved' ? 'failed' : 'approved')
    expect((await paymentRow(payment))?.captured).toBe(inTheEnd.result === 'approved' ? 1299 : 0)
  })
})

test('captures, and then refunds, that come together never exceed what there is', async () => {
  const payment = await pay({ amount: 1000 })
  const captures = await times(50, () => capture(payment, 150))
  expect(count(captures, 'approved')).toBe(13)
  expect(await paymentRow(payment)).toMatchObject({ captured: 1950 })
  const refunds = await times(50, () => refund(payment, 150))
  expect(count(refunds, 'approved')).toBe(13)
  expect(await paymentRow(payment)).toMatchObject({ captured: 1950, refunded: 1950 })
})

test('void and capture at the same moment: exactly one is made', async () => {
  await times(20, async () => {
    const payment = await pay({ amount: 1000 })
    const both = await Promise.all([voidIt(payment), capture(payment, 1000)])
    expect(count(both, 'approved')).toBe(1)
    const row = await paymentRow(payment)
    expect(row).toMatchObject(
      both[0].result === 'approved' ? { state: 'voided', captured: 0 } : { state: 'authorized', captured: 1000 },
    )
  })
})

test('the payments are what their operations add up to', async () => {
  const wrong = await processor.database.query(`
    select p.id, p.state from sandbox_card_payments p
    where captured <> (
        select coalesce(sum(amount), 0) from sandbox_card_operations o
        where o.payment_id = p.id and kind in ('sale', 'late_sale', 'capture') and outcome ->> 'result' = 'approved'
      )
      or refunded <> (
        select coalesce(sum(amount), 0) from sandbox_card_operations o
        where o.payment_id = p.id and kind = 'refund' and outcome ->> 'result' = 'approved'
      )`)
  expect(wrong).toEqual([])
})

test('accounts share nothing: not a reference, and not a statement', async () => {
  const reference = randomUUID()
  const answers = await times(40, (index) =>
    authorize({
      reference,
      amount: 1000 + index,
      service: { ...processor.service, merchantAccountId: `account-${index}` },
    }),
  )
  expect(answers.map((answer) => approved(answer).amount)).toEqual(answers.map((_, index) => 1000 + index))
  expect(new Set(answers.map((answer) => approved(answer).providerReference)).size).toBe(40)
})

test('an authorization is one statement and those that come together share it; a follow-up is one, a question two at most', async () => {
  const db = connect({
    url: processor.database.url('florin_api'),
    applicationName: 'counted',
    poolSize: 4,
    onError: () => undefined,
  })
  let statements = 0
  db.pool.on('connect', (client) => {
    const query = client.query.bind(client) as (...args: unknown[]) => unknown
    client.query = ((...args: unknown[]) => {
      statements += 1
      return query(...args)
    }) as typeof client.query
  })
  const connector = createMockCard({ ...unasked, db, now: processor.now })
  const counting = async <Result>(work: () => Promise<Result>) => {
    statements = 0
    return { result: await work(), statements }
  }
  const { service } = processor
  const paid = await counting(() => connector.authorize(authorization(service)))
  expect(paid).toMatchObject({ result: { result: 'approved' }, statements: 1 })
  const many = await counting(() => times(100, () => connector.authorize(authorization(service))))
  expect(count(many.result, 'approved')).toBe(100)
  expect(many.statements).toBeLessThan(5)
  const paymentReference = approved(paid.result).providerReference ?? ''
  const about = { service, paymentReference, reference: randomUUID(), currency: 'USD', signal }
  const captured = await counting(() => connector.capture({ ...about, amount: 1, final: true }))
  expect(captured).toMatchObject({ result: { result: 'approved' }, statements: 1 })
  expect(await counting(() => connector.sync(about))).toMatchObject({ statements: 1 })
  const pending = authorization(service, { number: numberThatForces('pending') })
  await connector.authorize(pending)
  expect(await counting(() => connector.sync(pending))).toMatchObject({ result: { result: 'pending' }, statements: 2 })
  await db.close()
})

test('a call that was given up, or that the database cannot take, has no known outcome', async () => {
  expect(await authorize({ signal: AbortSignal.abort() })).toEqual({ result: 'unknown' })
  const nowhere = connect({
    url: 'postgres://florin_api@127.0.0.1:1/none',
    applicationName: 'test',
    poolSize: 1,
    onError: () => undefined,
  })
  const connector = createMockCard({ ...unasked, db: nowhere, now: processor.now })
  const about = { service: processor.service, reference: randomUUID(), paymentReference: randomUUID(), currency: 'USD' }
  expect(await connector.void({ ...about, signal })).toEqual({ result: 'unknown' })
  expect(await connector.sync({ ...about, signal })).toEqual({ result: 'unknown' })
  await nowhere.close()
})

test('nothing that looks like a card is in the tables of the processor', async () => {
  await authorize({ number: '5555555555554444', securityCode: '987', postalCode: '4111 1111 1111 1111' })
  for (const table of ['sandbox_card_payments', 'sandbox_card_operations']) {
    const [row] = await processor.database.query<{ text: string }>(
      `select string_agg(entry::text, E'\\n') as text from ${table} as entry`,
    )
    const text = row?.text ?? ''
    expect(text.length).toBeGreaterThan(10_000)
    expect(scrub(text)).toBe(text)
    for (const { number } of [...testNumbers, ...forcingNumbers]) expect(text).not.toContain(number)
    expect(text).not.toContain('"987"')
  }
})
