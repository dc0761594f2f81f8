import { randomBytes } from 'node:crypto'
import { bearer, type Cast, type Forgery, list } from './forgery.ts'
import { claims, encode, headerOf, split, token } from './tokens.ts'

export function* headerMembers({ ec, rsa, lureUrl }: Cast): Generator<Forgery> {
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

export function* garbageHeaders({ known, strangers: [other] }: Cast): Generator<Forgery> {
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

export function* jweShapes({ ec, rsa, known }: Cast): Generator<Forgery> {
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
