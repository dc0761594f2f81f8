import { bearer, type Cast, type Forgery, list } from './forgery.ts'
import {
  type Claims,
  claims,
  day,
  decode,
  encode,
  headerOf,
  life,
  now,
  signText,
  split,
  type Text,
  token,
} from './tokens.ts'

export function* wrongTimes({ ec, rsa }: Cast): Generator<Forgery> {
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

const buyerId = '0192f4a6-7e0c-7c33-b1de-3f1a2b4c5d6e'
const wrongPins = [
  null,
  [],
  'x',
  1,
  { unknown: 1 },
  { Amount: 1 },
  { amount: '1' },
  { amount: 1.5 },
  { amount: -1 },
  { amount: null },
  { currency: 'eur' },
  { currency: null },
  { buyer_id: 'x' },
  { buyer_id: buyerId.toUpperCase() },
  { buyer_id: null },
  { buyer_external_identifier: '' },
  { buyer_external_identifier: 1 },
  { buyer_id: buyerId, buyer_external_identifier: 'buyer-4711' },
  { metadata: [] },
  { metadata: { order: 1 } },
  { cart_items: {} },
  { cart_items: ['boots'] },
  { merchant_account_id: ['default'] },
  { merchant_account_id: '' },
  { connection_options: 'x' },
]

export function* wrongClaims({ ec, rsa }: Cast): Generator<Forgery> {
  const wrong: Record<string, readonly unknown[]> = {
    exp: [undefined, ...wrongNumbers],
    nbf: wrongNumbers,
    iat: wrongNumbers,
    jti: [undefined, null, '', 0, 1, true, [], ['a'], {}, 'j'.repeat(256), 'j'.repeat(2_000)],
    scopes: [undefined, null, '', '*.read', 'roles.read *.read', 0, true, {}, { 0: 'roles.read', length: 1 }],
    iss: [null, 0, 1, true, [], ['florin'], {}],
    checkout_session_id: [null, 0, true, [], {}, '', 'x', '0192F4A6-7E0C-7C33-B1DE-3F1A2B4C5D6E'],
    // The scope is not there.
    embed: [null, 0, true, [], {}, '', { amount: 1 }],
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
    for (const embed of wrongPins) {
      const changes = { scopes: ['roles.read', 'embed'], embed }
      yield bearer(`embed ${JSON.stringify(embed).slice(0, 40)}`, token(signer, headerOf(signer), claims(changes)))
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
export function* wrongJson({ ec, rsa }: Cast): Generator<Forgery> {
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
export function* duplicateMembers({ ec, rsa, known, strangers: [other] }: Cast): Generator<Forgery> {
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
