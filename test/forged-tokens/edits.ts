import { algorithms, misspellings, nones } from './algorithms.ts'
import { bearer, type Cast, type Forgery, list } from './forgery.ts'
import { flip } from './signatures.ts'
import { type Claims, decode, encode, headerOf, now, split, type Text, token } from './tokens.ts'

export const edits: Record<string, unknown> = {
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

export function* editedPayloads({ known, other }: Cast): Generator<Forgery> {
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

export function* editedHeaders({ known }: Cast): Generator<Forgery> {
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
