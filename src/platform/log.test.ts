import fc from 'fast-check'
import { expect, test } from 'vitest'
import { createLog, type LogFields, scrub } from './log.ts'

function capture(act: (log: ReturnType<typeof createLog>) => void): {
  lines: Record<string, unknown>[]
  scrubbed: number
} {
  const lines: string[] = []
  let scrubbed = 0
  act(createLog({ level: 'debug', process: 'test', write: (line) => lines.push(line), onScrub: () => (scrubbed += 1) }))
  return { lines: lines.map((line) => JSON.parse(line) as Record<string, unknown>), scrubbed }
}

/** Digits with a Luhn check digit: made up, of no issuer. */
const cardNumber = fc.array(fc.integer({ min: 0, max: 9 }), { minLength: 12, maxLength: 18 }).map((digits) => {
  const sum = digits
    .toReversed()
    .reduce((total, digit, index) => total + (index % 2 === 0 ? (digit * 2 > 9 ? digit * 2 - 9 : digit * 2) : digit), 0)
  return digits.join('') + ((10 - (sum % 10)) % 10)
})

test('a line holds only the fields of the list', () => {
  const sneaky = { status: 200, body: { number: '1' }, headers: { authorization: 'x' } } as LogFields
  const { lines } = capture((log) => log.info('hello', sneaky))
  expect(lines).toEqual([{ level: 'info', time: expect.any(String), process: 'test', status: 200, message: 'hello' }])
})

test("an error shows its kind and stack, not the row or the values in a driver's error", () => {
  const error = Object.assign(new Error('duplicate key'), {
    code: '23505',
    detail: 'Key (number)=(42) exists',
    where: 'x=42',
  })
  const { lines } = capture((log) => log.error('failed', { error }))
  expect(JSON.stringify(lines)).toContain('23505')
  expect(JSON.stringify(lines)).not.toContain('42)')
  expect(JSON.stringify(lines)).not.toContain('x=42')
})

test('no card number survives in a line, wherever it hides', () => {
  fc.assert(
    fc.property(
      cardNumber,
      fc.constantFrom('', ' ', '-'),
      fc.string(),
      fc.string(),
      (number, separator, before, after) => {
        const written = number.match(/.{1,4}/g)?.join(separator) ?? ''
        const text = `${before.replaceAll(/\d/g, 'x')} ${written} ${after.replaceAll(/\d/g, 'x')}`
        expect(scrub(text)).not.toContain(written)
        expect(
          capture((log) => log.info(text, { reason: written }))
            .lines.map((line) => JSON.stringify(line))
            .join(),
        ).not.toContain(written)
      },
    ),
    { numRuns: 1_000 },
  )
})

test('a masked line is counted, because something above let it through', () => {
  expect(capture((log) => log.info('4111 1111 1111 1111')).scrubbed).toBe(1)
  expect(capture((log) => log.info('order 1234')).scrubbed).toBe(0)
})

test('ids and times stay readable', () => {
  fc.assert(
    fc.property(fc.uuid(), fc.date({ noInvalidDate: true }), (id, date) => {
      const line = `{"request_id":"${id}","time":"${date.toISOString()}"}`
      expect(scrub(line)).toBe(line)
    }),
    { numRuns: 20_000 },
  )
})

test('a card number inside a longer run of digits is masked with it', () => {
  expect(scrub('9999994111111111111111000000000')).toBe('[number]')
})

test('an audit line is written whatever the level, with the fields of the list only', () => {
  const lines: string[] = []
  const log = createLog({ level: 'silent', process: 'test', write: (line) => lines.push(line) })
  log.error('not shown')
  log.audit('card read', { operation: 'readCard', body: 'x' } as LogFields)
  expect(lines.map((line) => JSON.parse(line) as unknown)).toEqual([
    {
      level: 'info',
      time: expect.any(String),
      process: 'test',
      audit: true,
      operation: 'readCard',
      message: 'card read',
    },
  ])
})
