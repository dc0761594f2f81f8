import { expect, test } from 'vitest'
import { isHexSignature, isStandardSignature } from './verify.ts'

test("the receiver of our proofs takes the contract's signature, and no other", () => {
  const signature = 'c98debf640c86f628133e5687e6513896a0cb614bc2f005dec241b48840eaf6c'
  expect(isHexSignature(signature, 'whsec-example', '1700000000', '{"type":"event"}')).toBe(true)
  expect(isHexSignature(signature, 'whsec-example', '1700000001', '{"type":"event"}')).toBe(false)
})

test("it takes the published example's signature of Standard Webhooks, and no other", () => {
  const message = { id: 'msg_p5jXN8AQM9LWM0D4loKWxJek', timestamp: '1614265330', body: '{"test": 2432232314}' }
  const secret = 'whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw'
  const signature = 'g0hM9SsE+OTPJTGt/tmIKtSyZlE3uFJELVlNIOLJ1OE='
  expect(isStandardSignature(signature, secret, message)).toBe(true)
  expect(isStandardSignature(signature, secret, { ...message, body: '{"test": 2432232315}' })).toBe(false)
})
