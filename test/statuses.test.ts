import { beforeAll, expect, test } from 'vitest'
import { methodWays, type Step, transactionWays, type Way } from '../scripts/status-ways.ts'
import { paymentMethodStatuses } from '../src/areas/payment-methods/rules.ts'
import { transactionStatuses } from '../src/areas/transactions/rules.ts'
import { walk } from './buyer.ts'
import { usePayments } from './payments.ts'

/* Every status of the specification is one that a caller and a buyer can bring about, through the API and its pages alone. */

const { api, service, makeService } = usePayments()

beforeAll(async () => {
  await api.request('PUT', `/payment-services/${service()}`, { body: { three_d_secure_enabled: true } })
  await makeService({ payment_service_definition_id: 'mock-redirect' })
})

interface Answered {
  id: string
  status: string
  approval_url?: string | null
  payment_method?: { id: string | null; approval_url: string | null }
}

const decisions = { approve: 'approved', reject: 'rejected', expire: 'expired' } as const

async function take(step: Step, first: Answered | undefined): Promise<Answered | undefined> {
  if ('buyer' in step) {
    const address = first?.approval_url ?? first?.payment_method?.approval_url ?? ''
    const { statuses, shop } = await walk(address, decisions[step.buyer])
    expect(statuses).toEqual([303, 303])
    expect(shop.searchParams.get('transaction_id') ?? shop.searchParams.get('payment_method_id')).toBe(first?.id)
    return undefined
  }
  const [method = '', path = ''] = step.call.replace('{id}', first?.id ?? '').split(' ')
  const { status, text, body } = await api.request<Answered>(method, path, { ...(step.body && { body: step.body }) })
  if (status >= 300) throw new Error(text)
  return body
}

async function reach({ steps }: Way): Promise<Answered> {
  let first: Answered | undefined
  for (const step of steps) {
    const answered = await take(step, first)
    first ??= answered
  }
  if (!first) throw new Error('nothing was made')
  return first
}

const titled = (ways: readonly Way[]) => ways.map((way) => [way.status, way.when, way] as const)

test.each(titled(transactionWays))('a transaction is %s when %s', async (status, _when, way) => {
  const { id } = await reach(way)
  const { body } = await api.request<Answered>('GET', `/transactions/${id}`)
  expect(body.status).toBe(status)
  expect(Boolean(body.payment_method?.approval_url)).toBe(status === 'buyer_approval_pending')
})

test.each(titled(methodWays))('a payment method is %s when %s', async (status, _when, way) => {
  const made = await reach(way)
  const id = way.steps.some((step) => 'call' in step && step.call === 'POST /transactions')
    ? made.payment_method?.id
    : made.id
  const { body } = await api.request<Answered>('GET', `/payment-methods/${id}`)
  expect(body.status).toBe(status)
  expect(Boolean(body.approval_url)).toBe(status === 'buyer_approval_required')
})

test('there is a way to every status', () => {
  expect(new Set(transactionWays.map(({ status }) => status))).toEqual(new Set(transactionStatuses))
  const ofTheSpecification = paymentMethodStatuses.filter((status) => status !== 'paused')
  expect(new Set(methodWays.map(({ status }) => status))).toEqual(new Set(ofTheSpecification))
})
