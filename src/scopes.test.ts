import fc from 'fast-check'
import { expect, test } from 'vitest'
import { allScopes, effectiveScopes, expandScopes } from './scopes.ts'

const names = fc.array(fc.constantFrom(...allScopes, '*.read', '*.write', '*', 'nothing.read', '*.*'))

test('there are 88 scopes', () => {
  expect(new Set(allScopes).size).toBe(88)
})

test('a token never has more than its scopes, nor more than its roles allow, embed excepted, which is then all', () => {
  fc.assert(
    fc.property(names, names, (token, roles) => {
      const [own, granted, effective] = [expandScopes(token), expandScopes(roles), effectiveScopes(token, roles)]
      for (const scope of effective) expect(own.has(scope) && (granted.has(scope) || scope === 'embed')).toBe(true)
      if (own.has('embed')) expect([...effective]).toEqual(['embed'])
      else for (const scope of own) if (granted.has(scope)) expect(effective.has(scope)).toBe(true)
    }),
  )
})

test('the wildcards stand for resources alone', () => {
  expect(expandScopes(['*.read', '*.write']).size).toBe(86)
  expect(expandScopes(['*.read']).has('embed')).toBe(false)
  expect(expandScopes(['*', '*.*', 'transactions.*']).size).toBe(0)
})
