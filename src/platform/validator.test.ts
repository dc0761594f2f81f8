import { setFlagsFromString } from 'node:v8'
import { runInNewContext } from 'node:vm'
import { Type } from 'typebox'
import { expect, test } from 'vitest'
import { compile } from './validator.ts'

const accepts = (format: string) => {
  const problemsOf = compile(Type.String({ format }))
  return (text: string) => problemsOf(text).length === 0
}

test('a time has a zone and exists', () => {
  const isTime = accepts('date-time')
  for (const text of [
    '2026-11-15T12:30:00Z',
    '2026-11-15t12:30:00.123456+02:00',
    '2024-02-29T00:00:00-11:30',
    '9999-12-31T23:59:59.999Z',
  ]) {
    expect(isTime(text), text).toBe(true)
  }
  for (const text of [
    '2026-11-15T12:30:00',
    '2026-11-15',
    'infinity',
    'now',
    '2026-11-15T24:00:00Z',
    '2026-11-15T12:30:60Z',
    '2025-02-29T00:00:00Z',
    '2026-13-01T00:00:00Z',
    '0000-01-01T00:00:00Z',
    '1969-12-31T23:59:59Z',
    '2026-11-15 12:30:00Z',
    '2026-11-15T12:30:00+24:00',
    ' 2026-11-15T12:30:00Z',
  ]) {
    expect(isTime(text), text).toBe(false)
  }
})

test('a UUID is in its one canonical form', () => {
  const isUuid = accepts('uuid')
  expect(isUuid('0192f4a6-7e0c-7c33-b1de-3f1a2b4c5d6e')).toBe(true)
  for (const text of [
    '0192F4A6-7E0C-7C33-B1DE-3F1A2B4C5D6E',
    '{0192f4a6-7e0c-7c33-b1de-3f1a2b4c5d6e}',
    '0192f4a67e0c7c33b1de3f1a2b4c5d6e',
    '',
  ]) {
    expect(isUuid(text), text).toBe(false)
  }
})

test('nothing is coerced, dropped or filled in', () => {
  const problemsOf = compile(
    Type.Object({ a: Type.Optional(Type.Integer({ default: 1 })) }, { additionalProperties: false }),
  )
  const value = {}
  expect(problemsOf(value)).toEqual([])
  expect(value).toEqual({})
  expect(problemsOf({ a: '1' })).toMatchObject([{ instancePath: '/a', keyword: 'type' }])
  expect(problemsOf({ b: 1 })).toMatchObject([{ keyword: 'additionalProperties' }])
})

test('what was wrong with a value is forgotten, wherever in it that was', async () => {
  const kind = (name: string) =>
    Type.Object({ kind: Type.Literal(name), text: Type.Optional(Type.String()) }, { additionalProperties: false })
  const union = Type.Unsafe({
    type: 'object',
    discriminator: { propertyName: 'kind' },
    oneOf: [kind('a'), kind('b')],
  })
  const problemsOf = compile(Type.Object({ one: union }))
  setFlagsFromString('--expose-gc')
  const collect = runInNewContext('gc') as (options: { execution: 'async' }) => Promise<void>
  const look = (one: object) => {
    const [problem] = problemsOf({ one })
    return problem && { keyword: problem.keyword, object: new WeakRef(problem) }
  }
  for (const [one, keyword] of [
    [{ kind: 'c' }, 'discriminator'],
    [{ kind: 'a', 4000: 1 }, 'additionalProperties'],
  ] as const) {
    const seen = look(one)
    expect(seen?.keyword).toBe(keyword)
    await expect
      .poll(async () => (await collect({ execution: 'async' }), seen?.object.deref()), { timeout: 20_000 })
      .toBeUndefined()
  }
})
