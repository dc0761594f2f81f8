import {
  createHmac,
  createPrivateKey,
  createPublicKey,
  type JsonWebKey,
  generateKeyPairSync,
  type KeyObject,
  constants as padding,
  randomBytes,
  randomUUID,
  sign,
  verify,
} from 'node:crypto'
import { Agent, createServer, request } from 'node:http'
import type { AddressInfo } from 'node:net'
import { setTimeout as sleep } from 'node:timers/promises'
import { calculateJwkThumbprint, type JWK } from 'jose'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { loadSigningKey } from '../src/areas/api-key-pairs/operations.ts'
import { type Authenticate, createAuthenticator } from '../src/http/authenticate.ts'
import { createKeyRing } from '../src/http/key-ring.ts'
import { connect, type Database } from '../src/platform/postgres.ts'
import { type KeyPair, useApi } from './api.ts'

const api = useApi({ verifyConcurrency: 2 })

type Text = string | Uint8Array | object
type Claims = Record<string, unknown>

/** Somebody who signs: a registered key pair or a stranger. */
interface Signer {
  name: string
  alg: string
  kid: string
  publicKey: KeyObject
  sign(input: string): Buffer
}

interface Forgery {
  what: string
  /** The whole header; undefined sends none. */
  authorization: string | undefined
}

interface Cast {
  ec: Signer
  rsa: Signer
  other: Signer
  strangers: readonly Signer[]
  /** One token of each registered pair, accepted by the api before anything is forged. */
  known: readonly { signer: Signer; token: string }[]
  revoked: readonly { what: string; token: string }[]
  /** Where `jku` and `x5u` point; nobody must ever call. */
  lureUrl: string
}

const now = () => Math.floor(Date.now() / 1000)
const day = 86_400

function claims(changes: Claims = {}): Claims {
  const iat = now()
  return { scopes: ['roles.read'], iat, nbf: iat, exp: iat + 3_600, iss: 'florin', jti: randomUUID(), ...changes }
}

function bytesOf(text: Text): Uint8Array {
  if (text instanceof Uint8Array) return text
  return Buffer.from(typeof text === 'string' ? text : JSON.stringify(text))
}

const encode = (text: Text) => Buffer.from(bytesOf(text)).toString('base64url')
const headerOf = ({ alg, kid }: Signer, changes: object = {}) => ({ alg, typ: 'JWT', kid, ...changes })
const bearer = (what: string, token: string): Forgery => ({ what, authorization: `Bearer ${token}` })

/** Signs header and payload as they are given, however wrong they are. */
function token(signer: Signer, header: Text = headerOf(signer), payload: Text = claims()): string {
  return signText(signer, `${encode(header)}.${encode(payload)}`)
}

const signText = (signer: Signer, input: string) => `${input}.${signer.sign(input).toString('base64url')}`

function split(text: string): [header: string, payload: string, signature: string] {
  const [header = '', payload = '', signature = ''] = text.split('.')
  return [header, payload, signature]
}

const decode = (segment: string) => Buffer.from(segment, 'base64url')
const withSignature = (text: string, signature: Uint8Array) =>
  `${text.slice(0, text.lastIndexOf('.'))}.${encode(signature)}`

const ecSign = (key: KeyObject, hash: string) => (input: string) =>
  sign(hash, Buffer.from(input), { key, dsaEncoding: 'ieee-p1363' })
const rsaSign = (key: KeyObject, hash: string) => (input: string) => sign(hash, Buffer.from(input), key)
const pssSign = (key: KeyObject, hash: string) => (input: string) =>
  sign(hash, Buffer.from(input), {
    key,
    padding: padding.RSA_PKCS1_PSS_PADDING,
    saltLength: padding.RSA_PSS_SALTLEN_DIGEST,
  })

async function thumbprintOf(key: KeyObject): Promise<string> {
  return calculateJwkThumbprint(key.export({ format: 'jwk' }) as JWK).catch(() => randomBytes(32).toString('base64url'))
}

function registered(name: string, { thumbprint, privateKeyPem }: KeyPair): Signer & { privateKey: KeyObject } {
  const privateKey = createPrivateKey(privateKeyPem)
  const isRsa = privateKey.asymmetricKeyType === 'rsa'
  return {
    name,
    alg: isRsa ? 'RS512' : 'ES512',
    kid: thumbprint,
    publicKey: createPublicKey(privateKeyPem),
    privateKey,
    sign: isRsa ? rsaSign(privateKey, 'sha512') : ecSign(privateKey, 'sha512'),
  }
}

async function stranger(
  alg: string,
  { publicKey, privateKey }: { publicKey: KeyObject; privateKey: KeyObject },
  signer: (key: KeyObject) => (input: string) => Buffer,
): Promise<Signer> {
  return { name: `stranger ${alg}`, alg, kid: await thumbprintOf(publicKey), publicKey, sign: signer(privateKey) }
}

const pairs: Record<string, KeyPair> = {}
const revokedKeys = new Map<string, KeyObject>()
let cast: Cast
let lured = 0
const lure = createServer((_request, response) => {
  lured += 1
  response.end('{"keys":[]}')
})

beforeAll(async () => {
  await new Promise<void>((resolve) => lure.listen(0, '127.0.0.1', resolve))
  const keys: Record<string, KeyPair> = {
    ec: await api.makeKeyPair(),
    rsa: await api.makeKeyPair({ algorithm: 'RSA' }),
    other: await api.makeKeyPair(),
  }
  Object.assign(pairs, keys)
  const [ec, rsa, other] = [
    registered('ec', use('ec')),
    registered('rsa', use('rsa')),
    registered('other', use('other')),
  ]
  const ed = (key: KeyObject) => (input: string) => sign(null, Buffer.from(input), key)
  cast = {
    ec,
    rsa,
    other,
    strangers: await Promise.all([
      stranger('ES512', generateKeyPairSync('ec', { namedCurve: 'P-521' }), (key) => ecSign(key, 'sha512')),
      stranger('ES384', generateKeyPairSync('ec', { namedCurve: 'P-384' }), (key) => ecSign(key, 'sha384')),
      stranger('ES256', generateKeyPairSync('ec', { namedCurve: 'P-256' }), (key) => ecSign(key, 'sha256')),
      stranger('ES256K', generateKeyPairSync('ec', { namedCurve: 'secp256k1' }), (key) => ecSign(key, 'sha256')),
      stranger('RS512', generateKeyPairSync('rsa', { modulusLength: 3072 }), (key) => rsaSign(key, 'sha512')),
      stranger('PS512', generateKeyPairSync('rsa', { modulusLength: 2048 }), (key) => pssSign(key, 'sha512')),
      stranger('Ed25519', generateKeyPairSync('ed25519'), ed),
      stranger('Ed448', generateKeyPairSync('ed448'), ed),
    ]),
    known: [ec, rsa].map((signer) => ({ signer, token: token(signer) })),
    revoked: await revokedTokens(),
    lureUrl: `http://127.0.0.1:${(lure.address() as AddressInfo).port}/keys.json`,
  }
  for (const { token } of cast.known) expect(await ask(`Bearer ${token}`)).toMatchObject({ status: 200 })
})
afterAll(() => {
  agent.destroy()
  lure.close()
})

function use(name: string): KeyPair {
  const pair = pairs[name]
  if (!pair) throw new Error(`no key pair ${name}`)
  return pair
}

async function until(condition: () => Promise<boolean>): Promise<void> {
  const deadline = Date.now() + 5_000
  while (!(await condition())) {
    if (Date.now() > deadline) throw new Error('waited five seconds in vain')
    await sleep(20)
  }
}

/** Tokens of pairs that were taken back; half of them were accepted, and remembered, before. */
async function revokedTokens(): Promise<{ what: string; token: string }[]> {
  const tokens: { what: string; token: string }[] = []
  for (const algorithm of ['ECDSA', 'RSA'] as const) {
    for (const what of ['inactive', 'deleted']) {
      const pair = await api.makeKeyPair({ algorithm })
      const signer = registered(what, pair)
      revokedKeys.set(signer.kid, signer.publicKey)
      const seen = Array.from({ length: 10 }, () => token(signer))
      for (const text of seen) expect(await ask(`Bearer ${text}`)).toMatchObject({ status: 200 })
      const path = `/api-key-pairs/${pair.id}`
      if (what === 'inactive') await api.request('PUT', path, { body: { active: false } })
      else await api.request('DELETE', path)
      await until(async () => (await ask(`Bearer ${seen[0]}`)).status === 401)
      const fresh = Array.from({ length: 10 }, () => token(signer))
      tokens.push(...[...seen, ...fresh].map((text) => ({ what: `${what} ${algorithm}`, token: text })))
    }
  }
  return tokens
}

const agent = new Agent({ keepAlive: true, maxSockets: 24 })

interface Reply {
  status: number
  body: string
  challenge: string | undefined
}

function ask(authorization: string | undefined): Promise<Reply> {
  return new Promise((resolve, reject) => {
    const headers = authorization === undefined ? {} : { authorization }
    request(`${api.url()}/roles?limit=1`, { agent, headers }, (response) => {
      const chunks: Buffer[] = []
      response.on('data', (chunk: Buffer) => chunks.push(chunk))
      response.on('error', reject)
      response.on('end', () =>
        resolve({
          status: response.statusCode ?? 0,
          body: Buffer.concat(chunks).toString(),
          challenge: response.headers['www-authenticate'],
        }),
      )
    })
      .on('error', reject)
      .end()
  })
}

async function askAll(authorizations: readonly (string | undefined)[]): Promise<Reply[]> {
  const replies: Reply[] = []
  const waiting = authorizations.entries()
  const work = async () => {
    for (const [index, authorization] of waiting) replies[index] = await ask(authorization)
  }
  await Promise.all(Array.from({ length: 24 }, work))
  return replies
}

/** One text of many: a list of strings in an array would take a line for each. */
const list = (...texts: readonly string[]) => texts.flatMap((text) => text.split('|'))

const algorithms = list(
  'HS256|HS384|HS512|RS256|RS384|RS512|PS256|PS384|PS512|ES256|ES384|ES512|ES256K',
  'EdDSA|Ed25519|Ed448|ML-DSA-44|ML-DSA-65|ML-DSA-87',
)
const nones = list(
  'none|None|NONE|nOnE|NonE|noNE|none | none|none\u0000|none\n|\u200bnone|n\u043ene',
  '|null|undefined|false| |0|no|plain|identity|unsecured',
)
const misspellings = list(
  'es512|Es512|eS512|ES512 | ES512|ES-512|ES512\u0000|ES512\n|ES\u0665\u0661\u0662|E\u0405512|ES512,RS512',
  'rs512|Rs512|rS512|RS512 | RS512|RS-512|RS512\u0000|ecdsa|RSA|SHA512withECDSA',
)
const notStrings = [null, true, false, 0, 1, 512, [], ['ES512'], ['RS512'], {}, { alg: 'ES512' }]

/** Everything an attacker could take for a shared secret, all of it public. */
function secretsOf({ publicKey, kid }: Signer): [form: string, secret: string | Uint8Array][] {
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

function hmac(alg: string, secret: string | Uint8Array) {
  const hash = /(256|384)/.exec(alg)?.[0] ?? '512'
  return (input: string) => createHmac(`sha${hash}`, secret).update(input).digest()
}

function* algorithmConfusion({ ec, rsa, strangers }: Cast): Generator<Forgery> {
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

function* noneSpellings({ known, strangers: [other] }: Cast): Generator<Forgery> {
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
function* otherUseOfTheRightKey({ ec, rsa }: Cast): Generator<Forgery> {
  const rsaKey = registered('rsa', use('rsa')).privateKey
  const ecKey = registered('ec', use('ec')).privateKey
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

function* smallerCurves({ ec, rsa, strangers }: Cast): Generator<Forgery> {
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

function* foreignKeys({ ec, rsa, other, strangers }: Cast): Generator<Forgery> {
  for (const signer of [ec, rsa, other, ...strangers]) {
    for (const victim of [ec, rsa, other]) {
      if (signer === victim) continue
      yield bearer(`${signer.name} as ${victim.name}`, token(signer, headerOf(victim)))
      yield bearer(`${signer.name} as ${victim.name}, own alg`, token(signer, headerOf(victim, { alg: signer.alg })))
    }
    if (strangers.includes(signer)) {
      yield bearer(`${signer.name} as itself`, token(signer))
      yield bearer(`${signer.name} without kid`, token(signer, { alg: signer.alg, typ: 'JWT' }))
    }
  }
}

function* unknownKids({ ec, rsa }: Cast): Generator<Forgery> {
  for (const signer of [ec, rsa]) {
    for (let index = 0; index < 100; index += 1) {
      yield bearer('random kid', token(signer, headerOf(signer, { kid: randomBytes(32).toString('base64url') })))
    }
  }
}

function injections(kid: string, id: string): [what: string, kid: unknown][] {
  const sql = list(
    `' or '1'='1|' or 1=1 --|') or true --|'; select pg_sleep(5) --|'; drop table api_key_pairs; --`,
    `' union select 'AAAA' --|${kid}' --|${kid}'/*|${kid}%|%|*|\\${kid}|$1|{${kid}}`,
    `${'_'.repeat(43)}|${'%'.repeat(43)}`,
  )
  const path = list(
    `../../../../dev/null|/dev/null|/proc/self/environ|..\\..\\windows\\win.ini|file:///dev/null|http://127.0.0.1/keys`,
    `../${kid}|./${kid}|${kid}/|${kid}.pem|%2e%2e%2fdev%2fnull|; cat /etc/passwd|$(id)|\`id\`|{{7*7}}`,
    '$' + '{jndi:ldap://127.0.0.1/a}',
  )
  const wide = kid.replace(/[a-z]/, (letter) => String.fromCharCode(letter.charCodeAt(0) + 0xfee0))
  const unicode = list(
    `${kid}\u0000|\u0000${kid}|${kid}\n|${kid}\r\n| ${kid}|${kid} |\ufeff${kid}|${kid}\u200b|${kid}\u0301|${wide}`,
    `${'\ud800'.repeat(43)}|${'\u{1f511}'.repeat(21)}|${'ａ'.repeat(43)}`,
  )
  const bytes = decode(kid)
  const spelling = list(
    `| |${kid.slice(1)}|${kid.slice(0, -1)}|${kid}=|${kid}A|${kid}${kid}|${kid.toLowerCase()}|${kid.toUpperCase()}`,
    `${swapLast(kid)}|${bytes.toString('hex')}|${bytes.toString('base64')}|${kid.split('').reverse().join('')}|${id}`,
    'default|null|undefined|__proto__|constructor|toString|hasOwnProperty',
  ).filter((text) => text !== kid)
  const objects = [{}, { kid }, { toString: kid }, { length: 43 }, { $ne: null }] as unknown[]
  const wrongTypes = [null, undefined, true, false, 0, -1, 1e308, [], [kid], [[kid]], [kid, kid], ...objects]
  const oversize = [44, 64, 100, 255, 256, 1_000, 4_000].map((length) => 'A'.repeat(length))
  const named = (what: string, kids: readonly unknown[]) => kids.map((value): [string, unknown] => [what, value])
  return [
    ...named('SQL', sql),
    ...named('path', path),
    ...named('unicode', unicode),
    ...named('spelling', spelling),
    ...named('type', wrongTypes),
    ...named('oversize', oversize),
    ...named(
      'one character changed',
      kid.split('').map((_, at) => changeAt(kid, at)),
    ),
  ]
}

const alphabet = 'ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_'
const next = (character: string, by = 1) => alphabet[(alphabet.indexOf(character) + by) % 64] ?? ''
const changeAt = (text: string, at: number) => text.slice(0, at) + next(text[at] ?? '', 4) + text.slice(at + 1)
/** The same bytes in another spelling: the last character has spare bits. */
const swapLast = (text: string) => text.slice(0, -1) + next(text.slice(-1))

function* kidInjections({ ec, rsa, strangers: [other] }: Cast): Generator<Forgery> {
  for (const signer of [ec, rsa]) {
    for (const [what, kid] of injections(signer.kid, use(signer.name).id)) {
      yield bearer(`${what} ${JSON.stringify(kid)?.slice(0, 40)}`, token(signer, headerOf(signer, { kid })))
    }
  }
  for (const [what, kid] of injections(ec.kid, use('ec').id)) {
    if (other) yield bearer(`${what}, by a stranger`, token(other, headerOf(other, { kid })))
  }
}

function* headerMembers({ ec, rsa, lureUrl }: Cast): Generator<Forgery> {
  for (const signer of [ec, rsa]) {
    const jwk = signer.publicKey.export({ format: 'jwk' })
    const der = signer.publicKey.export({ type: 'spki', format: 'der' }).toString('base64')
    const values: Record<string, readonly unknown[]> = {
      jku: [lureUrl, '', null, [lureUrl], 'file:///dev/null'],
      x5u: [lureUrl, null],
      x5c: [[der], [], der, null],
      x5t: [signer.kid, null],
      'x5t#S256': [signer.kid],
      jwk: [jwk, { ...jwk, kid: signer.kid }, null, {}, JSON.stringify(jwk), [jwk]],
      jwks: [{ keys: [jwk] }],
      crit: [[], ['exp'], ['alg'], ['b64'], 'b64', {}, null],
      b64: [true, false, null],
      zip: ['DEF', null],
      enc: ['A256GCM', null],
      cty: ['JWT', null],
      epk: [jwk],
      url: [lureUrl],
      Alg: [signer.alg],
      ALG: ['none'],
      Kid: [signer.kid],
      KID: [signer.kid],
      'alg ': [signer.alg],
      'alg\u0000': ['none'],
      key: [der],
      exp: [9_999_999_999],
    }
    const names = list(
      '| |apu|apv|iv|tag|p2c|p2s|nonce|ppt|svt|iss|sub|aud|secret|use|kty|k|unknown|constructor|toString|prototype',
      'hasOwnProperty|length|0|then|toJSON|valueOf',
    )
    const members: object[] = [
      ...Object.entries(values).flatMap(([name, all]) => all.map((value) => ({ [name]: value }))),
      ...names.flatMap((name) => [{ [name]: 'x' }, { [name]: {} }]),
      { crit: ['b64'], b64: true },
      { crit: ['b64'], b64: false },
      { crit: ['unknown'], unknown: 1 },
      { crit: [''], '': 1 },
    ]
    for (const member of members)
      yield bearer(JSON.stringify(member), token(signer, { ...headerOf(signer), ...member }))
    for (const member of members)
      yield bearer(`first ${JSON.stringify(member)}`, token(signer, { ...member, ...headerOf(signer) }))
    const { alg, kid } = signer
    yield bearer('__proto__', token(signer, `{"alg":"${alg}","kid":"${kid}","__proto__":{"alg":"none"}}`))
    yield bearer('only __proto__', token(signer, `{"__proto__":{"alg":"${alg}","kid":"${kid}"}}`))
    const types = list('JOSE|JOSE+JSON|at+jwt|JWE|JWT | JWT|application/jwt|')
    for (const typ of [...types, null, 0, true, [], ['JWT'], {}]) {
      yield bearer(`typ ${JSON.stringify(typ)}`, token(signer, headerOf(signer, { typ })))
    }
  }
}

function* embeddedKeys({ ec, rsa, strangers, lureUrl }: Cast): Generator<Forgery> {
  for (const self of strangers) {
    const jwk = self.publicKey.export({ format: 'jwk' })
    const x5c = [self.publicKey.export({ type: 'spki', format: 'der' }).toString('base64')]
    for (const kid of [ec.kid, rsa.kid, self.kid, undefined]) {
      for (const alg of new Set([self.alg, 'ES512', 'RS512'])) {
        for (const bait of [
          { jwk },
          { jwk: { ...jwk, kid, alg, use: 'sig' } },
          { x5c },
          { jku: lureUrl },
          { x5u: lureUrl },
        ]) {
          yield bearer(`${self.name}: ${Object.keys(bait).join()}`, token(self, { alg, typ: 'JWT', kid, ...bait }))
        }
      }
    }
  }
}

const life = (from: number, seconds: number): Claims => ({ iat: from, nbf: from, exp: from + seconds })

function* wrongTimes({ ec, rsa }: Cast): Generator<Forgery> {
  const moment = now()
  for (const signer of [ec, rsa]) {
    const signed = (what: string, changes: Claims) => bearer(what, token(signer, headerOf(signer), claims(changes)))
    for (const ago of [61, 62, 90, 120, 300, 3_600, day, 30 * day, 1e9]) {
      yield signed(`expired ${ago} s ago`, life(moment - ago - 30, 30))
      yield signed(`expired ${ago} s ago, no iat`, { exp: moment - ago, iat: undefined, nbf: undefined })
    }
    for (const exp of [0, 0.5, 1, 1e-300, moment / 1_000])
      yield signed(`exp ${exp}`, { exp, iat: undefined, nbf: undefined })
    // The run takes less than a minute; what begins ten minutes from now stays in the future.
    for (const ahead of [600, 3_600, day, 365 * day, 1e11, Number.MAX_SAFE_INTEGER, 1e300]) {
      yield signed(`nbf ${ahead} s ahead`, { nbf: moment + ahead })
      yield signed(`nbf ${ahead} s ahead, all of it`, life(moment + ahead, 60))
      yield signed(`iat ${ahead} s ahead`, { iat: moment + ahead })
    }
    yield signed('iat in milliseconds', { iat: Date.now() })
    yield signed('nbf in milliseconds', { nbf: Date.now() })
    for (const seconds of [day + 1, day + 0.5, day + 60, 2 * day, 365 * day, 1e10, 1e100, 1.7e308]) {
      yield signed(`lives ${seconds} s`, life(moment, seconds))
      yield signed(`lives ${seconds} s, only nbf`, { ...life(moment, seconds), iat: undefined })
      yield signed(`lives ${seconds + 600} s, neither`, { exp: moment + seconds + 600, iat: undefined, nbf: undefined })
    }
    yield signed('exp in milliseconds', { exp: Date.now() })
    yield signed('iat 0', { iat: 0, nbf: 0 })
  }
}

const wrongNumbers = [null, true, false, '', '9999999999', 'soon', [], {}, [now() + 60], { value: 1 }, -1, -1e300]

function* wrongClaims({ ec, rsa }: Cast): Generator<Forgery> {
  const wrong: Record<string, readonly unknown[]> = {
    exp: [undefined, ...wrongNumbers],
    nbf: wrongNumbers,
    iat: wrongNumbers,
    jti: [undefined, null, '', 0, 1, true, [], ['a'], {}, 'j'.repeat(256), 'j'.repeat(2_000)],
    scopes: [undefined, null, '', '*.read', 'roles.read *.read', 0, true, {}, { 0: 'roles.read', length: 1 }],
    iss: [null, 0, 1, true, [], ['florin'], {}],
  }
  const wrongScopes = [
    [null],
    [1],
    [true],
    [['roles.read']],
    [{}],
    ['roles.read', null],
    ['roles.read', 1],
    [{ scope: 'roles.read' }],
    Array.from({ length: 201 }, () => 'roles.read'),
    Array.from({ length: 500 }, () => 'a'),
  ]
  for (const signer of [ec, rsa]) {
    for (const [name, values] of Object.entries(wrong)) {
      for (const value of values) {
        yield bearer(
          `${name} ${JSON.stringify(value)?.slice(0, 30)}`,
          token(signer, headerOf(signer), claims({ [name]: value })),
        )
      }
    }
    for (const scopes of wrongScopes) {
      yield bearer(`scopes ${JSON.stringify(scopes).slice(0, 30)}`, token(signer, headerOf(signer), claims({ scopes })))
    }
    yield bearer('scope', token(signer, headerOf(signer), claims({ scopes: undefined, scope: 'roles.read' })))
    yield bearer('Scopes', token(signer, headerOf(signer), claims({ scopes: undefined, Scopes: ['roles.read'] })))
    yield bearer('__proto__', token(signer, headerOf(signer), `{"__proto__":${JSON.stringify(claims())}}`))
    for (const name of ['exp', 'nbf', 'iat']) {
      for (const text of ['1e999', '-1e999']) {
        const payload = JSON.stringify(claims({ [name]: 'HERE' })).replace('"HERE"', text)
        yield bearer(`${name} ${text}`, token(signer, headerOf(signer), payload))
      }
    }
  }
}

/** Rightly signed, but header or payload is not a JSON object. */
function* wrongJson({ ec, rsa }: Cast): Generator<Forgery> {
  const broken = (good: string): [string, Text][] => [
    ['null', 'null'],
    ['true', 'true'],
    ['number', '1'],
    ['string', JSON.stringify(good)],
    ['array', `[${good}]`],
    ['empty array', '[]'],
    ['empty object', '{}'],
    ['blank', ' '],
    ['cut', good.slice(0, -1)],
    ['two', good + good],
    ['comma', good.replace(/\}$/, ',}')],
    ['comment', `/**/${good}`],
    ['single quotes', good.replaceAll('"', "'")],
    ['NaN', good.replace(/\}$/, ',"a":NaN}')],
    ['BOM', `\ufeff${good}`],
    ['NUL', `${good}\u0000`],
    ['no-break space', `\u00a0${good}`],
    ['control character', good.replace(/\}$/, ',"a":"\n"}')],
    ['UTF-16', Buffer.from(good, 'utf16le')],
    ['not UTF-8 before', Buffer.concat([Buffer.of(0xff), Buffer.from(good)])],
    ['base64 twice', encode(good)],
  ]
  /** A lone byte, an overlong slash, a surrogate, beyond Unicode: in a member's value, where a lenient reader sees U+FFFD. */
  const notUtf8 = (good: string, member: string): [string, Text][] =>
    [[0xff], [0x80], [0xc0, 0xaf], [0xed, 0xa0, 0x80], [0xf4, 0x90, 0x80, 0x80], [0xe2, 0x82]].map((bytes) => {
      const [before = '', after = ''] = good.replace(/\}$/, `,"${member}":"HERE"}`).split('HERE')
      return [
        `${bytes.join()} in ${member}`,
        Buffer.concat([Buffer.from(before), Buffer.from(bytes), Buffer.from(after)]),
      ]
    })
  for (const signer of [ec, rsa]) {
    const header = JSON.stringify(headerOf(signer))
    const payload = JSON.stringify(claims())
    for (const [what, text] of broken(header)) yield bearer(`header: ${what}`, token(signer, text))
    for (const [what, text] of [...broken(payload), ...notUtf8(payload, 'jti'), ...notUtf8(payload, 'iss')]) {
      yield bearer(`payload: ${what}`, token(signer, headerOf(signer), text))
    }
    yield bearer('swapped', signText(signer, `${encode(payload)}.${encode(header)}`))
  }
}

/** JSON lets a name come twice; the last one counts everywhere, so a good one in front of it helps nobody. */
function* duplicateMembers({ ec, rsa, known, strangers: [other] }: Cast): Generator<Forgery> {
  for (const signer of [ec, rsa]) {
    const header = JSON.stringify(headerOf(signer))
    const last = (text: string, member: string) => text.replace(/\}$/, `,${member}}`)
    const headers = ['"alg":"none"', '"alg":"HS512"', '"alg":null', '"\\u0061lg":"none"', '"kid":""', '"kid":null']
    for (const member of [...headers, `"kid":"${other?.kid}"`, '"k\\u0069d":""', '"typ":"JWE"', '"typ":null']) {
      yield bearer(`header ${member}`, token(signer, last(header, member)))
    }
    const members = list(
      '"exp":1|"exp":null|"e\\u0078p":1|"nbf":99999999999|"iat":99999999999|"iat":0|"jti":""|"jti":null',
      '"scopes":"*.read"|"scopes":null|"sc\\u006fpes":[1]',
    )
    for (const member of members) {
      yield bearer(`payload ${member}`, token(signer, headerOf(signer), last(JSON.stringify(claims()), member)))
    }
  }
  for (const { token: good } of known) {
    const [header, payload, signature] = split(good)
    const edit = (segment: string, change: (text: string) => string) => encode(change(decode(segment).toString()))
    const names = Object.entries(JSON.parse(decode(payload).toString()) as Claims)
    const inFront = (segment: string, member: string) => edit(segment, (text) => text.replace('{', `{${member},`))
    const atEnd = (segment: string, member: string) => edit(segment, (text) => text.replace(/\}$/, `,${member}}`))
    for (const put of [inFront, atEnd]) {
      for (const [name, value] of names) {
        const edited = put(payload, `"${name}":${JSON.stringify(value)}`)
        yield bearer(`${name} twice, unsigned`, `${header}.${edited}.${signature}`)
      }
      for (const member of list('"alg":"none"|"alg":"ES512"|"alg":"RS512"|"typ":"JWT"')) {
        yield bearer(`${member} added, unsigned`, `${put(header, member)}.${payload}.${signature}`)
      }
    }
  }
}

function* oversized({ ec, rsa }: Cast): Generator<Forgery> {
  for (const signer of [ec, rsa]) {
    for (const length of [8_193, 8_194, 8_200, 9_000, 12_000, 15_000]) {
      yield bearer(`${length} characters`, ofLength(signer, length))
      yield bearer(`${length} of A`, 'A'.repeat(length))
      yield bearer(`${length} of dots`, '.'.repeat(length))
    }
    const scopes = Array.from({ length: 200 }, (_, index) => `${'s'.repeat(40)}${index}`)
    yield bearer('many scopes', token(signer, headerOf(signer), claims({ scopes })))
  }
}

/** A good token of this length, or one character more where base64 has no such length. */
function ofLength(signer: Signer, length: number): string {
  const header = encode(headerOf(signer))
  const signatureLength = signer.alg === 'RS512' ? 512 : 176
  const room = length - header.length - signatureLength - 2
  const bytes = Math.floor((3 * (room - 1)) / 4) + 1
  const iss = 'i'.repeat(bytes - bytesOf(claims({ iss: '' })).length)
  return token(signer, headerOf(signer), claims({ iss }))
}

/** Other spellings of the same bytes. Those of the signature need no key: a lenient reader takes each for the good token. */
function* nonCanonical({ ec, rsa }: Cast): Generator<Forgery> {
  for (const signer of [ec, rsa]) {
    for (const pad of ['', ' ', '  ']) {
      const header = encode(`${JSON.stringify(headerOf(signer))}${pad}`)
      for (const morePad of ['', ' ', '  ']) {
        const payload = encode(`${JSON.stringify(claims())}${morePad}`)
        const signature = signer.sign(`${header}.${payload}`).toString('base64url')
        for (const [what, one, two] of [
          ...spareBits(header).map((text) => ['header', text, payload] as const),
          ...spareBits(payload).map((text) => ['payload', header, text] as const),
        ]) {
          yield bearer(`spare bits of the ${what}, unsigned`, `${one}.${two}.${signature}`)
          if (signer === rsa || pad !== morePad)
            yield bearer(`spare bits of the ${what}, signed`, signText(signer, `${one}.${two}`))
        }
        for (const [what, one, two] of [
          ['header', `${header}${'='.repeat((4 - (header.length % 4)) % 4 || 1)}`, payload],
          ['payload', header, `${payload}${'='.repeat((4 - (payload.length % 4)) % 4 || 1)}`],
          ...(header.length % 4 === 0 ? [['lone character', `${header}A`, payload] as const] : []),
        ] as const) {
          yield bearer(`${what} padded, unsigned`, `${one}.${two}.${signature}`)
          yield bearer(`${what} padded, signed`, signText(signer, `${one}.${two}`))
        }
        yield* respelled(`${header}.${payload}`, signature)
      }
    }
  }
}

/** Every other last character that decodes to the same bytes. */
function spareBits(segment: string): string[] {
  const bytes = decode(segment)
  return alphabet
    .split('')
    .map((character) => segment.slice(0, -1) + character)
    .filter((text) => text !== segment && decode(text).equals(bytes))
}

function* respelled(input: string, signature: string): Generator<Forgery> {
  const standard = signature.replaceAll('-', '+').replaceAll('_', '/')
  const middle = Math.floor(signature.length / 2)
  if (standard !== signature) yield bearer('standard alphabet', `${input}.${standard}`)
  for (const tail of ['=', '==', '====', 'A', 'AA', '+', '/', '.', '~', '%3D', '\t', '\u00a0', ',', ';']) {
    yield bearer(`signature and ${JSON.stringify(tail)}`, `${input}.${signature}${tail}${tail === '\t' ? 'A' : ''}`)
  }
  for (const inside of ['=', '*', '!', '\t', '%', '\u00ff', '"', '\\', '+', ':', '@']) {
    const broken = signature.slice(0, middle) + inside + signature.slice(middle)
    yield bearer(`${JSON.stringify(inside)} in the signature`, `${input}.${broken}`)
    yield bearer(`${JSON.stringify(inside)} before the signature`, `${input}.${inside}${signature}`)
    yield bearer(`${JSON.stringify(inside)} before the token`, `${inside}${input}.${signature}`)
  }
}

/** All arrangements of up to three segments, and the good three with one or two more anywhere among them. */
function* segments({ known }: Cast): Generator<Forgery> {
  for (const { token: good } of known) {
    const parts = [...split(good), '', 'AAAA']
    const more = (shapes: readonly string[][]) => shapes.flatMap((shape) => parts.map((part) => [...shape, part]))
    const inserted = (shape: readonly string[]) =>
      [...shape, ''].flatMap((_, at) => parts.map((part) => shape.toSpliced(at, 0, part)))
    const [one, four] = [more([[]]), inserted(split(good))]
    for (const shape of [...one, ...more(one), ...more(more(one)), ...four, ...four.flatMap(inserted)]) {
      const text = shape.join('.')
      if (text !== good) yield bearer(`${shape.length} segments`, text)
    }
    for (const dot of [':', ',', '\u00b7', '%2E', '']) yield bearer('no dots', good.replaceAll('.', dot))
  }
}

function* jweShapes({ ec, rsa, known }: Cast): Generator<Forgery> {
  const random = (size: number) => randomBytes(size).toString('base64url')
  for (const { kid } of [ec, rsa]) {
    for (const alg of [
      'dir',
      'RSA-OAEP',
      'RSA-OAEP-256',
      'RSA1_5',
      'ECDH-ES',
      'ECDH-ES+A256KW',
      'A256KW',
      'PBES2-HS512+A256KW',
    ]) {
      for (const enc of ['A256GCM', 'A128CBC-HS256']) {
        const header = encode({ alg, enc, kid, typ: 'JWT' })
        yield bearer(`${alg} ${enc}`, [header, random(32), random(12), random(64), random(16)].join('.'))
        yield bearer(`${alg} ${enc}, no key`, [header, '', random(12), encode(claims()), random(16)].join('.'))
        yield bearer(`${alg} ${enc} in three`, [header, encode(claims()), random(132)].join('.'))
      }
    }
  }
  for (const { token: good } of known) {
    const [header, payload, signature] = split(good)
    const [nested, flattened] = [encode({ alg: 'dir', enc: 'A256GCM' }), { protected: header, payload, signature }]
    yield bearer('nested', [nested, '', 'AAAAAAAAAAAAAAAA', good.replaceAll('.', ''), 'AAAA'].join('.'))
    yield bearer('flattened JSON', JSON.stringify(flattened))
    yield bearer('general JSON', JSON.stringify({ payload, signatures: [{ protected: header, signature }] }))
    yield bearer('JSON in base64', encode(JSON.stringify(flattened)))
  }
}

function* flippedSignatures({ known }: Cast): Generator<Forgery> {
  for (const { signer, token: good } of known) {
    const signature = decode(split(good)[2])
    for (let bit = 0; bit < signature.length * 8; bit += 1) {
      yield bearer(`${signer.alg} bit ${bit}`, withSignature(good, flip(signature, bit)))
    }
  }
}

function flip(bytes: Uint8Array, bit: number): Buffer {
  const copy = Buffer.from(bytes)
  copy[bit >> 3] = (copy[bit >> 3] ?? 0) ^ (1 << (bit & 7))
  return copy
}

function* cutSignatures({ known }: Cast): Generator<Forgery> {
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

const order = BigInt(
  '0x1fffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffa51868783bf2f966b7fcc0148f709a5d03bb5c9b8899c47aebb6fb71e91386409',
)
const prime = (1n << 521n) - 1n
const toBytes = (value: bigint) => Buffer.from(value.toString(16).padStart(132, '0').slice(-132), 'hex')
const toNumber = (bytes: Uint8Array) => BigInt(`0x${Buffer.from(bytes).toString('hex')}`)

function halves(signature: Uint8Array): [r: bigint, s: bigint] {
  return [toNumber(signature.subarray(0, 66)), toNumber(signature.subarray(66))]
}

/** Signatures that an incomplete check takes for good whatever the message: zero, the order, and what lies around them. */
function* degenerateSignatures({ known }: Cast): Generator<Forgery> {
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

function* derSignatures({ ec }: Cast): Generator<Forgery> {
  const key = registered('ec', use('ec')).privateKey
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

const edits: Record<string, unknown> = {
  scopes: ['*.read', '*.write'],
  jti: 'other',
  exp: now() + 7_200,
  nbf: 0,
  iat: now() - 10,
  iss: 'someone',
  sub: 'someone',
  embed: { amount: 1 },
  merchant_account_id: 'other',
  kid: 'other',
}

function* editedPayloads({ known, other }: Cast): Generator<Forgery> {
  const stranger = split(token(other))
  for (const { token: good } of known) {
    const [header, payload, signature] = split(good)
    const text = decode(payload).toString()
    const original = JSON.parse(text) as Claims
    const changed: Text[] = [
      ...Object.entries(edits).map(([name, value]) => ({ ...original, [name]: value })),
      ...Object.keys(original).map((name) => ({ ...original, [name]: undefined })),
      ...Object.keys(original).map((name) =>
        Object.fromEntries(Object.entries(original).sort(([one]) => (one === name ? -1 : 0))),
      ),
      ...list(` ${text}|${text} |${text.replaceAll(',', ', ')}|${text.replaceAll(':', ': ')}`),
      JSON.stringify(original, null, 2),
      text.replace('jti', '\\u006ati'),
      { ...original, scopes: [] },
      { ...original, scopes: ['roles.read', 'roles.write'] },
    ]
    for (const edited of changed) {
      const segment = encode(edited)
      if (segment !== payload)
        yield bearer(`claims ${JSON.stringify(edited).slice(0, 60)}`, `${header}.${segment}.${signature}`)
    }
    yield bearer("another token's payload", `${header}.${stranger[1]}.${signature}`)
    yield bearer("another token's signature", `${header}.${payload}.${stranger[2]}`)
    yield bearer("another token's header", `${stranger[0]}.${payload}.${signature}`)
    const bytes = decode(payload)
    for (let bit = 0; bit < bytes.length * 8; bit += 1)
      yield bearer(`bit ${bit}`, `${header}.${encode(flip(bytes, bit))}.${signature}`)
  }
}

function* editedHeaders({ known }: Cast): Generator<Forgery> {
  for (const { signer, token: good } of known) {
    const [header, payload, signature] = split(good)
    const text = decode(header).toString()
    const { alg, kid } = signer
    const changed: Text[] = [
      { kid, typ: 'JWT', alg },
      { alg, kid },
      { alg, kid, typ: 'jwt' },
      { alg, typ: 'JWT' },
      { alg, kid, typ: 'JWT' },
      ...[...algorithms, ...nones, ...misspellings]
        .filter((name) => name !== alg)
        .map((name) => headerOf(signer, { alg: name })),
      ...list(` ${text}|${text} |${text.replaceAll(',', ', ')}|${text.replace('alg', '\\u0061lg')}`),
    ]
    for (const edited of changed)
      yield bearer(`header ${JSON.stringify(edited)}`, `${encode(edited)}.${payload}.${signature}`)
    const bytes = decode(header)
    for (let bit = 0; bit < bytes.length * 8; bit += 1)
      yield bearer(`bit ${bit}`, `${encode(flip(bytes, bit))}.${payload}.${signature}`)
  }
}

function* revokedPairs({ revoked }: Cast): Generator<Forgery> {
  for (const { what, token: text } of revoked) yield bearer(what, text)
}

function* garbageHeaders({ known, strangers: [other] }: Cast): Generator<Forgery> {
  const raw = (what: string, authorization: string | undefined): Forgery => ({ what, authorization })
  yield raw('none', undefined)
  for (const text of list(
    '|Bearer|bearer|Basic|Basic Og==|null|undefined|-|Bearer null|Bearer undefined|Bearer .|Bearer ..',
  )) {
    yield raw('short', text)
  }
  for (const { signer, token: good } of known) {
    const schemes = list(
      `Basic|Token|JWT|Digest|DPoP|Negotiate|HOBA|Bearer:|Bearer=|Bearerr|Bear|earer|Bearer,|B|"Bearer"|bearer\u00a0`,
      'Bearer Bearer|Basic Bearer|Bearer Basic|Bearer JWT|X Bearer|Bearer token',
    )
    const texts = list(
      `${good}|Bearer${good}|Bearer\t${good}|Bearer \t${good}|Bearer "${good}"|Bearer <${good}>|Bearer '${good}'`,
      `Bearer ${good} ${good}|Bearer ${good},${good}|Bearer ${good},|Bearer ${good};|Bearer ${good} x|Bearer x ${good}`,
      `Bearer token=${good}|Bearer access_token="${good}"|Basic ${Buffer.from(`${good}:`).toString('base64')}`,
      `Bearer ${good}\u00e9|\u00e9Bearer ${good}|Bearer\u00a0${good}`,
    )
    for (const text of [...schemes.map((scheme) => `${scheme} ${good}`), ...texts]) yield raw(text.slice(0, 24), text)
    if (!other) continue
    const forged = token(other, headerOf(signer, { alg: other.alg }))
    for (const scheme of ['Bearer  ', 'Bearer    ', 'bearer ', 'BEARER ', 'bEaReR ', 'bearer  '])
      yield raw(`${scheme}forged`, scheme + forged)
  }
}

/** Each class with the least number of forgeries it must have: a class cannot quietly become empty. */
const classes: Record<string, [make: (cast: Cast) => Generator<Forgery>, atLeast: number]> = {
  'algorithm confusion': [algorithmConfusion, 1_500],
  'none in every spelling': [noneSpellings, 400],
  'other algorithm of the right key': [otherUseOfTheRightKey, 70],
  'smaller curves': [smallerCurves, 80],
  'foreign key': [foreignKeys, 60],
  'unknown kid': [unknownKids, 200],
  'kid injection': [kidInjections, 350],
  'header member': [headerMembers, 300],
  'embedded key': [embeddedKeys, 400],
  'wrong times': [wrongTimes, 120],
  'wrong claims': [wrongClaims, 130],
  'wrong JSON': [wrongJson, 100],
  'duplicate members': [duplicateMembers, 70],
  oversized: [oversized, 20],
  'not canonical': [nonCanonical, 800],
  segments: [segments, 500],
  'JWE and JSON': [jweShapes, 100],
  'flipped signature': [flippedSignatures, 4_000],
  'cut signature': [cutSignatures, 1_000],
  'degenerate signature': [degenerateSignatures, 200],
  'DER signature': [derSignatures, 150],
  'edited payload': [editedPayloads, 2_000],
  'edited header': [editedHeaders, 1_300],
  'revoked key pair': [revokedPairs, 80],
  'garbage header': [garbageHeaders, 80],
}

interface Entry extends Forgery {
  className: string
}

let corpus: Entry[] | undefined

/** Made once; every authorization in it differs from every other. */
function forgeries(): Entry[] {
  if (corpus) return corpus
  const unique = new Map<string | undefined, Entry>()
  for (const [className, [make]] of Object.entries(classes)) {
    for (const { what, authorization } of make(cast)) {
      // As HTTP reads it: blanks around a value are not part of it.
      const value = authorization?.replaceAll(/^[ \t]+|[ \t]+$/g, '')
      if (!unique.has(value)) unique.set(value, { className, what, authorization: value })
    }
  }
  corpus = [...unique.values()]
  return corpus
}

const describe = ({ className, what }: Entry) => `${className}: ${what}`
const say = (text: string) => process.stdout.write(`${text}\n`)

test('no forged token is accepted, and all of them are refused alike', { timeout: 120_000 }, async () => {
  const entries = forgeries()
  const counts = Object.fromEntries(
    Object.keys(classes).map((name) => [name, entries.filter(({ className }) => className === name).length]),
  )
  say(
    `forged tokens: ${entries.length}\n${Object.entries(counts)
      .map(([name, count]) => `  ${name}: ${count}`)
      .join('\n')}`,
  )
  expect(entries.length).toBeGreaterThanOrEqual(5_000)
  expect(Object.entries(classes).filter(([name, [, atLeast]]) => (counts[name] ?? 0) < atLeast)).toEqual([])

  const started = performance.now()
  const replies = await askAll(entries.map(({ authorization }) => authorization))
  say(`asked in ${((performance.now() - started) / 1000).toFixed(1)} s`)
  const wrong = entries.filter((_, index) => replies[index]?.status !== 401)
  expect(wrong.map((entry) => `${describe(entry)} → ${replies[entries.indexOf(entry)]?.status}`)).toEqual([])
  expect([...new Set(replies.map(({ body }) => body))]).toEqual([
    '{"type":"error","code":"unauthorized","status":401,"message":"No valid API authentication found","details":[]}',
  ])
  expect(new Set(replies.map(({ challenge }) => challenge))).toEqual(
    new Set(['Bearer realm="florin"', 'Bearer realm="florin", error="invalid_token"']),
  )
  expect(lured).toBe(0)
  expect(api.logs.filter((line) => /"level":"(warn|error)"/.test(line))).toEqual([])
  // Everything that was good before is good still.
  for (const { token: good } of cast.known) expect(await ask(`Bearer ${good}`)).toMatchObject({ status: 200 })
})

test('a header too large for HTTP, or sent twice, is refused before the token is looked at', async () => {
  const { ec } = cast
  expect((await ask(`Bearer ${ofLength(ec, 17_000)}`)).status).toBe(400)
  const twice = await new Promise<number | undefined>((resolve, reject) => {
    const values = [`Bearer ${token(ec)}`, `Bearer ${token(ec)}`]
    request(
      `${api.url()}/roles`,
      { headers: ['host', 'florin', 'authorization', ...values.slice(0, 1), 'authorization', ...values.slice(1)] },
      (response) => {
        response.resume()
        resolve(response.statusCode)
      },
    )
      .on('error', reject)
      .end()
  })
  expect(twice).toBe(400)
})

test('an edited token is refused right after its original was accepted and remembered', async () => {
  const refused: number[] = []
  for (const signer of [cast.ec, cast.rsa]) {
    for (const [name, value] of Object.entries(edits)) {
      const original = claims()
      const good = token(signer, headerOf(signer), original)
      const [header, , signature] = split(good)
      const edited = `${header}.${encode({ ...original, [name]: value })}.${signature}`
      expect((await ask(`Bearer ${good}`)).status).toBe(200)
      refused.push((await ask(`Bearer ${edited}`)).status)
      expect((await ask(`Bearer ${good}`)).status).toBe(200)
      refused.push((await ask(`Bearer ${edited}`)).status)
    }
  }
  expect(refused).toEqual(Array.from({ length: 40 }, () => 401))
})

/** Tokens at the edge of what is allowed, made at the moment they are sent. */
const goodTokens: Record<string, (signer: Signer) => string> = {
  plain: (signer) => `Bearer ${token(signer)}`,
  'expired 50 s ago': (signer) => `Bearer ${token(signer, headerOf(signer), claims(life(now() - 110, 60)))}`,
  'valid in 50 s': (signer) => `Bearer ${token(signer, headerOf(signer), claims({ nbf: now() + 50 }))}`,
  'issued in 50 s': (signer) => `Bearer ${token(signer, headerOf(signer), claims({ iat: now() + 50 }))}`,
  'lives 24 h': (signer) => `Bearer ${token(signer, headerOf(signer), claims(life(now(), day)))}`,
  'lives 24 h, only nbf': (signer) =>
    `Bearer ${token(signer, headerOf(signer), claims({ ...life(now(), day), iat: undefined }))}`,
  'lives 24 h, neither iat nor nbf': (signer) =>
    `Bearer ${token(signer, headerOf(signer), claims({ exp: now() + day, iat: undefined, nbf: undefined }))}`,
  'lower case bearer': (signer) => `bearer ${token(signer)}`,
  'upper case bearer': (signer) => `BEARER ${token(signer)}`,
  'two spaces': (signer) => `Bearer  ${token(signer)}`,
  'no typ': (signer) => `Bearer ${token(signer, headerOf(signer, { typ: undefined }))}`,
  'lower case typ': (signer) => `Bearer ${token(signer, headerOf(signer, { typ: 'jwt' }))}`,
  'no iss': (signer) => `Bearer ${token(signer, headerOf(signer), claims({ iss: undefined }))}`,
  'no iat': (signer) => `Bearer ${token(signer, headerOf(signer), claims({ iat: undefined }))}`,
  'no nbf': (signer) => `Bearer ${token(signer, headerOf(signer), claims({ nbf: undefined }))}`,
  'fractions of a second': (signer) =>
    `Bearer ${token(signer, headerOf(signer), claims({ exp: now() + 60.25, iat: now() - 0.5 }))}`,
  'jti of 255': (signer) => `Bearer ${token(signer, headerOf(signer), claims({ jti: 'j'.repeat(255) }))}`,
  '200 scopes': (signer) =>
    `Bearer ${token(signer, headerOf(signer), claims({ scopes: [...Array.from({ length: 199 }, () => 'x'), 'roles.read'] }))}`,
  'claims of other kinds': (signer) =>
    `Bearer ${token(signer, headerOf(signer), claims({ sub: 1, aud: [], embed: { amount: 1 }, checkout_session_id: randomUUID() }))}`,
  'letters beyond ASCII': (signer) => `Bearer ${token(signer, headerOf(signer), claims({ iss: 'Žofie 🦊' }))}`,
  'JSON with blanks': (signer) =>
    `Bearer ${token(signer, JSON.stringify(headerOf(signer), null, 2), JSON.stringify(claims(), null, '\t'))}`,
  '8,192 characters': (signer) =>
    `Bearer ${[ofLength(signer, 8_192), ofLength(signer, 8_191)].find(({ length }) => length <= 8_192)}`,
}

test.each(Object.keys(goodTokens))('accepted at the edge: %s', async (name) => {
  for (const signer of [cast.ec, cast.rsa]) {
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
    for (const signer of [cast.ec, cast.rsa]) {
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
  const { ec } = cast
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
    expect(new Set(callers.map(({ keyPairId }) => keyPairId))).toEqual(new Set([use('ec').id]))
    const another = await authenticate(`Bearer ${token(ec)}`)
    expect(another.tokenId).not.toBe(callers[0]?.tokenId)
  })
})

/** What has gone wrong in verifiers of others, one at a time. */
const flaws = {
  'takes the algorithm from the token': [
    'algorithm confusion',
    'none in every spelling',
    'other algorithm of the right key',
  ],
  'takes the key from the token': ['embedded key'],
  'ignores unknown header members': ['header member'],
  'reads base64 leniently': ['not canonical'],
  'remembers by kid and jti': ['edited payload', 'edited header'],
  'remembers by signature': ['edited payload', 'edited header'],
  'remembers by header and payload': ['flipped signature', 'cut signature', 'degenerate signature'],
  'skips the signature': ['foreign key', 'smaller curves', 'flipped signature', 'edited payload', 'DER signature'],
  'takes DER signatures': ['DER signature'],
  'takes any number for a signature part': ['degenerate signature'],
  'does not look at times': ['wrong times'],
  'does not look at the longest life': ['wrong times'],
  'does not look at the types of claims': ['wrong claims'],
  'does not look at the key state': ['revoked key pair'],
  'takes the first key for an unknown kid': ['unknown kid', 'kid injection'],
  'has no size limit': ['oversized'],
  'takes more segments than three': ['segments'],
  'takes any scheme': ['garbage header'],
  'reads what is not JSON as far as it goes': ['wrong JSON'],
  'reads the first of two members': ['duplicate members'],
  'reads the JSON form': ['JWE and JSON'],
} as const satisfies Record<string, readonly (keyof typeof classes)[]>
type Flaw = keyof typeof flaws

const checkedSignatures = new WeakMap<KeyObject, Map<string, boolean>>()

/** A second verifier, written from the contract and not from the code, with one flaw or none. */
function createVerifier({ ec, rsa, other, known, revoked }: Cast, flaw?: Flaw) {
  const has = (name: Flaw) => flaw === name
  const keys = new Map(
    [ec, rsa, other].map((signer) => [signer.kid, { alg: signer.alg, key: signer.publicKey, active: true }]),
  )
  for (const { token: text } of revoked) {
    const { kid, alg } = JSON.parse(decode(split(text)[0]).toString()) as { kid: string; alg: string }
    const key = revokedKeys.get(kid)
    if (key) keys.set(kid, { alg, key, active: false })
  }
  const remembered = new Set(
    known.flatMap(({ signer, token: text }) => {
      const [header, payload, signature] = split(text)
      const { jti } = JSON.parse(decode(payload).toString()) as { jti: string }
      if (has('remembers by kid and jti')) return [[signer.kid, jti].map((part) => JSON.stringify(part)).join()]
      if (has('remembers by signature')) return [signature]
      return has('remembers by header and payload') ? [`${header}.${payload}`] : []
    }),
  )

  function checkSignature(input: string, signature: Buffer, alg: string, key: KeyObject): boolean {
    if (remember(key, [alg, input, signature.toString('base64')].join(), () => isSignature(input, signature, alg, key)))
      return true
    if (has('takes DER signatures') && alg === 'ES512') {
      return verify('sha512', Buffer.from(input), { key, dsaEncoding: 'der' }, signature)
    }
    if (!has('takes any number for a signature part') || signature.length !== 132) return false
    const [r, s] = halves(signature)
    if (r < order && s < order) return false
    return isSignature(input, Buffer.concat([toBytes(r % order), toBytes(s % order)]), alg, key)
  }

  function accepts(authorization: string | undefined): boolean {
    const scheme = has('takes any scheme') ? /^(?:\S+ )*(\S+)$/ : /^bearer +([^ ]+)$/i
    const text = scheme.exec(authorization ?? '')?.[1]
    if (text === undefined || (text.length > 8_192 && !has('has no size limit'))) return false
    const parts = has('reads the JSON form') && text.startsWith('{') ? partsOf(text) : text.split('.')
    if (parts.length !== 3 && !(parts.length > 3 && has('takes more segments than three'))) return false
    const [one = '', two = '', three = ''] = parts
    const isCanonical = (segment: string) => segment !== '' && decode(segment).toString('base64url') === segment
    const isUnsigned = has('takes the algorithm from the token') && three === ''
    if (!has('reads base64 leniently') && ![one, two, ...(isUnsigned ? [] : [three])].every(isCanonical)) return false
    const header = read(one)
    const payload = read(two)
    if (!header || !payload || typeof header['alg'] !== 'string') return false
    const { alg, kid, typ, jwk, ...others } = header
    if (Object.keys(others).length > 0 && !has('ignores unknown header members')) return false
    if (jwk !== undefined && !has('ignores unknown header members') && !has('takes the key from the token'))
      return false
    if (typ !== undefined && !(typeof typ === 'string' && typ.toUpperCase() === 'JWT')) return false
    const found = keyFor(kid, jwk)
    if (!found || !(found.active || has('does not look at the key state'))) return false
    if (alg !== found.alg && !has('takes the algorithm from the token') && !has('takes the key from the token'))
      return false
    if (!goodClaims(payload)) return false
    if (has('skips the signature')) return true
    if (
      remembered.has([kid, payload['jti']].map((part) => JSON.stringify(part)).join()) ||
      remembered.has(three) ||
      remembered.has(`${one}.${two}`)
    )
      return true
    if (has('takes the algorithm from the token') && /^none$/i.test(alg)) return true
    return checkSignature(`${one}.${two}`, decode(three), alg, found.key)
  }

  function read(segment: string): Claims | undefined {
    let text = decode(segment).toString()
    if (has('reads what is not JSON as far as it goes')) text = /\{.*\}/s.exec(text)?.[0].replace(/,\}$/, '}') ?? ''
    else if (has('reads the first of two members')) text = withoutLastTwin(text)
    else if (encode(text) !== decode(segment).toString('base64url')) return undefined
    try {
      const value: unknown = JSON.parse(text)
      return typeof value === 'object' && value !== null && !Array.isArray(value) ? (value as Claims) : undefined
    } catch {
      return undefined
    }
  }

  function keyFor(kid: unknown, jwk: unknown) {
    if (has('takes the key from the token') && typeof jwk === 'object' && jwk !== null) {
      try {
        return { alg: '', key: createPublicKey({ key: jwk as JsonWebKey, format: 'jwk' }), active: true }
      } catch {
        return undefined
      }
    }
    const found = typeof kid === 'string' ? keys.get(kid) : undefined
    return found ?? (has('takes the first key for an unknown kid') ? [...keys.values()][0] : undefined)
  }

  function goodClaims({ scopes, jti, exp, nbf, iat, iss }: Claims): boolean {
    const isTime = (value: unknown) => typeof value === 'number' && Number.isFinite(value) && value >= 0
    const isOptional = (value: unknown) => value === undefined || isTime(value)
    const isText = typeof jti === 'string' && jti.length >= 1 && jti.length <= 255
    const isList = Array.isArray(scopes) && scopes.length <= 200 && scopes.every((scope) => typeof scope === 'string')
    const isIssuer = iss === undefined || typeof iss === 'string'
    const isTyped = isTime(exp) && isOptional(nbf) && isOptional(iat) && isText && isList && isIssuer
    if (!isTyped && !has('does not look at the types of claims')) return false
    if (has('does not look at times')) return true
    const moment = now()
    if (Number(exp) <= moment - 60 || Number(nbf ?? 0) > moment + 60 || Number(iat ?? 0) > moment + 60) return false
    return Number(exp) - Number(iat ?? nbf ?? moment + 60) <= day || has('does not look at the longest life')
  }

  return accepts
}

/** Each verifier asks about the same signatures; a millisecond and a half for each would add up. */
function remember(key: KeyObject, id: string, check: () => boolean): boolean {
  const results = checkedSignatures.get(key) ?? new Map<string, boolean>()
  checkedSignatures.set(key, results)
  const result = results.get(id) ?? check()
  results.set(id, result)
  return result
}

function isSignature(input: string, signature: Buffer, alg: string, key: KeyObject): boolean {
  const kind = alg.slice(0, 2)
  const data = Buffer.from(input)
  const hash = `sha${/\d{3}$/.exec(alg)?.[0] ?? '512'}`
  try {
    if (kind === 'HS') {
      const secrets = secretsOf({ name: '', alg, kid: '', publicKey: key, sign: () => Buffer.of() })
      return secrets.some(([, secret]) => hmac(alg, secret)(input).equals(signature))
    }
    if (kind === 'PS') {
      const options = { key, padding: padding.RSA_PKCS1_PSS_PADDING, saltLength: padding.RSA_PSS_SALTLEN_DIGEST }
      return verify(hash, data, options, signature)
    }
    if (kind === 'RS') return verify(hash, data, key, signature)
    if (kind === 'ES') return verify(hash, data, { key, dsaEncoding: 'ieee-p1363' }, signature)
    return key.asymmetricKeyType?.startsWith('ed') === true && verify(null, data, key, signature)
  } catch {
    return false
  }
}

function partsOf(text: string): string[] {
  const { protected: header = '', payload = '', signature = '' } = JSON.parse(text) as Record<string, string>
  return [header, payload, signature]
}

/** Drops the last member when its name came before. */
function withoutLastTwin(text: string): string {
  const [member, name = ''] = /,"([^"]+)":[^,{}]+\}$/.exec(text) ?? []
  if (member === undefined) return text
  const rest = `${text.slice(0, -member.length)}}`
  return rest.includes(`"${String(JSON.parse(`"${name}"`))}":`) ? rest : text
}

test('the corpus finds flaws: verifiers with one planted each accept something, the same verifier without accepts nothing', {
  timeout: 120_000,
}, () => {
  expect(new Set<string>(Object.values(flaws).flat())).toEqual(new Set(Object.keys(classes)))
  const entries = forgeries()
  const sound = createVerifier(cast)
  expect(entries.filter(({ authorization }) => sound(authorization)).map(describe)).toEqual([])
  for (const make of Object.values(goodTokens)) expect(sound(make(cast.ec))).toBe(true)

  for (const [flaw, expected] of Object.entries(flaws) as [Flaw, readonly string[]][]) {
    const weak = createVerifier(cast, flaw)
    const accepted = entries.filter(({ authorization }) => weak(authorization))
    const found = new Set(accepted.map(({ className }) => className))
    say(`a verifier that ${flaw}: ${accepted.length} accepted (${[...found].join(', ')})`)
    expect([flaw, expected.filter((name) => !found.has(name))]).toEqual([flaw, []])
  }
})
