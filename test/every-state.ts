import type { Answer } from './api.ts'

type Request = (method: string, path: string, options?: { body?: unknown }) => Promise<Answer>

export const testCards = {
  approved: '4111111111111111',
  declined: '4000000000009995',
  retriable: '4000000000000002',
  failed: '4000000000001034',
  pending: '4000000000002008',
  capturePending: '4000000000002016',
  voidPending: '4000000000002024',
  refundPending: '4000000000002032',
  neverArrives: '4000000000003006',
  lost: '4000000000003014',
  captureLost: '4000000000003105',
  voidLost: '4000000000003113',
  refundLost: '4000000000003121',
}

export const cardOf = (number: string) => ({ method: 'card', number, expiration_date: '12/40', security_code: '123' })

/** What the sandbox pays with. */
export async function makeService(request: Request, displayName = 'Sandbox'): Promise<string> {
  const { body } = await request('POST', '/payment-services', {
    body: {
      display_name: displayName,
      payment_service_definition_id: 'mock-card',
      fields: [{ key: 'merchant_id', value: 'x' }],
      accepted_currencies: ['EUR', 'USD'],
      accepted_countries: ['DE', 'US'],
    },
  })
  return String(body['id'])
}

const usual = { amount: 1299, currency: 'EUR', country: 'DE' }

/** One authorized payment. */
export async function payOnce(request: Request): Promise<string> {
  const body = { ...usual, payment_method: cardOf(testCards.approved) }
  return String((await request('POST', '/transactions', { body })).body['id'])
}

/** Payments in every state that can be reached, named by how they got there. Needs a payment service. */
export async function makePayments(request: Request): Promise<Record<string, string>> {
  const ids: Record<string, string> = {}
  const expectDone = (name: string, { status, text }: Answer) => {
    if (status >= 300) throw new Error(`${name}: ${status} ${text}`)
  }
  const pay = async (name: string, number: string, change: object = {}) => {
    const body = { ...usual, payment_method: cardOf(number), ...change }
    const answer = await request('POST', '/transactions', { body })
    expectDone(name, answer)
    ids[name] = String(answer.body['id'])
  }
  const act = async (name: string, action: string, body?: object) => {
    const answer = await request('POST', `/transactions/${ids[name] ?? ''}/${action}`, body ? { body } : {})
    expectDone(`${name} ${action}`, answer)
  }
  const { approved } = testCards
  const sale = { intent: 'capture' }

  await pay('authorized', approved)
  await pay('checked', approved, { amount: 0 })
  await pay('declined', testCards.declined)
  await pay('tried twice', testCards.retriable)
  await pay('failed', testCards.failed)
  await pay('nobody asked', approved, { currency: 'GBP' })
  await pay('sold', approved, sale)
  await pay('sale declined', testCards.declined, sale)
  await pay('stored', approved, { ...sale, store: true })
  await pay('store declined', testCards.declined, { store: true })
  await pay('told much', approved, {
    buyer: {
      external_identifier: 'buyer "1"',
      billing_details: { first_name: 'Zoë', address: { postal_code: '789', country: 'DE' } },
    },
    metadata: { order: '4711', note: 'a "quoted" \u2028 line' },
    cart_items: [{ name: 'Boots', quantity: 2, unit_amount: 600, categories: ['shoes'] }],
    statement_descriptor: { name: 'Boots and co' },
    airline: { booking_code: 'X1', legs: [{ arrival_airport: 'BER' }] },
  })
  await pay('pending', testCards.pending)
  await pay('sale pending', testCards.pending, sale)
  await pay('captured later', approved, { ...sale, async_capture: true })
  await pay('pending, then declined', testCards.pending, { amount: 200_011 })
  await pay('canceled', testCards.pending)
  await act('canceled', 'cancel')
  await pay('never arrived', testCards.neverArrives)
  await pay('lost', testCards.lost, sale)
  await pay('store lost', testCards.lost, { store: true })

  await pay('captured', approved)
  await act('captured', 'capture')
  await pay('captured a part', approved)
  await act('captured a part', 'capture', { amount: 500 })
  await pay('captured twice', approved)
  await act('captured twice', 'capture', { amount: 500, final: false })
  await act('captured twice', 'capture', { amount: 300, final: false })
  await pay('capture refused', approved, { amount: 500_002 })
  await act('capture refused', 'capture')
  await pay('capture pending', testCards.capturePending)
  await act('capture pending', 'capture')
  await pay('capture lost', testCards.captureLost)
  await act('capture lost', 'capture')
  await pay('voided', approved)
  await act('voided', 'void')
  await pay('void pending', testCards.voidPending)
  await act('void pending', 'void')
  await pay('void lost', testCards.voidLost)
  await act('void lost', 'void')
  await pay('refunded', approved, sale)
  await act('refunded', 'refunds', { amount: 300 })
  await act('refunded', 'refunds/all')
  await pay('refund pending', testCards.refundPending, sale)
  await act('refund pending', 'refunds', { amount: 300 })
  await act('refund pending', 'refunds', { amount: 200 })
  await pay('refund lost', testCards.refundLost, sale)
  await act('refund lost', 'refunds', { amount: 300 })
  return ids
}
