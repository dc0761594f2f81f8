import { randomUUID } from 'node:crypto'
import { ofLength } from './encoding.ts'
import { claims, day, headerOf, life, now, type Signer, token } from './tokens.ts'

/** Tokens at the edge of what is allowed, made at the moment they are sent. */
export const goodTokens: Record<string, (signer: Signer) => string> = {
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
    `Bearer ${token(signer, headerOf(signer), claims({ sub: 1, aud: [], merchant_account_id: 'x', checkout_session_id: randomUUID() }))}`,
  'letters beyond ASCII': (signer) => `Bearer ${token(signer, headerOf(signer), claims({ iss: 'Žofie 🦊' }))}`,
  'JSON with blanks': (signer) =>
    `Bearer ${token(signer, JSON.stringify(headerOf(signer), null, 2), JSON.stringify(claims(), null, '\t'))}`,
  '8,192 characters': (signer) =>
    `Bearer ${[ofLength(signer, 8_192), ofLength(signer, 8_191)].find(({ length }) => length <= 8_192)}`,
}
