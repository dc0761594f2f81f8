import { expect, test } from 'vitest'
import { decideReplacement } from './rules.ts'

test('newer details wait, whatever waited before', () => {
  expect([decideReplacement(false, 'found'), decideReplacement(true, 'found')]).toEqual(['wait', 'wait'])
})

test('a waiting replacement applies when the card expires, when only its date changed, and on four declines', () => {
  for (const trigger of [
    'expired',
    'only_expiration_changed',
    'declined:canceled_payment_method',
    'declined:expired_payment_method',
    'declined:unavailable_payment_method',
    'declined:unknown_payment_method',
  ] as const) {
    expect(decideReplacement(true, trigger), trigger).toBe('apply')
    expect(decideReplacement(false, trigger), trigger).toBe('none')
  }
})

test('no other decline applies it', () => {
  for (const code of ['insufficient_funds', 'issuer_decline', 'incorrect_cvv', 'suspected_fraud', '']) {
    expect(decideReplacement(true, `declined:${code}`), code).toBe('none')
  }
})
