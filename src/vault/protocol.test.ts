import fc from 'fast-check'
import { expect, test } from 'vitest'
import { loadConfig } from '../platform/config.ts'
import { decodeMessage, encodeMessage, parseAddress } from './protocol.ts'

test('a message comes back as it was, whatever bytes its values hold', () => {
  const values = fc.array(fc.uint8Array({ minLength: 1, maxLength: 50 }), { maxLength: 5 })
  fc.assert(
    fc.property(values, fc.string(), (bytes, text) => {
      const buffers = bytes.map((value) => Buffer.from(value))
      const head = { text, lengths: buffers.map(({ length }) => length) }
      const decoded = decodeMessage(encodeMessage(head, buffers))
      expect(decoded?.head).toEqual(head)
      expect(decoded?.values.map((value) => [...value])).toEqual(buffers.map((value) => [...value]))
    }),
  )
})

test('bytes that no length speaks of make a message unreadable', () => {
  const value = [Buffer.from('4111111111111111')]
  for (const lengths of [undefined, [], [15], [17], [8, 9], [-1, 17], [1.5], ['16'], 16]) {
    expect(decodeMessage(encodeMessage({ lengths }, value)), JSON.stringify(lengths)).toBeUndefined()
  }
  for (const text of ['', 'no line', '{"a":\n', 'null\n'])
    expect(decodeMessage(Buffer.from(text)), text).toBeUndefined()
})

test('an address is a Unix socket or TLS', () => {
  expect(parseAddress('unix:/run/florin/vault.sock')).toEqual({ kind: 'unix', path: '/run/florin/vault.sock' })
  expect(parseAddress('tls://vault.internal:8443')).toEqual({ kind: 'tls', host: 'vault.internal', port: 8443 })
})

test('plain TCP is refused, by the configuration and by the client', () => {
  for (const address of [
    'tcp://127.0.0.1:1',
    'http://127.0.0.1:1',
    '127.0.0.1:1',
    'tls://host',
    'unix:relative',
    'tls://a@b:1',
  ]) {
    expect(() => parseAddress(address), address).toThrow(/no address/)
    expect(() => loadConfig('vault', ['vaultListen'], { FLORIN_VAULT_LISTEN: address }), address).toThrow(
      /FLORIN_VAULT_LISTEN/,
    )
    expect(() => loadConfig('api', ['vaultUrl'], { FLORIN_VAULT_URL: address }), address).toThrow(/FLORIN_VAULT_URL/)
  }
})
