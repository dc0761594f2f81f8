import fc from 'fast-check'
import { expect, test } from 'vitest'
import { createAuthentication } from './authentication.ts'
import { OutboundError, type OutboundRequest } from './outbound.ts'

const client = {
  client_id: 'shop',
  client_secret_name: 'webhook_client_secret.1',
  token_url: 'https://login.example.com/token',
  scope: null,
}
const credentials = { kind: 'oauth_client_credentials', ...client } as const
const password = {
  kind: 'oauth_password',
  ...client,
  scope: 'a b',
  username: 'üser&',
  password_name: 'webhook_password.1',
} as const
const endpoint = { id: 'one', version: 1, authentication: credentials }
const secrets = { password: 'its pässword+', clientSecret: 'a:secret &' }

/** Somebody who hands out tokens, and what was asked. */
function useIssuer(answer: (count: number) => { status?: number; body: unknown }) {
  const asked: OutboundRequest[] = []
  let time = Date.parse('2026-11-15T12:00:00Z')
  const authentication = createAuthentication({
    outbound: {
      async post(request) {
        asked.push(request)
        const { status = 200, body } = answer(asked.length)
        return { status, headers: {}, body: Buffer.from(typeof body === 'string' ? body : JSON.stringify(body)) }
      },
    },
    now: () => new Date(time),
  })
  return { authentication, asked, pass: (seconds: number) => (time += seconds * 1000) }
}
const tokens = (expires_in?: unknown) => (count: number) => ({
  body: { access_token: `token-${count}`, token_type: 'Bearer', expires_in },
})

test('a username and a password are one header that says exactly them', async () => {
  const { authentication } = useIssuer(tokens())
  const text = fc.string({ unit: 'grapheme', minLength: 1 })
  await fc.assert(
    fc.asyncProperty(
      text.filter((name) => !name.includes(':')),
      text,
      async (username, secret) => {
        const basic = { kind: 'basic', username, password_name: 'webhook_password.1' } as const
        const headers = await authentication.headersFor(
          { ...endpoint, authentication: basic },
          { password: secret, clientSecret: null },
        )
        expect(Object.keys(headers)).toEqual(['authorization'])
        const [, encoded = ''] = /^Basic ([A-Za-z0-9+/=]+)$/.exec(headers['authorization'] ?? '') ?? []
        expect(Buffer.from(encoded, 'base64').toString('utf8')).toBe(`${username}:${secret}`)
      },
    ),
  )
})

test('a subscription without authentication has no header', async () => {
  const { authentication } = useIssuer(tokens())
  expect(await authentication.headersFor({ ...endpoint, authentication: null }, secrets)).toEqual({})
})

test('a token is asked for as the standard says, by either grant', async () => {
  const { authentication, asked } = useIssuer(tokens())
  expect(await authentication.headersFor(endpoint, secrets)).toEqual({ authorization: 'Bearer token-1' })
  await authentication.headersFor({ id: 'two', version: 1, authentication: password }, secrets)
  const [first, second] = asked
  expect(first).toMatchObject({ url: client.token_url, body: 'grant_type=client_credentials' })
  expect(first?.headers['content-type']).toBe('application/x-www-form-urlencoded')
  const sent = Buffer.from(first?.headers['authorization']?.slice('Basic '.length) ?? '', 'base64').toString()
  expect(sent).toBe('shop:a%3Asecret+%26')
  expect(Object.fromEntries(new URLSearchParams(String(second?.body)))).toEqual({
    grant_type: 'password',
    username: 'üser&',
    password: 'its pässword+',
    scope: 'a b',
  })
})

test('a token is used until shortly before it expires, and by all who need it at the same time', async () => {
  const { authentication, asked, pass } = useIssuer(tokens(600))
  const ask = () => authentication.headersFor(endpoint, secrets)
  await Promise.all(Array.from({ length: 20 }, ask))
  pass(569)
  expect(await ask()).toEqual({ authorization: 'Bearer token-1' })
  expect(asked).toHaveLength(1)
  pass(1)
  expect(await ask()).toEqual({ authorization: 'Bearer token-2' })
})

test('a token that the endpoint refuses, or one of an older subscription, is replaced', async () => {
  const { authentication } = useIssuer(tokens(600))
  await authentication.headersFor(endpoint, secrets)
  authentication.forget(endpoint)
  expect(await authentication.headersFor(endpoint, secrets)).toEqual({ authorization: 'Bearer token-2' })
  expect(await authentication.headersFor({ ...endpoint, version: 2 }, secrets)).toEqual({
    authorization: 'Bearer token-3',
  })
})

test.for([
  [undefined, 270],
  ['soon', 270],
  [-5, 270],
  [10, 5],
  ['120', 90],
  [1e12, 24 * 60 * 60 - 30],
])('a token that lives %s seconds is kept for %s', async ([lives, kept]) => {
  const { authentication, asked, pass } = useIssuer(tokens(lives))
  await authentication.headersFor(endpoint, secrets)
  pass(Number(kept) - 1)
  await authentication.headersFor(endpoint, secrets)
  expect(asked).toHaveLength(1)
  pass(1)
  await authentication.headersFor(endpoint, secrets)
  expect(asked).toHaveLength(2)
})

test('what is no token is a failed attempt that says nothing of the answer, and is asked for again', async () => {
  const answers: { status?: number; body: unknown }[] = [
    { status: 401, body: { error: 'invalid_client' } },
    { status: 302, body: '' },
    { body: 'no JSON secret-text' },
    { body: 'null' },
    { body: [] },
    { body: { token_type: 'Bearer' } },
    { body: { access_token: 5 } },
    { body: { access_token: 'secret-text', token_type: 'mac' } },
    { body: { access_token: 'secret-text\r\nx: y' } },
    { body: { access_token: 'a secret-text' } },
    { body: { access_token: 'x'.repeat(8193) } },
    { body: { access_token: '' } },
  ]
  const { authentication, asked } = useIssuer((count) => answers[count - 1] ?? { body: { access_token: 'good' } })
  for (const answer of answers) {
    const error: unknown = await authentication.headersFor(endpoint, secrets).catch((reason: unknown) => reason)
    expect(error, JSON.stringify(answer)).toBeInstanceOf(OutboundError)
    expect(error).toMatchObject({ kind: 'authentication' })
    expect(String(error)).not.toContain('secret-text')
  }
  expect(await authentication.headersFor(endpoint, secrets)).toEqual({ authorization: 'Bearer good' })
  expect(asked).toHaveLength(answers.length + 1)
})
