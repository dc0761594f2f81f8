import fc from 'fast-check'
import { expect, test } from 'vitest'
import { hostileTargets } from '../../test/hostile-targets.ts'
import { checkTarget, mayDial } from './addresses.ts'

const strict = { allowLoopback: false }
const lenient = { allowLoopback: true }

test('no spelling of a forbidden target is accepted, out of more than 300', () => {
  expect(new Set(hostileTargets).size).toBeGreaterThan(300)
  expect(hostileTargets.filter((url) => checkTarget(url, strict) === undefined)).toEqual([])
})

test('where this machine is allowed, nothing else is that was not before', () => {
  const accepted = hostileTargets.filter((url) => checkTarget(url, lenient) === undefined)
  const hosts = new Set(
    accepted.map((url) => new URL(url).hostname.replace(/\.$/, '').replace(/^(.+\.)localhost$/, 'localhost')),
  )
  expect([...hosts].toSorted()).toEqual(['127.0.0.1', '127.255.255.254', '[::1]', 'localhost'])
})

test('targets on the public internet are accepted, also those that nobody knows yet', () => {
  const urls = [
    'https://hooks.example.com',
    'https://hooks.example.com:8443/a/b?c=d#e',
    'https://not-there-yet.example/',
    'https://bücher.example/',
    'https://8.8.8.8/',
    'https://[2606:4700::1111]/',
  ]
  expect(urls.map((url) => checkTarget(url, strict))).toEqual(urls.map(() => undefined))
})

test('without TLS only this machine is called, and only where that is allowed', () => {
  expect(checkTarget('http://localhost:3000/', lenient)).toBeUndefined()
  expect(checkTarget('http://hooks.example.com/', lenient)).toBe('Must begin with https://')
  expect(mayDial('8.8.8.8', 'http:', lenient)).toBe(false)
  expect(mayDial('8.8.8.8', 'https:', lenient)).toBe(true)
  expect(mayDial('127.0.0.1', 'http:', strict)).toBe(false)
})

const v4: [string, number][] = [
  ['0.0.0.0', 8],
  ['10.0.0.0', 8],
  ['100.64.0.0', 10],
  ['127.0.0.0', 8],
  ['169.254.0.0', 16],
  ['172.16.0.0', 12],
  ['192.0.0.0', 24],
  ['192.0.2.0', 24],
  ['192.88.99.0', 24],
  ['192.168.0.0', 16],
  ['198.18.0.0', 15],
  ['198.51.100.0', 24],
  ['203.0.113.0', 24],
  ['224.0.0.0', 3],
]
const numberOf = (address: string) => Buffer.from(address.split('.').map(Number)).readUInt32BE()
const edgesV4 = v4.flatMap(([address, prefix]) => [numberOf(address), numberOf(address) + 2 ** (32 - prefix) - 1])
const anyV4 = fc.oneof(
  fc.integer({ min: 0, max: 2 ** 32 - 1 }),
  fc.tuple(fc.constantFrom(...edgesV4), fc.integer({ min: -2, max: 2 })).map(([edge, step]) => (edge + step) >>> 0),
)

test('an IPv4 address may be dialled exactly when it is in no reserved network', () => {
  fc.assert(
    fc.property(anyV4, (number) => {
      const address = [24, 16, 8, 0].map((bits) => (number >>> bits) & 255).join('.')
      const isReserved = v4.some(
        ([network, prefix]) => number >>> (32 - prefix) === numberOf(network) >>> (32 - prefix),
      )
      expect(mayDial(address, 'https:', strict)).toBe(!isReserved)
    }),
    { numRuns: 5_000 },
  )
})

const v6: [high: bigint, prefix: bigint][] = [
  [0x20010000n, 23n],
  [0x20010db8n, 32n],
  [0x20020000n, 16n],
  [0x3fff0000n, 20n],
]
const edgesV6 = [...v6, [0x20000000n, 3n] as const].flatMap(([high, prefix]) => [
  high << 96n,
  (high << 96n) + (1n << (128n - prefix)) - 1n,
])
const mask = (1n << 128n) - 1n
const anyV6 = fc.oneof(
  fc.bigInt({ min: 0n, max: mask }),
  fc.bigInt({ min: 0x2n << 124n, max: (0x4n << 124n) - 1n }),
  fc.tuple(fc.constantFrom(...edgesV6), fc.bigInt({ min: -2n, max: 2n })).map(([edge, step]) => (edge + step) & mask),
)

test('an IPv6 address may be dialled exactly when it is a public one that wraps nothing', () => {
  fc.assert(
    fc.property(anyV6, (number) => {
      const address = number
        .toString(16)
        .padStart(32, '0')
        .replace(/(.{4})(?=.)/g, '$1:')
      const isReserved = v6.some(([high, prefix]) => number >> (128n - prefix) === high >> (32n - prefix))
      expect(mayDial(address, 'https:', strict)).toBe(number >> 125n === 1n && !isReserved)
    }),
    { numRuns: 5_000 },
  )
})
