import { describe, expect, test } from 'vitest'
import { card, idOf, refusal, usePayments } from '../../../test/payments.ts'

/* What is told of a payment: its timeline, and the events that leave. */

const { api, paid, get, act, settled, timeline, events } = usePayments()

const response = (what: string) => `payment-connector-response-transaction-${what}`
const moved = 'transaction-updated-status'

describe('the timeline', () => {
  test('of a payment that is authorized and captured', async () => {
    const path = await paid()
    await act(`${path}/capture`)
    expect(await timeline(path)).toEqual([
      response('authorization-succeeded'),
      moved,
      response('capture-succeeded'),
      moved,
    ])
  })

  test.each([
    ['charged at once', { intent: 'capture' }, response('capture-succeeded')],
    ['declined', { amount: 200_011 }, response('declined')],
    ['failed', { amount: 300_004 }, response('authorization-failed')],
  ])('of a payment that is %s', async (_name, change, name) => {
    expect(await timeline(await paid(change))).toEqual([name, moved])
  })

  test('of a void that is declined and one that succeeds', async () => {
    const [declined, succeeded] = [await paid({ amount: 510_002 }), await paid()]
    await act(`${declined}/void`)
    await act(`${succeeded}/void`)
    expect((await timeline(declined)).slice(2)).toEqual([response('void-declined'), moved])
    expect((await timeline(succeeded)).slice(2)).toEqual([response('void-succeeded'), moved])
  })

  test('of a payment that is canceled, and one that is asked about and changed', async () => {
    const path = await paid({ payment_method: card('4000000000002008') })
    await act(`${path}/cancel`)
    expect(await timeline(path)).toEqual([response('cancel-succeeded'), moved])
    const changed = await paid()
    await act(`${changed}/sync`)
    await api.request('PUT', changed, { body: { metadata: { a: 'b' } } })
    expect((await timeline(changed)).slice(2)).toEqual(['transaction-sync-event', 'transaction-modified-event'])
  })

  test('says from where to where the status moved, and what the provider answered', async () => {
    const path = await paid({ amount: 200_011 })
    const { items } = await get<{ items: { context: unknown }[] }>(`${path}/events`)
    expect(items.map(({ context }) => context)).toMatchObject([
      { from: 'processing', to: 'authorization_declined' },
      { status: 'declined', error_code: 'insufficient_funds', raw_response_code: '51' },
    ])
  })
})

describe('events', () => {
  test('of an authorization that is captured', async () => {
    const path = await paid()
    expect(await events(idOf(path))).toEqual(['transaction.authorized 2'])
    await act(`${path}/capture`)
    expect(await events(idOf(path))).toEqual(['transaction.authorized 2', 'transaction.captured 4'])
    const { items } = await get<{ items: { id: string }[] }>(`${path}/captures`)
    expect(await events(items[0]?.id ?? '')).toEqual([expect.stringMatching(/^capture\.succeeded \d+$/)])
  })

  test.each([
    ['transaction.captured', { intent: 'capture' }],
    ['transaction.declined', { amount: 200_011 }],
    ['transaction.failed', { amount: 300_004 }],
  ])('%s', async (name, change) => {
    expect(await events(idOf(await paid(change)))).toEqual([`${name} 2`])
  })

  test('of a capture that takes time', async () => {
    const path = await paid({ payment_method: card('4000000000002016') })
    await act(`${path}/capture`)
    await settled(path)
    const names = await events(idOf(path))
    expect(names.map((line) => line.split(' ')[0])).toEqual([
      'transaction.authorized',
      'transaction.capture-pending',
      'transaction.captured',
    ])
    const { items } = await get<{ items: { id: string }[] }>(`${path}/captures`)
    const ofCapture = await events(items[0]?.id ?? '')
    expect(ofCapture.map((line) => line.split(' ')[0])).toEqual(['capture.pending', 'capture.succeeded'])
  })

  test.each([
    [500_001, 'capture.failed'],
    [500_002, 'capture.declined'],
  ])('of a capture that is refused: %i', async (amount, name) => {
    const path = await paid({ amount: 600_000 })
    await act(`${path}/capture`, { amount })
    expect((await events(idOf(path))).map((line) => line.split(' ')[0])).toEqual([
      'transaction.authorized',
      'transaction.capture-failed',
    ])
    const { items } = await get<{ items: { id: string }[] }>(`${path}/captures`)
    expect(await events(items[0]?.id ?? '')).toEqual([expect.stringMatching(`^${name} `)])
  })

  test('of a charge that was to happen later and did not', async () => {
    const path = await paid({ intent: 'capture', async_capture: true, amount: 500_002 })
    await settled(path)
    expect((await events(idOf(path))).map((line) => line.split(' ')[0])).toEqual([
      'transaction.capture-pending',
      'transaction.capture-failed',
    ])
  })

  test.each([
    ['transaction.voided', {}],
    ['transaction.void-failed', { amount: 510_001 }],
    ['transaction.void-declined', { amount: 510_002 }],
  ])('of a void: %s', async (name, change) => {
    const path = await paid(change)
    await act(`${path}/void`)
    expect((await events(idOf(path))).map((line) => line.split(' ')[0])).toEqual(['transaction.authorized', name])
  })

  test('of a void that takes time', async () => {
    const path = await paid({ payment_method: card('4000000000002024') })
    await act(`${path}/void`)
    await settled(path)
    expect((await events(idOf(path))).map((line) => line.split(' ')[0])).toEqual([
      'transaction.authorized',
      'transaction.void-pending',
      'transaction.voided',
    ])
  })

  test.each([
    [1000, 'refund.succeeded'],
    [520_002, 'refund.declined'],
    [520_001, 'refund.failed'],
  ])('of a refund of %i: %s', async (amount, name) => {
    const path = await paid({ intent: 'capture', amount: 600_000 })
    const { body } = await act(`${path}/refunds`, { amount })
    expect(await events(body.id)).toEqual([expect.stringMatching(`^${name} `)])
  })

  test('have a sequence that only rises, through a whole life', async () => {
    const path = await paid({ payment_method: card('4000000000002016') })
    await api.request('PUT', path, { body: { metadata: { a: 'b' } } })
    await act(`${path}/capture`, { amount: 1000, final: false })
    await settled(path)
    await act(`${path}/capture`)
    await settled(path)
    const sequences = (await events(idOf(path))).map((line) => Number(line.split(' ')[1]))
    expect(sequences).toHaveLength(6)
    expect(sequences.every((sequence, index) => index === 0 || sequence > (sequences[index - 1] ?? 0))).toBe(true)
  })

  test('say how the transaction was at that moment', async () => {
    const path = await paid({ external_identifier: 'order-1', metadata: { a: 'b' } })
    const rows = await api.database.query<{ target: object }>('select target from events where resource_id = $1', [
      idOf(path),
    ])
    expect(rows).toMatchObject([
      {
        target: {
          type: 'transaction',
          status: 'authorization_succeeded',
          amount: 1299,
          authorized_amount: 1299,
          external_identifier: 'order-1',
          metadata: { a: 'b' },
        },
      },
    ])
  })
})

describe('an update', () => {
  const update = (path: string, body: object) => api.request('PUT', path, { body })

  test("changes what is the merchant's own and reports it", async () => {
    const path = await paid({ external_identifier: 'order-1', metadata: { a: 'b' } })
    const { status, body } = await update(path, { external_identifier: 'order-2' })
    expect(status).toBe(200)
    expect(body).toMatchObject({ external_identifier: 'order-2', metadata: { a: 'b' } })
    expect(await get(path)).toEqual(body)
    expect(await events(idOf(path))).toEqual(['transaction.authorized 2', 'transaction.modified 3'])
  })

  test('replaces metadata as a whole, and clears what is null', async () => {
    const path = await paid({ external_identifier: 'order-1', metadata: { a: 'b', c: 'd' } })
    expect((await update(path, { metadata: { e: 'f' } })).body).toMatchObject({ metadata: { e: 'f' } })
    expect((await get(path))['metadata']).toEqual({ e: 'f' })
    expect((await update(path, { metadata: null, external_identifier: null })).body).toMatchObject({
      metadata: null,
      external_identifier: null,
    })
  })

  test.each(['status', 'amount', 'authorized_amount', 'captured_amount', 'payment_service_transaction_id'])(
    'cannot write %s, which is for the provider to say',
    async (name) => {
      const path = await paid()
      const before = await get(path)
      const value = name === 'status' ? 'capture_succeeded' : name.endsWith('_id') ? 'x' : 1
      expect(refusal(await update(path, { [name]: value }))).toEqual([400, `/${name} value_error.extra`])
      expect(await get(path)).toEqual(before)
    },
  )
})
