import { expect, test } from 'vitest'
import { signatureHeaders } from '../../src/webhooks/sign.ts'
import { acceptsStandardForm, isHexSignature } from './verify.ts'

test("the receiver of our proofs takes the contract's signature, and no other", () => {
  const signature = 'c98debf640c86f628133e5687e6513896a0cb614bc2f005dec241b48840eaf6c'
  expect(isHexSignature(signature, 'whsec-example', '1700000000', '{"type":"event"}')).toBe(true)
  expect(isHexSignature(signature, 'whsec-example', '1700000001', '{"type":"event"}')).toBe(false)
})

test('it takes no standard signature of another body, secret or time', () => {
  const secret = 'whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw'
  const headersAt = (now: Date) =>
    signatureHeaders({ prefix: 'X-Service-', id: 'an-id', now, body: '{}', secrets: [secret] })
  expect(acceptsStandardForm(secret, headersAt(new Date()), '{}')).toBe(true)
  expect(acceptsStandardForm(secret, headersAt(new Date()), '{ }')).toBe(false)
  expect(acceptsStandardForm(`${secret.slice(0, -4)}AAAA`, headersAt(new Date()), '{}')).toBe(false)
  expect(acceptsStandardForm(secret, headersAt(new Date(Date.now() - 3_600_000)), '{}')).toBe(false)
})
