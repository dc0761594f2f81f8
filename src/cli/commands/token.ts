import { createSigner } from '@florin/sdk/core'
import { Command, InvalidArgumentError, Option } from 'commander'
import { decodeProtectedHeader } from 'jose/decode/protected_header'
import { decodeJwt } from 'jose/jwt/decode'
import { isUuid } from '../../ids.ts'
import { expandScopes } from '../../scopes.ts'
import { CommandError, say, sayJson } from '../output.ts'
import { readPrivateKey } from '../private-key.ts'

interface TokenCommandOptions {
  key?: string
  scope?: string[]
  expires: number
  pin?: string[]
  checkoutSession?: string
  json?: boolean
}

const longestSeconds = 24 * 60 * 60
const issuer = 'florin command line'

export function tokenCommand(): Command {
  return new Command('token')
    .option('--key <file>', 'private key, PEM (default: the one "florin dev" made)')
    .option('--scope <scope>', 'what the token may do; repeat for more (default: *.read and *.write)', addScope)
    .addOption(
      new Option('--expires <duration>', 'how long it is valid: 30s, 15m, 24h')
        .argParser(parseDuration)
        .default(3_600, '1h'),
    )
    .option('--pin <name=value>', 'for a browser: a value that its requests must have; repeat for more', addText)
    .option('--checkout-session <id>', 'payments with the token belong to this checkout session', checkId)
    .option('--json', 'print one line of JSON')
    .addHelpText(
      'after',
      `
Examples:
  $ curl -s http://127.0.0.1:8080/card-scheme-definitions -H "Authorization: Bearer $(npx florin token)"
  $ florin token --key shop.pem --scope transactions.read --scope buyers.read --expires 15m

A token for a browser has the scope embed, and nothing else counts. Values can be pinned: amount, currency, a buyer, metadata and more
(docs/guides/browser-tokens.md); objects and lists as JSON:
  $ florin token --scope embed
  $ florin token --pin amount=1299 --pin currency=EUR --pin buyer_external_identifier=buyer-4711 --pin 'metadata={"order":"4711"}'`,
    )
    .action(printToken)
}

async function printToken({ key, scope, expires, pin, checkoutSession, json }: TokenCommandOptions): Promise<void> {
  // Loaded when it is needed: what checks values takes longer than all the rest.
  const pins = pin && (await import('../pins.ts')).parsePins(pin)
  if (pins && scope && !scope.includes('embed')) {
    throw new CommandError('Values are pinned in tokens for browsers: leave --scope out, or say --scope embed.')
  }
  const scopes = scope ?? (pins && ['embed'])
  const sign = createSigner(await readPrivateKey(key))
  const token = await sign({
    issuer,
    expiresInSeconds: expires,
    ...(scopes && { scopes }),
    ...(pins && { embed: pins }),
    ...(checkoutSession && { checkoutSessionId: checkoutSession }),
  })
  if (!json) return say(token)
  const { exp = 0, scopes: signed } = decodeJwt(token)
  sayJson({
    token,
    thumbprint: decodeProtectedHeader(token).kid,
    scopes: signed,
    expires_at: new Date(exp * 1000).toISOString(),
  })
}

const addText = (text: string, before: string[] = []): string[] => [...before, text]

function addScope(scope: string, before: string[] = []): string[] {
  if (expandScopes([scope]).size === 0) {
    throw new InvalidArgumentError('There is no such scope. Examples: *.read, transactions.read, buyers.write, embed.')
  }
  return [...before, scope]
}

function checkId(text: string): string {
  if (isUuid(text)) return text
  throw new InvalidArgumentError('That is not the id of a checkout session: a UUID in lower case.')
}

function parseDuration(text: string): number {
  const [, amount, unit] = /^(\d{1,6})([smh])$/.exec(text) ?? []
  const seconds = Number(amount) * { s: 1, m: 60, h: 3_600 }[unit as 's' | 'm' | 'h']
  if (!(seconds > 0)) throw new InvalidArgumentError('Write a number and s, m or h: 30s, 15m, 24h.')
  if (seconds > longestSeconds) throw new InvalidArgumentError('A token is valid for at most 24h.')
  return seconds
}
