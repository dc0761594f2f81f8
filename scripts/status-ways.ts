/**
 * How each status is reached, as requests: docs/statuses.md shows them, and test/statuses.test.ts sends them. The sandbox has two payment
 * services for it: a card processor with 3-D Secure, and one that sends buyers to a page.
 */

/** `{id}` in a path is the id in the first answer. The buyer acts on the page behind the `approval_url` of the first answer. */
export type Step =
  | { call: `${'POST' | 'PUT' | 'GET'} /${string}`; body?: Readonly<Record<string, unknown>> }
  | { buyer: 'approve' | 'reject' | 'expire' }

export interface Way {
  status: string
  when: string
  steps: readonly Step[]
}

const back = { redirect_url: 'https://shop.example.com/return' }
const card = (number: string, more: object = {}) => ({
  method: 'card',
  number,
  expiration_date: '12/30',
  security_code: '123',
  ...more,
})
const usual = '4111111111111111'
const waits = '4000000000002008'
const pay = (change: object = {}, method: object = card(usual)): Step => ({
  call: 'POST /transactions',
  body: { amount: 1299, currency: 'EUR', country: 'DE', payment_method: method, ...change },
})
const act = (action: string): Step => ({ call: `POST /transactions/{id}/${action}` })
const challenged = card(usual, back)
const redirected = { method: 'custom_redirect', country: 'DE', currency: 'EUR', ...back }

export const transactionWays: readonly Way[] = [
  { status: 'processing', when: 'the provider has not decided yet', steps: [pay({}, card(waits))] },
  { status: 'buyer_approval_pending', when: '3-D Secure asks the buyer', steps: [pay({}, challenged)] },
  { status: 'buyer_approval_pending', when: 'a redirect method sends the buyer away', steps: [pay({}, redirected)] },
  { status: 'authorization_succeeded', when: 'the money is reserved', steps: [pay()] },
  {
    status: 'authorization_succeeded',
    when: 'the buyer has approved',
    steps: [pay({}, challenged), { buyer: 'approve' }],
  },
  { status: 'authorization_declined', when: 'the issuer says no', steps: [pay({ amount: 200_011 })] },
  {
    status: 'authorization_declined',
    when: 'the buyer does not prove who they are',
    steps: [pay({}, challenged), { buyer: 'reject' }],
  },
  { status: 'authorization_failed', when: 'it could not be done', steps: [pay({ amount: 300_004 })] },
  {
    status: 'authorization_failed',
    when: 'the buyer takes too long',
    steps: [pay({}, redirected), { buyer: 'expire' }],
  },
  { status: 'authorization_failed', when: 'it is canceled in time', steps: [pay({}, redirected), act('cancel')] },
  {
    status: 'capture_pending',
    when: 'the charge is made later',
    steps: [pay({ intent: 'capture', async_capture: true })],
  },
  { status: 'capture_succeeded', when: 'what was reserved is charged', steps: [pay(), act('capture')] },
  {
    status: 'capture_succeeded',
    when: 'the buyer approves a charge',
    steps: [pay({ intent: 'capture' }, redirected), { buyer: 'approve' }],
  },
  {
    status: 'authorization_void_pending',
    when: 'the provider takes its time to let go',
    steps: [pay({}, card('4000000000002024')), act('void')],
  },
  { status: 'authorization_voided', when: 'the money is let go', steps: [pay(), act('void')] },
]

const enrol: Step = { call: 'POST /payment-methods', body: redirected }

export const methodWays: readonly Way[] = [
  {
    status: 'processing',
    when: 'the payment that stores the card is not decided yet (its `payment_method`)',
    steps: [pay({ store: true }, card(waits))],
  },
  { status: 'buyer_approval_required', when: 'the buyer must approve', steps: [enrol] },
  { status: 'succeeded', when: 'a card is stored', steps: [{ call: 'POST /payment-methods', body: stored() }] },
  { status: 'succeeded', when: 'the buyer has approved', steps: [enrol, { buyer: 'approve' }] },
  { status: 'failed', when: 'the buyer has not approved', steps: [enrol, { buyer: 'reject' }] },
  {
    status: 'failed',
    when: 'the payment that should store the card is declined (its `payment_method`)',
    steps: [pay({ store: true, amount: 200_011 })],
  },
]

function stored(): Record<string, unknown> {
  const { security_code: _none, ...rest } = card(usual)
  return rest
}
