import { createHmac, type JsonWebKey } from 'node:crypto'
import { bearer, type Cast, type Forgery, list } from './forgery.ts'
import { claims, decode, ecSign, encode, headerOf, pssSign, rsaSign, type Signer, split, token } from './tokens.ts'

export const algorithms = list(
  'HS256|HS384|HS512|RS256|RS384|RS512|PS256|PS384|PS512|ES256|ES384|ES512|ES256K',
  'EdDSA|Ed25519|Ed448|ML-DSA-44|ML-DSA-65|ML-DSA-87',
)
export const nones = list(
  'none|None|NONE|nOnE|NonE|noNE|none | none|none\u0000|none\n|\u200bnone|n\u043ene',
  '|null|undefined|false| |0|no|plain|identity|unsecured',
)
export const misspellings = list(
  'es512|Es512|eS512|ES512 | ES512|ES-512|ES512\u0000|ES512\n|ES\u0665\u0661\u0662|E\u0405512|ES512,RS512',
  'rs512|Rs512|rS512|RS512 | RS512|RS-512|RS512\u0000|ecdsa|RSA|SHA512withECDSA',
)
const notStrings = [null, true, false, 0, 1, 512, [], ['ES512'], ['RS512'], {}, { alg: 'ES512' }]

/** Everything an attacker could take for a shared secret, all of it public. */
export function secretsOf({ publicKey, kid }: Signer): [form: string, secret: string | Uint8Array][] {
  const pem = publicKey.export({ type: 'spki', format: 'pem' }).toString()
  const der = publicKey.export({ type: 'spki', format: 'der' })
  const jwk: JsonWebKey = publicKey.export({ format: 'jwk' })
  const { crv, kty, x = '', y = '', n = '', e } = jwk
  return [
    ['PEM', pem],
    ['PEM without the last newline', pem.trimEnd()],
    ['PEM with CRLF', pem.replaceAll('\n', '\r\n')],
    ['PEM body', pem.replaceAll(/-----[A-Z ]+-----|\n/g, '')],
    ['DER', der],
    ['DER in hex', der.toString('hex')],
    ['JWK', JSON.stringify(jwk)],
    ['JWK of the thumbprint', JSON.stringify(kty === 'RSA' ? { e, kty, n } : { crv, kty, x, y })],
    ['point or modulus', kty === 'RSA' ? decode(n) : Buffer.concat([Buffer.of(4), decode(x), decode(y)])],
    ['kid', kid],
    ['nothing', ''],
  ]
}

export function hmac(alg: string, secret: string | Uint8Array) {
  const hash = /(256|384)/.exec(alg)?.[0] ?? '512'
  return (input: string) => createHmac(`sha${hash}`, secret).update(input).digest()
}

export function* algorithmConfusion({ ec, rsa, strangers }: Cast): Generator<Forgery> {
  for (const victim of [ec, rsa]) {
    const secrets = secretsOf(victim)
    for (const alg of [...algorithms, ...misspellings]) {
      const header = headerOf(victim, { alg })
      if (alg !== victim.alg) yield bearer(`${alg}, signed by the ${victim.name} key`, token(victim, header))
      yield bearer(`${alg}, no signature`, `${encode(header)}.${encode(claims())}.`)
      yield bearer(`${alg}, one zero byte`, `${encode(header)}.${encode(claims())}.AA`)
      for (const [form, secret] of secrets) {
        yield bearer(`${alg}, HMAC of the ${form}`, token({ ...victim, sign: hmac(alg, secret) }, header))
      }
      for (const other of strangers) yield bearer(`${alg}, signed by ${other.name}`, token(other, header))
    }
    for (const alg of notStrings) yield bearer(`alg ${JSON.stringify(alg)}`, token(victim, headerOf(victim, { alg })))
    yield bearer('no alg', token(victim, { typ: 'JWT', kid: victim.kid }))
  }
}

export function* noneSpellings({ known, strangers: [other] }: Cast): Generator<Forgery> {
  for (const { signer, token: good } of known) {
    const [, payload, signature] = split(good)
    for (const alg of nones) {
      for (const kid of [signer.kid, undefined, other?.kid]) {
        const header = encode({ alg, typ: 'JWT', kid })
        yield bearer(`${alg}, empty`, `${header}.${payload}.`)
        yield bearer(`${alg}, without the dot`, `${header}.${payload}`)
        yield bearer(`${alg}, zero byte`, `${header}.${payload}.AA`)
        yield bearer(`${alg}, good signature of another header`, `${header}.${payload}.${signature}`)
      }
      yield bearer(`${alg}, rightly signed`, token(signer, headerOf(signer, { alg })))
    }
  }
}

/** The registered keys used for algorithms that are theirs by type, but not ours. */
export function* otherUseOfTheRightKey({ ec, rsa }: Cast): Generator<Forgery> {
  const [rsaKey, ecKey] = [rsa.privateKey, ec.privateKey]
  const ways: [string, Signer, (input: string) => Buffer][] = [
    ['RS256', rsa, rsaSign(rsaKey, 'sha256')],
    ['RS384', rsa, rsaSign(rsaKey, 'sha384')],
    ['RS1', rsa, rsaSign(rsaKey, 'sha1')],
    ['PS256', rsa, pssSign(rsaKey, 'sha256')],
    ['PS384', rsa, pssSign(rsaKey, 'sha384')],
    ['PS512', rsa, pssSign(rsaKey, 'sha512')],
    ['RS512 over SHA3', rsa, rsaSign(rsaKey, 'sha3-512')],
    ['ES256', ec, ecSign(ecKey, 'sha256')],
    ['ES384', ec, ecSign(ecKey, 'sha384')],
    ['ES512 over SHA3', ec, ecSign(ecKey, 'sha3-512')],
    ['ES1', ec, ecSign(ecKey, 'sha1')],
  ]
  for (const [alg, signer, signWith] of ways) {
    for (const said of new Set([alg, signer.alg, 'RS512', 'ES512', 'PS512', 'RS256', 'ES256', 'ES384'])) {
      yield bearer(`${alg} said to be ${said}`, token({ ...signer, sign: signWith }, headerOf(signer, { alg: said })))
    }
  }
}

export function* smallerCurves({ ec, rsa, strangers }: Cast): Generator<Forgery> {
  for (const small of strangers.filter(({ alg }) => ['ES256', 'ES384', 'ES256K'].includes(alg))) {
    for (const alg of ['ES256', 'ES384', 'ES512', 'ES256K', 'RS512']) {
      for (const { kid } of [small, ec, rsa]) {
        yield bearer(`${small.name} as ${alg}`, token(small, headerOf(small, { alg, kid })))
        // Padded to the size that P-521 wants.
        const wide = { ...small, sign: (input: string) => widen(small.sign(input)) }
        yield bearer(`${small.name} as ${alg}, padded`, token(wide, headerOf(small, { alg, kid })))
      }
    }
  }
}

function widen(signature: Buffer): Buffer {
  const half = signature.length / 2
  const pad = Buffer.alloc(66 - half)
  return Buffer.concat([pad, signature.subarray(0, half), pad, signature.subarray(half)])
}
