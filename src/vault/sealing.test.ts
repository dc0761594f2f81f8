import { createSecretKey, randomBytes, randomInt, randomUUID } from 'node:crypto'
import fc from 'fast-check'
import { expect, test } from 'vitest'
import {
  additionalData,
  decrypt,
  encodeParts,
  encrypt,
  fingerprint,
  type Place,
  seal,
  UnsealError,
  unseal,
} from './sealing.ts'

const bytes = (from: number, length: number) => Buffer.from(Array.from({ length }, (_, index) => from + index))
const key = createSecretKey(bytes(0, 32))
const place: Place = {
  instance: 'acme',
  merchantAccountId: 'default',
  id: '0190a1b2-c3d4-7e5f-8a9b-0c1d2e3f4a5b',
  field: 'number',
}

test('the format is the one that is written down: this ciphertext was made by another program', () => {
  const sealed = Buffer.from(
    '016465666768696a6b6c6d6e6f7c2aef5748d867af0f536ed9eb545bcc8f1a6dc1553a39b1e77ce7c28fc3f3fc',
    'hex',
  )
  expect(additionalData(place).toString('hex')).toBe(
    '0010666c6f72696e2d7365637265742d7631000461636d65000764656661756c7400243031393061316232' +
      '2d633364342d376535662d386139622d30633164326533663461356200066e756d626572',
  )
  expect(unseal(key, place, sealed).toString()).toBe('4111111111111111')
  expect(seal(key, place, Buffer.from('4111111111111111'))).toHaveLength(sealed.length)
})

test('a fingerprint is HMAC-SHA-256 over instance, kind and the whole number', () => {
  const number = Buffer.from('4111111111111111')
  const fingerprintKey = createSecretKey(bytes(32, 32))
  const known = '59edd16cddf19d9feaa7ec89db11a6ee00a065edca245ddd994f03948ab7d142'
  expect(fingerprint(fingerprintKey, 'acme', 'card', number)).toBe(known)
  expect(fingerprint(fingerprintKey, 'other', 'card', number)).not.toBe(known)
  expect(fingerprint(fingerprintKey, 'acme', 'card', Buffer.from('4111111111111112'))).not.toBe(known)
  expect(fingerprint(fingerprintKey, 'acme', 'gift-card', number)).not.toBe(known)
  expect(fingerprint(key, 'acme', 'card', number)).not.toBe(known)
})

test('what is sealed comes back as it was, whatever it is', () => {
  const anything = fc.record({
    instance: fc.string({ unit: 'binary' }),
    merchantAccountId: fc.string({ unit: 'binary' }),
    id: fc.uuid(),
    field: fc.string({ unit: 'binary' }),
  })
  fc.assert(
    fc.property(anything, fc.uint8Array({ maxLength: 2_000 }), (where, value) => {
      const plain = Buffer.from(value)
      const sealed = seal(key, where, plain)
      expect(sealed).toHaveLength(plain.length + 29)
      expect(unseal(key, where, sealed).equals(plain)).toBe(true)
    }),
    { numRuns: 500 },
  )
})

test('no two lists of parts have the same bytes, however they are cut', () => {
  const parts = fc.array(fc.string({ unit: fc.constantFrom('a', 'b', '\u0000', '\u0001', ''), maxLength: 4 }), {
    maxLength: 5,
  })
  fc.assert(
    fc.property(parts, parts, (left, right) => {
      const isSame = JSON.stringify(left) === JSON.stringify(right)
      expect(encodeParts(left).equals(encodeParts(right))).toBe(isSame)
    }),
    { numRuns: 20_000 },
  )
})

test('the same value sealed a hundred thousand times never shows the same nonce or ciphertext', () => {
  const plain = Buffer.from('4111111111111111')
  const nonces = new Set(Array.from({ length: 100_000 }, () => seal(key, place, plain).toString('latin1', 1, 13)))
  expect(nonces.size).toBe(100_000)
})

interface Codec {
  seal(place: Place, plain: Buffer): Buffer
  unseal(place: Place, sealed: Buffer): Buffer
}

const real: Codec = {
  seal: (where, plain) => seal(key, where, plain),
  unseal: (where, sealed) => unseal(key, where, sealed),
}

const randomPlace = (): Place => ({
  instance: `instance-${randomInt(4)}`,
  merchantAccountId: `account-${randomInt(50)}`,
  id: randomUUID(),
  field: ['number', 'replacement', 'password'][randomInt(3)] ?? '',
})

const moves: Record<string, (place: Place) => Place> = {
  'another row': (from) => ({ ...from, id: randomUUID() }),
  'another account': (from) => ({ ...from, merchantAccountId: `${from.merchantAccountId}0` }),
  'another field': (from) => ({ ...from, field: from.field === 'number' ? 'replacement' : 'number' }),
  'another instance': (from) => ({ ...from, instance: `${from.instance}0` }),
  // The bytes of all parts together stay the same; only where one ends and the next begins does not.
  'a shifted border': (from) => ({
    ...from,
    instance: from.instance + from.merchantAccountId.slice(0, 1),
    merchantAccountId: from.merchantAccountId.slice(1),
  }),
}

/** How many ciphertexts open where, or as, they should not. */
function countEscapes(codec: Codec, attempts: number): { tried: number; escaped: Record<string, number> } {
  const escaped: Record<string, number> = {}
  const kinds = [...Object.keys(moves), 'a flipped bit', 'a cut end', 'another key']
  const otherKey = createSecretKey(randomBytes(32))
  for (let attempt = 0; attempt < attempts; attempt += 1) {
    const kind = kinds[attempt % kinds.length] ?? ''
    const from = randomPlace()
    let sealed = codec.seal(from, Buffer.from('4000000000000002'))
    let to = from
    let open = codec.unseal
    if (kind === 'a flipped bit') sealed = flipBit(sealed, randomInt(sealed.length * 8))
    else if (kind === 'a cut end') sealed = sealed.subarray(0, randomInt(sealed.length))
    else if (kind === 'another key') open = (where, text) => decrypt(otherKey, additionalData(where), text)
    else to = moves[kind]?.(from) ?? from
    try {
      open(to, sealed)
      escaped[kind] = (escaped[kind] ?? 0) + 1
    } catch (error) {
      if (!(error instanceof UnsealError)) throw error
    }
  }
  return { tried: attempts, escaped }
}

function flipBit(text: Buffer, bit: number): Buffer {
  const flipped = Buffer.from(text)
  flipped[bit >> 3] = (flipped[bit >> 3] ?? 0) ^ (1 << (bit & 7))
  return flipped
}

test('every single bit counts: flipped, none of them lets the ciphertext open', () => {
  const sealed = seal(key, place, Buffer.from('4111111111111111'))
  for (let bit = 0; bit < sealed.length * 8; bit += 1) {
    expect(() => unseal(key, place, flipBit(sealed, bit)), `bit ${bit}`).toThrow(UnsealError)
  }
})

const attempts = Number(process.env['VAULT_MUTATIONS'] ?? 120_000)

test(`of ${attempts} ciphertexts that were moved or changed, none opens`, () => {
  expect(countEscapes(real, attempts)).toEqual({ tried: attempts, escaped: {} })
})

test('the check notices: bound to nothing every move escapes, with parts merely joined the shifted border does', () => {
  const unbound: Codec = {
    seal: (_, plain) => encrypt(key, Buffer.alloc(0), plain),
    unseal: (_, sealed) => decrypt(key, Buffer.alloc(0), sealed),
  }
  const found = countEscapes(unbound, 8_000).escaped
  expect(Object.keys(found).toSorted()).toEqual(Object.keys(moves).toSorted())

  const join = ({ instance, merchantAccountId, id, field }: Place) =>
    Buffer.from(instance + merchantAccountId + id + field)
  const joined: Codec = {
    seal: (where, plain) => encrypt(key, join(where), plain),
    unseal: (where, sealed) => decrypt(key, join(where), sealed),
  }
  expect(Object.keys(countEscapes(joined, 8_000).escaped)).toEqual(['a shifted border'])
})
