import { sign } from 'node:crypto'
import { bearer, type Cast, type Forgery } from './forgery.ts'
import { decode, split, token, withSignature } from './tokens.ts'

export function* flippedSignatures({ known }: Cast): Generator<Forgery> {
  for (const { signer, token: good } of known) {
    const signature = decode(split(good)[2])
    for (let bit = 0; bit < signature.length * 8; bit += 1) {
      yield bearer(`${signer.alg} bit ${bit}`, withSignature(good, flip(signature, bit)))
    }
  }
}

export function flip(bytes: Uint8Array, bit: number): Buffer {
  const copy = Buffer.from(bytes)
  copy[bit >> 3] = (copy[bit >> 3] ?? 0) ^ (1 << (bit & 7))
  return copy
}

export function* cutSignatures({ known }: Cast): Generator<Forgery> {
  for (const { signer, token: good } of known) {
    const signature = decode(split(good)[2])
    for (let size = 0; size < signature.length; size += 1) {
      yield bearer(`${signer.alg} first ${size} bytes`, withSignature(good, signature.subarray(0, size)))
      yield bearer(`${signer.alg} last ${size} bytes`, withSignature(good, signature.subarray(signature.length - size)))
    }
    for (let more = 1; more <= 16; more += 1) {
      yield bearer(`${more} zeros after`, withSignature(good, Buffer.concat([signature, Buffer.alloc(more)])))
      yield bearer(`${more} zeros before`, withSignature(good, Buffer.concat([Buffer.alloc(more), signature])))
    }
    yield bearer('twice', withSignature(good, Buffer.concat([signature, signature])))
    yield bearer('hex', withSignature(good, Buffer.from(signature.toString('hex'))))
    yield bearer('base64 twice', withSignature(good, Buffer.from(signature.toString('base64url'))))
  }
}

/** Of the group that P-521 signs in; `prime` is that of its field. */
export const order = BigInt(
  '0x1fffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffa51868783bf2f966b7fcc0148f709a5d03bb5c9b8899c47aebb6fb71e91386409',
)
const prime = (1n << 521n) - 1n
export const toBytes = (value: bigint) => Buffer.from(value.toString(16).padStart(132, '0').slice(-132), 'hex')
const toNumber = (bytes: Uint8Array) => BigInt(`0x${Buffer.from(bytes).toString('hex')}`)

export function halves(signature: Uint8Array): [r: bigint, s: bigint] {
  return [toNumber(signature.subarray(0, 66)), toNumber(signature.subarray(66))]
}

/** Signatures that an incomplete check takes for good whatever the message: zero, the order, and what lies around them. */
export function* degenerateSignatures({ known }: Cast): Generator<Forgery> {
  for (const { signer, token: good } of known) {
    const signature = decode(split(good)[2])
    for (const byte of [0, 1, 0x7f, 0xff])
      yield bearer(`all ${byte}`, withSignature(good, Buffer.alloc(signature.length, byte)))
    if (signer.alg === 'RS512') {
      const modulus = decode(signer.publicKey.export({ format: 'jwk' }).n ?? '')
      const values = [
        1n,
        toNumber(modulus) - 1n,
        toNumber(modulus),
        toNumber(modulus) + 1n,
        toNumber(modulus) - toNumber(signature),
      ]
      for (const value of [...values, toNumber(signature) + toNumber(modulus)]) {
        yield bearer('number', withSignature(good, Buffer.from(value.toString(16).padStart(768, '0'), 'hex')))
      }
      continue
    }
    const [r, s] = halves(signature)
    const special = {
      r,
      s,
      '0': 0n,
      '1': 1n,
      n: order,
      'n-1': order - 1n,
      'n+1': order + 1n,
      p: prime,
      'p+1': prime + 1n,
      max: (1n << 528n) - 1n,
    }
    const values: Record<string, bigint> = {
      ...special,
      'n-r': order - r,
      'n-s': order - s,
      'r+n': r + order,
      's+n': s + order,
      '2n': 2n * order,
    }
    for (const [nameOfR, first] of Object.entries(values)) {
      for (const [nameOfS, second] of Object.entries(values)) {
        // These two are good: a signature and its twin.
        if (nameOfR === 'r' && (nameOfS === 's' || nameOfS === 'n-s')) continue
        yield bearer(`(${nameOfR}, ${nameOfS})`, withSignature(good, Buffer.concat([toBytes(first), toBytes(second)])))
      }
    }
  }
}

export function* derSignatures({ ec }: Cast): Generator<Forgery> {
  const key = ec.privateKey
  const der = { ...ec, sign: (input: string) => sign('sha512', Buffer.from(input), { key, dsaEncoding: 'der' }) }
  for (let index = 0; index < 40; index += 1) {
    const text = token(der)
    const signature = decode(split(text)[2])
    yield bearer('DER', text)
    yield bearer('DER cut to size', withSignature(text, signature.subarray(0, 132)))
    yield bearer('DER padded', withSignature(text, Buffer.concat([signature, Buffer.alloc(8)])))
    yield bearer('DER without its head', withSignature(text, signature.subarray(3)))
  }
}
