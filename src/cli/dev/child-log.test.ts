import { stripVTControlCharacters } from 'node:util'
import { expect, test } from 'vitest'
import { renderLogLine } from './child-log.ts'

const render = (process: string, entry: object) => {
  const line = renderLogLine(process, JSON.stringify(entry))
  return line === undefined ? undefined : stripVTControlCharacters(line)
}

test('a request is one line, and the calls that it makes to the vault are none', () => {
  const request = { level: 'info', message: 'request', operation: 'listBuyers', status: 200, duration_ms: 1.25 }
  expect(render('api', { ...request, method: 'GET' })).toBe('GET listBuyers 200 1.3 ms')
  expect(render('vault', { ...request, operation: 'storeCard' })).toBeUndefined()
})

test('whatever is serious is shown, and so is what is no log line', () => {
  const failure = { level: 'warn', message: 'a call could not be served', error: { message: 'too late' } }
  expect(render('vault', failure)).toBe('warn vault: a call could not be served (too late)')
  expect(renderLogLine('vault', 'Killed')).toBe('vault: Killed')
})
