import { expect, test } from 'vitest'
import { type TransactionStatus, transactionStatuses } from '../src/areas/transactions/rules.ts'
import { card, usePayments } from './payments.ts'

/* Every status a transaction may have is one that a caller can bring about, through the API alone. */

const { paid, get, act } = usePayments()

/** Redirects come with a later issue. */
const notYet: TransactionStatus[] = ['buyer_approval_pending']

const withCard = (number: string) => paid({ payment_method: card(number) })
const after = async (made: Promise<string>, action: string) => {
  const path = await made
  await act(`${path}/${action}`)
  return path
}

const ways: Partial<Record<TransactionStatus, () => Promise<string>>> = {
  processing: () => withCard('4000000000002008'),
  authorization_succeeded: () => paid(),
  authorization_declined: () => paid({ amount: 200_011 }),
  authorization_failed: () => paid({ amount: 300_004 }),
  capture_pending: () => paid({ intent: 'capture', async_capture: true }),
  capture_succeeded: () => after(paid(), 'capture'),
  authorization_void_pending: () => after(withCard('4000000000002024'), 'void'),
  authorization_voided: () => after(paid(), 'void'),
}

test.each(transactionStatuses.filter((status) => !notYet.includes(status)))('%s is reached', async (status) => {
  const way = ways[status]
  if (!way) throw new Error(`say in this file how a transaction becomes ${status}`)
  expect((await get(await way())).status).toBe(status)
})

test('what is not reached yet has no way here', () => {
  expect(notYet.filter((status) => ways[status])).toEqual([])
})
