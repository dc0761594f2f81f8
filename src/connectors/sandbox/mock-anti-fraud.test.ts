import { expect, test } from 'vitest'
import { mockAntiFraud } from './mock-anti-fraud.ts'

const ask = (emailAddress: string | null, signal = new AbortController().signal) =>
  mockAntiFraud.decide({
    merchantAccountId: 'default',
    serviceId: 'any',
    reference: 'any',
    amount: 1299,
    currency: 'EUR',
    country: 'DE',
    buyer: { firstName: null, lastName: null, emailAddress, postalCode: null },
    signal,
  })

test.each([
  ['accept@example.com', { decision: 'accept' }],
  ['reject@example.com', { decision: 'reject' }],
  ['review@example.com', { decision: 'review' }],
  ['Review@example.com', { decision: 'review' }],
  ['unavailable@example.com', { decision: 'skipped', fault: 'unavailable' }],
  ['ada@example.com', { decision: 'accept' }],
  ['reject+1@example.com', { decision: 'accept' }],
  ['ada@reject', { decision: 'accept' }],
  ['toString@example.com', { decision: 'accept' }],
  [null, { decision: 'skipped' }],
])('%s: %o', async (address, answer) => {
  expect(await ask(address)).toEqual(answer)
})

test('error@: the provider fails', async () => {
  await expect(ask('error@example.com')).rejects.toThrow('asked to fail')
})

test('timeout@: no answer until nobody waits any more', async () => {
  const waiting = new AbortController()
  const answer = ask('timeout@example.com', waiting.signal)
  waiting.abort()
  await expect(answer).rejects.toThrow('aborted')
})
