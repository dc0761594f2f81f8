import { randomBytes } from 'node:crypto'
import { alphabet, bearer, type Cast, type Forgery, list } from './forgery.ts'
import { decode, headerOf, token } from './tokens.ts'

export function* foreignKeys({ ec, rsa, other, strangers }: Cast): Generator<Forgery> {
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

export function* unknownKids({ ec, rsa }: Cast): Generator<Forgery> {
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

const next = (character: string, by = 1) => alphabet[(alphabet.indexOf(character) + by) % 64] ?? ''
const changeAt = (text: string, at: number) => text.slice(0, at) + next(text[at] ?? '', 4) + text.slice(at + 1)
/** The same bytes in another spelling: the last character has spare bits. */
const swapLast = (text: string) => text.slice(0, -1) + next(text.slice(-1))

export function* kidInjections({ ec, rsa, strangers: [other] }: Cast): Generator<Forgery> {
  for (const signer of [ec, rsa]) {
    for (const [what, kid] of injections(signer.kid, signer.id)) {
      yield bearer(`${what} ${JSON.stringify(kid)?.slice(0, 40)}`, token(signer, headerOf(signer, { kid })))
    }
  }
  for (const [what, kid] of injections(ec.kid, ec.id)) {
    if (other) yield bearer(`${what}, by a stranger`, token(other, headerOf(other, { kid })))
  }
}

export function* embeddedKeys({ ec, rsa, strangers, lureUrl }: Cast): Generator<Forgery> {
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

export function* revokedPairs({ revoked }: Cast): Generator<Forgery> {
  for (const { what, token: text } of revoked) yield bearer(what, text)
}
