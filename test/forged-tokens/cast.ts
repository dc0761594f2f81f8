import { generateKeyPairSync, type KeyObject, randomBytes, sign } from 'node:crypto'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { setTimeout as sleep } from 'node:timers/promises'
import { calculateJwkThumbprint, type JWK } from 'jose'
import { afterAll, beforeAll, expect } from 'vitest'
import type { TestApi } from '../api.ts'
import type { Ask } from './asking.ts'
import type { Cast } from './forgery.ts'
import { ecSign, pssSign, registered, rsaSign, type Signer, token } from './tokens.ts'

/** Everybody the forgeries are made of: key pairs of the api, active and revoked, strangers, and a server to lure it to. */
export function useCast(api: TestApi, ask: Ask): { cast: () => Cast; lured: () => number } {
  let cast: Cast
  let lured = 0
  const lure = createServer((_request, response) => {
    lured += 1
    response.end('{"keys":[]}')
  })

  beforeAll(async () => {
    await new Promise<void>((resolve) => lure.listen(0, '127.0.0.1', resolve))
    const [ec, rsa, other] = [
      registered('ec', await api.makeKeyPair()),
      registered('rsa', await api.makeKeyPair({ algorithm: 'RSA' })),
      registered('other', await api.makeKeyPair()),
    ]
    cast = {
      ec,
      rsa,
      other,
      strangers: await makeStrangers(),
      known: [ec, rsa].map((signer) => ({ signer, token: token(signer) })),
      revoked: await revokedTokens(api, ask),
      lureUrl: `http://127.0.0.1:${(lure.address() as AddressInfo).port}/keys.json`,
    }
    for (const { token: good } of cast.known) expect(await ask(`Bearer ${good}`)).toMatchObject({ status: 200 })
  })
  afterAll(() => {
    lure.close()
  })

  return { cast: () => cast, lured: () => lured }
}

function makeStrangers(): Promise<Signer[]> {
  const ed = (key: KeyObject) => (input: string) => sign(null, Buffer.from(input), key)
  return Promise.all([
    stranger('ES512', generateKeyPairSync('ec', { namedCurve: 'P-521' }), (key) => ecSign(key, 'sha512')),
    stranger('ES384', generateKeyPairSync('ec', { namedCurve: 'P-384' }), (key) => ecSign(key, 'sha384')),
    stranger('ES256', generateKeyPairSync('ec', { namedCurve: 'P-256' }), (key) => ecSign(key, 'sha256')),
    stranger('ES256K', generateKeyPairSync('ec', { namedCurve: 'secp256k1' }), (key) => ecSign(key, 'sha256')),
    stranger('RS512', generateKeyPairSync('rsa', { modulusLength: 3072 }), (key) => rsaSign(key, 'sha512')),
    stranger('PS512', generateKeyPairSync('rsa', { modulusLength: 2048 }), (key) => pssSign(key, 'sha512')),
    stranger('Ed25519', generateKeyPairSync('ed25519'), ed),
    stranger('Ed448', generateKeyPairSync('ed448'), ed),
  ])
}

async function stranger(
  alg: string,
  { publicKey, privateKey }: { publicKey: KeyObject; privateKey: KeyObject },
  signer: (key: KeyObject) => (input: string) => Buffer,
): Promise<Signer> {
  return { name: `stranger ${alg}`, alg, kid: await thumbprintOf(publicKey), publicKey, sign: signer(privateKey) }
}

async function thumbprintOf(key: KeyObject): Promise<string> {
  return calculateJwkThumbprint(key.export({ format: 'jwk' }) as JWK).catch(() => randomBytes(32).toString('base64url'))
}

/** Tokens of pairs that were taken back; half of them were accepted, and remembered, before. */
async function revokedTokens(api: TestApi, ask: Ask): Promise<Cast['revoked']> {
  const tokens: { what: string; signer: Signer; token: string }[] = []
  for (const algorithm of ['ECDSA', 'RSA'] as const) {
    for (const what of ['inactive', 'deleted']) {
      const signer = registered(what, await api.makeKeyPair({ algorithm }))
      const seen = Array.from({ length: 10 }, () => token(signer))
      for (const text of seen) expect(await ask(`Bearer ${text}`)).toMatchObject({ status: 200 })
      const path = `/api-key-pairs/${signer.id}`
      if (what === 'inactive') await api.request('PUT', path, { body: { active: false } })
      else await api.request('DELETE', path)
      await until(async () => (await ask(`Bearer ${seen[0]}`)).status === 401)
      const fresh = Array.from({ length: 10 }, () => token(signer))
      tokens.push(...[...seen, ...fresh].map((text) => ({ what: `${what} ${algorithm}`, signer, token: text })))
    }
  }
  return tokens
}

async function until(condition: () => Promise<boolean>): Promise<void> {
  const deadline = Date.now() + 5_000
  while (!(await condition())) {
    if (Date.now() > deadline) throw new Error('waited five seconds in vain')
    await sleep(20)
  }
}
