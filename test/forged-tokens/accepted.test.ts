import { beforeAll, expect, test } from 'vitest'
import { loadSigningKey } from '../../src/areas/api-key-pairs/operations.ts'
import { type Authenticate, createAuthenticator } from '../../src/http/authenticate.ts'
import { createKeyRing } from '../../src/http/key-ring.ts'
import { connect, type Database } from '../../src/platform/postgres.ts'
import { useApi } from '../api.ts'
import { useAsking } from './asking.ts'
import { goodTokens } from './good-tokens.ts'
import { halves, order, toBytes } from './signatures.ts'
import {
  type Claims,
  claims,
  day,
  decode,
  headerOf,
  life,
  type Registered,
  registered,
  split,
  token,
  withSignature,
} from './tokens.ts'

const api = useApi({ verifyConcurrency: 2 })
const { ask } = useAsking(api)
let ec: Registered
let rsa: Registered

beforeAll(async () => {
  ec = registered('ec', await api.makeKeyPair())
  rsa = registered('rsa', await api.makeKeyPair({ algorithm: 'RSA' }))
})

test.each(Object.keys(goodTokens))('accepted at the edge: %s', async (name) => {
  for (const signer of [ec, rsa]) {
    const authorization = goodTokens[name]?.(signer)
    expect([signer.name, (await ask(authorization)).status]).toEqual([signer.name, 200])
  }
})

/** An authenticator of our own on the real keys, with a clock that can be set. */
async function withAuthenticator(
  work: (authenticate: Authenticate, setClock: (seconds: number) => void) => Promise<void>,
): Promise<void> {
  const db: Database = connect({
    url: api.database.url('florin_api'),
    applicationName: 'test',
    poolSize: 2,
    onError: () => undefined,
  })
  let clock: number | undefined
  const keys = createKeyRing((thumbprint) => loadSigningKey(db, thumbprint))
  const authenticate = createAuthenticator({
    keys,
    now: () => (clock === undefined ? new Date() : new Date(clock * 1000)),
    concurrency: 2,
    onUse: () => undefined,
  })
  try {
    await work(authenticate, (seconds) => (clock = seconds))
  } finally {
    await db.close()
  }
}

test('the clock skew is sixty seconds and the longest life a day, to the millisecond, also for a token known already', async () => {
  const moment = 1_800_000_000
  const none = { iat: undefined, nbf: undefined }
  const cases: [what: string, changes: Claims, at: number, accepted: boolean][] = [
    ['exp 59.999 s ago', { ...none, exp: moment }, moment + 59.999, true],
    ['exp 60 s ago', { ...none, exp: moment }, moment + 60, false],
    ['nbf 60 s ahead', { nbf: moment, iat: undefined, exp: moment + 9 }, moment - 60, true],
    ['nbf 60.001 s ahead', { nbf: moment, iat: undefined, exp: moment + 9 }, moment - 60.001, false],
    ['iat 60 s ahead', { iat: moment, nbf: undefined, exp: moment + 9 }, moment - 60, true],
    ['iat 60.001 s ahead', { iat: moment, nbf: undefined, exp: moment + 9 }, moment - 60.001, false],
    ['a day after iat', { iat: moment, nbf: moment, exp: moment + day }, moment, true],
    ['more than a day after iat', { iat: moment, nbf: moment, exp: moment + day + 0.001 }, moment, false],
    ['more than a day after iat, soon over', { iat: moment, nbf: moment, exp: moment + day + 1 }, moment + day, false],
    ['a day after nbf', { nbf: moment, iat: undefined, exp: moment + day }, moment, true],
    ['more than a day after nbf', { nbf: moment, iat: undefined, exp: moment + day + 0.001 }, moment, false],
    ['iat counts before nbf', { iat: moment, nbf: moment + 30, exp: moment + day + 30 }, moment + 30, false],
    ['a day from now, skewed', { ...none, exp: moment + day + 60 }, moment, true],
    ['more than a day from now', { ...none, exp: moment + day + 60.001 }, moment, false],
  ]
  await withAuthenticator(async (authenticate, setClock) => {
    const decide = (text: string) =>
      authenticate(`Bearer ${text}`).then(
        () => true,
        () => false,
      )
    for (const signer of [ec, rsa]) {
      for (const [what, changes, at, accepted] of cases) {
        const text = token(signer, headerOf(signer), claims(changes))
        setClock(at)
        expect([what, await decide(text)]).toEqual([what, accepted])
      }
      const text = token(signer, headerOf(signer), claims(life(moment, 60)))
      const seen: boolean[] = []
      for (const at of [moment, moment + 119.999, moment + 120, moment + day, moment - 60.001, moment]) {
        setClock(at)
        seen.push(await decide(text))
      }
      expect(seen).toEqual([true, true, false, false, false, true])
    }
  })
})

test('a thousand byte-different twins of one token are all accepted, and are one identity', async () => {
  const shared = claims()
  const header = headerOf(ec)
  const twins = new Set<string>()
  const addBoth = (text: string) => {
    const [r, s] = halves(decode(split(text)[2]))
    twins.add(text)
    twins.add(withSignature(text, Buffer.concat([toBytes(r), toBytes(order - s)])))
  }
  // ECDSA is randomised: signing again gives another signature, and each has a twin that anybody can work out.
  for (let index = 0; index < 300; index += 1) addBoth(token(ec, header, shared))
  const members = Object.entries(shared)
  for (let index = 0; index < 200; index += 1) {
    const turned = members.map((_, at) => members[(at + index) % members.length] ?? ['', ''])
    const blank = ' '.repeat(index % 17) + '\n'.repeat(index % 5)
    const payload = `${blank}${JSON.stringify(Object.fromEntries(turned), null, index % 7)}${blank}`
    addBoth(token(ec, index % 2 ? { kid: ec.kid, alg: ec.alg } : header, payload))
  }
  expect(twins.size).toBe(1_000)
  await withAuthenticator(async (authenticate) => {
    const callers = []
    for (const twin of twins) callers.push(await authenticate(`Bearer ${twin}`))
    expect(callers).toHaveLength(1_000)
    expect(new Set(callers.map(({ tokenId }) => tokenId))).toEqual(new Set([`${ec.kid}.${String(shared['jti'])}`]))
    expect(new Set(callers.map(({ keyPairId }) => keyPairId))).toEqual(new Set([ec.id]))
    const another = await authenticate(`Bearer ${token(ec)}`)
    expect(another.tokenId).not.toBe(callers[0]?.tokenId)
  })
})
