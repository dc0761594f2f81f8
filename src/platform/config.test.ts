import { mkdtempSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { inspect } from 'node:util'
import { expect, test } from 'vitest'
import { ConfigError, loadConfig } from './config.ts'

const key = Buffer.alloc(32, 7).toString('base64')
const names = ['databaseUrl', 'port', 'cursorKeys', 'environment', 'publicUrl', 'headerPrefix'] as const
const load = (environment: Record<string, string>) => loadConfig('api', names, environment)

function problemsOf(environment: Record<string, string>): readonly string[] {
  try {
    load(environment)
  } catch (error) {
    if (error instanceof ConfigError) return error.problems
  }
  return []
}

test('settings have their types and defaults', () => {
  const config = load({ DATABASE_URL: 'postgresql://u@h/d', FLORIN_CURSOR_KEYS: key, FLORIN_PORT: '9000' })
  expect(config).toMatchObject({ port: 9000, environment: 'sandbox', headerPrefix: 'X-Service-' })
  expect(config.databaseUrl.reveal()).toBe('postgresql://u@h/d')
  expect(config.publicUrl).toBeUndefined()
})

test('every problem is reported at once', () => {
  const problems = problemsOf({
    FLORIN_PORT: '70000',
    FLORIN_ENVIRONMENT: 'staging',
    FLORIN_PROT: '1',
    FLORIN_CURSOR_KEYS: 'short',
    FLORIN_PUBLIC_URL: 'https://host/path',
  })
  expect(problems).toHaveLength(6)
  expect(problems.join('\n')).toMatch(/FLORIN_PROT is not a setting/)
  expect(problems.join('\n')).toMatch(/DATABASE_URL is not set/)
  expect(problems.join('\n')).toMatch(/FLORIN_ENVIRONMENT must be one of sandbox, production/)
  expect(problems.join('\n')).toMatch(
    /FLORIN_PUBLIC_URL must match .* "https:\/\/host\/path": The base URL .* without a path/,
  )
})

test('webhooks to this machine are refused in production', () => {
  const start = (environment: Record<string, string>) =>
    loadConfig('api', ['environment', 'webhookLoopback'], environment)
  expect(start({}).webhookLoopback).toBe(false)
  expect(start({ FLORIN_WEBHOOK_LOOPBACK: 'true' }).webhookLoopback).toBe(true)
  expect(start({ FLORIN_WEBHOOK_LOOPBACK: 'false', FLORIN_ENVIRONMENT: 'production' }).webhookLoopback).toBe(false)
  expect(() => start({ FLORIN_WEBHOOK_LOOPBACK: 'true', FLORIN_ENVIRONMENT: 'production' })).toThrow(
    /FLORIN_WEBHOOK_LOOPBACK must be false in production/,
  )
  expect(() => start({ FLORIN_WEBHOOK_LOOPBACK: 'yes' })).toThrow(/FLORIN_WEBHOOK_LOOPBACK must be boolean/)
})

test('a secret is never part of a problem, a print or a JSON', () => {
  const secret = 'mysql://root:hunter2@host/db'
  expect(problemsOf({ DATABASE_URL: secret, FLORIN_CURSOR_KEYS: 'hunter2' }).join()).not.toContain('hunter2')
  const config = load({ DATABASE_URL: 'postgresql://u:hunter2@h/d', FLORIN_CURSOR_KEYS: key })
  expect(
    [inspect(config, { depth: 5, showHidden: true }), JSON.stringify(config), String(config.databaseUrl)].join(),
  ).not.toContain('hunter2')
})

test('a secret can come from a file, but not from both', () => {
  const file = join(mkdtempSync(join(tmpdir(), 'config-')), 'url')
  writeFileSync(file, 'postgresql://file@h/d\n')
  const config = load({ DATABASE_URL_FILE: file, FLORIN_CURSOR_KEYS: key })
  expect(config.databaseUrl.reveal()).toBe('postgresql://file@h/d')
  expect(
    problemsOf({ DATABASE_URL_FILE: file, DATABASE_URL: 'postgresql://u@h/d', FLORIN_CURSOR_KEYS: key }),
  ).toHaveLength(1)
  expect(problemsOf({ DATABASE_URL_FILE: '/nowhere/at/all', FLORIN_CURSOR_KEYS: key })).toHaveLength(1)
})

test('a number must be spelled as one', () => {
  for (const port of ['80 ', '8e3', '0x50', '80.0', '']) {
    expect(
      problemsOf({ DATABASE_URL: 'postgresql://u@h/d', FLORIN_CURSOR_KEYS: key, FLORIN_PORT: port }),
      port,
    ).toHaveLength(1)
  }
})
