import { expect, test } from 'vitest'
import { hexSignature, signatureHeaders, standardSignature } from './sign.ts'

test('the hex form has the value of the contract', () => {
  expect(hexSignature('whsec-example', '1700000000', '{"type":"event"}')).toBe(
    'c98debf640c86f628133e5687e6513896a0cb614bc2f005dec241b48840eaf6c',
  )
})

test('the standard form has the value of its published example', () => {
  expect(
    standardSignature(
      'whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw',
      'msg_p5jXN8AQM9LWM0D4loKWxJek',
      '1614265330',
      '{"test": 2432232314}',
    ),
  ).toBe('v1,g0hM9SsE+OTPJTGt/tmIKtSyZlE3uFJELVlNIOLJ1OE=')
})

test('while a secret is rotated both sign, in both forms', () => {
  const secrets = ['whsec_bmV3IG5ldyBuZXcgbmV3IG5ldyBuZXc=', 'whsec_b2xkIG9sZCBvbGQgb2xkIG9sZCBvbGQ=']
  const now = new Date(1_700_000_000_999)
  const headers = signatureHeaders({ prefix: 'X-Service-', id: 'an-id', now, body: '{}', secrets })
  expect(headers).toMatchObject({
    'X-Service-Webhook-ID': 'an-id',
    'X-Service-Webhook-Timestamp': '1700000000',
    'webhook-id': 'an-id',
    'webhook-timestamp': '1700000000',
  })
  expect(headers['X-Service-Webhook-Signatures']).toBe(
    secrets.map((secret) => hexSignature(secret, '1700000000', '{}')).join(','),
  )
  expect(headers['webhook-signature']).toBe(
    secrets.map((secret) => standardSignature(secret, 'an-id', '1700000000', '{}')).join(' '),
  )
})
