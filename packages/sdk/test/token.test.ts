import { inspect } from 'node:util'
import { Florin } from '@florin/sdk'
import { compactVerify, importSPKI } from 'jose'
import { afterEach, beforeAll, expect, test, vi } from 'vitest'
import { makeKeyPair, type PublicKey } from '../../../src/platform/key-pair.ts'

let pairs: Record<'ECDSA' | 'RSA', { publicKey: PublicKey; privateKeyPem: string }>
beforeAll(async () => {
  pairs = { ECDSA: await makeKeyPair('ECDSA'), RSA: await makeKeyPair('RSA') }
})
afterEach(() => {
  vi.useRealTimers()
})

type Json = Record<string, unknown>
const claimsOf = (token: string) => JSON.parse(Buffer.from(token.split('.')[1] ?? '', 'base64url').toString()) as Json

/** A client whose requests go nowhere; the tokens they carry are written down. */
function watch(refused: (token: string) => boolean = () => false, options: object = {}) {
  const tokens: string[] = []
  const answer: typeof fetch = async (_input, init) => {
    const token = new Headers(init?.headers).get('authorization')?.slice('Bearer '.length) ?? ''
    tokens.push(token)
    return refused(token) ? new Response('', { status: 401 }) : Response.json({ items: [] })
  }
  const key = 'token' in options ? {} : { privateKey: pairs.ECDSA.privateKeyPem }
  const florin = new Florin({ baseUrl: 'http://127.0.0.1', fetch: answer, ...key, ...options })
  return { florin, tokens, ask: () => florin.buyers.list().page() }
}

test.each([
  ['ECDSA', 'ES512'],
  ['RSA', 'RS512'],
] as const)('a key of %s signs tokens that its public half verifies, under its thumbprint', async (kind, alg) => {
  const { publicKey, privateKeyPem } = pairs[kind]
  const token = await new Florin({ baseUrl: 'http://127.0.0.1', privateKey: privateKeyPem }).signToken()
  const { protectedHeader } = await compactVerify(token, await importSPKI(publicKey.pem, alg))
  expect(protectedHeader).toEqual({ alg, typ: 'JWT', kid: publicKey.thumbprint })
  const { iat, nbf, exp, iss, jti, scopes } = claimsOf(token)
  expect([scopes, Number(exp) - Number(iat), Number(nbf) - Number(iat), iss]).toEqual([
    ['*.read', '*.write'],
    3_600,
    0,
    'florin sdk',
  ])
  expect(jti).toMatch(/^[0-9a-f-]{36}$/)
})

test("a browser's token says what it is held to", async () => {
  const { florin } = watch()
  const token = await florin.signToken({
    scopes: ['embed'],
    embed: { amount: 1299, currency: 'EUR' },
    checkoutSessionId: '0192f4a6-7e0c-7c33-b1de-3f1a2b4c5d6e',
    expiresInSeconds: 60,
    issuer: 'my-shop',
  })
  const { scopes, embed, checkout_session_id: session, iat, exp, iss } = claimsOf(token)
  expect({ scopes, embed, session, iss, lifetime: Number(exp) - Number(iat) }).toEqual({
    scopes: ['embed'],
    embed: { amount: 1299, currency: 'EUR' },
    session: '0192f4a6-7e0c-7c33-b1de-3f1a2b4c5d6e',
    iss: 'my-shop',
    lifetime: 60,
  })
})

test('one token is signed for calls at once and for its lifetime, and another five minutes before its end', async () => {
  vi.useFakeTimers({ toFake: ['Date'] })
  const { tokens, ask } = watch()
  await Promise.all([ask(), ask(), ask()])
  vi.setSystemTime(Date.now() + 54 * 60_000)
  await ask()
  expect(new Set(tokens).size).toBe(1)
  vi.setSystemTime(Date.now() + 60_000)
  await ask()
  expect(new Set(tokens).size).toBe(2)
})

test('a token that was good and is refused is replaced once; one that never was is not', async () => {
  const bad = new Set<string>()
  const { tokens, ask } = watch((token) => bad.has(token))
  await ask()
  bad.add(tokens[0] ?? '')
  await Promise.all([ask(), ask()])
  expect(new Set(tokens).size).toBe(2)

  const never = watch(() => true)
  await expect(never.ask()).rejects.toMatchObject({ status: 401 })
  expect(never.tokens).toHaveLength(1)
  await expect(never.ask()).rejects.toMatchObject({ status: 401 })
  expect(never.tokens).toHaveLength(3)
})

test('a token of the caller’s own is taken, and a function is asked each time', async () => {
  const fixed = watch(undefined, { token: 'fixed' })
  await fixed.ask()
  let count = 0
  const asked = watch(undefined, { token: async () => `token-${(count += 1)}` })
  await asked.ask()
  await asked.ask()
  expect([...fixed.tokens, ...asked.tokens]).toEqual(['fixed', 'token-1', 'token-2'])
})

test('what is no key is said when it is first needed; a passphrase or another curve cannot be used', async () => {
  const other = '-----BEGIN PRIVATE KEY-----\nMIIBVQIBADANBgkqhkiG9w0BAQEFAASCAT8wggE7\n-----END PRIVATE KEY-----'
  const sign = (privateKey: string) => new Florin({ baseUrl: 'http://127.0.0.1', privateKey }).signToken()
  await expect(sign('secret')).rejects.toThrow('not a private key in PEM')
  await expect(sign(other)).rejects.toThrow('neither an EC key of the curve P-521 nor an RSA key')
  expect(() => new Florin({ baseUrl: 'florin' })).toThrow('baseUrl must be a URL')
  expect(() => new Florin({ baseUrl: 'http://x', privateKey: 'x', token: 'x' })).toThrow('not both')
})

test('a client that is printed shows neither key nor token', async () => {
  const { florin, tokens, ask } = watch()
  await ask()
  const printed = inspect(florin, { depth: 10, showHidden: true }) + JSON.stringify(florin)
  expect(printed).not.toContain('PRIVATE KEY')
  expect(printed).not.toContain(tokens[0])
})
