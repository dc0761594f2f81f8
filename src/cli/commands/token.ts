import { createPrivateKey, type KeyObject } from 'node:crypto'
import { Command, InvalidArgumentError, Option } from 'commander'
import { decodeJwt, decodeProtectedHeader } from 'jose'
import { expandScopes } from '../../scopes.ts'
import { devFiles, readIfPresent, shortPath } from '../dev-folder.ts'
import { CommandError, say, sayJson } from '../output.ts'
import { signToken } from '../sign-token.ts'

interface TokenCommandOptions {
  key?: string
  scope?: string[]
  expires: number
  json?: boolean
}

const longestSeconds = 24 * 60 * 60

export function tokenCommand(): Command {
  return new Command('token')
    .description('Sign an access token with a private key and print it.')
    .option('--key <file>', 'private key, PEM (default: the one "florin dev" made)')
    .option('--scope <scope>', 'what the token may do; repeat for more (default: *.read and *.write)', addScope)
    .addOption(
      new Option('--expires <duration>', 'how long it is valid: 30s, 15m, 24h')
        .argParser(parseDuration)
        .default(3_600, '1h'),
    )
    .option('--json', 'print one line of JSON')
    .addHelpText(
      'after',
      `
Examples:
  $ curl -s http://127.0.0.1:8080/card-scheme-definitions -H "Authorization: Bearer $(npx florin token)"
  $ florin token --key shop.pem --scope transactions.read --scope buyers.read --expires 15m`,
    )
    .action(printToken)
}

async function printToken({ key, scope, expires, json }: TokenCommandOptions): Promise<void> {
  const privateKeyPem = await readPrivateKey(key)
  const token = await signToken({ privateKeyPem, lifetimeSeconds: expires, ...(scope && { scopes: scope }) })
  if (!json) return say(token)
  const { exp = 0, scopes } = decodeJwt(token)
  sayJson({
    token,
    thumbprint: decodeProtectedHeader(token).kid,
    scopes,
    expires_at: new Date(exp * 1000).toISOString(),
  })
}

async function readPrivateKey(path: string | undefined): Promise<string> {
  const file = path ?? devFiles().privateKey
  const pem = await readIfPresent(file)
  if (pem === undefined) {
    throw new CommandError(
      path === undefined
        ? `There is no key here yet (${shortPath(file)}). Start "florin dev" once, or name a key with --key FILE; "florin keys create" makes one.`
        : `There is no file ${path}. "florin keys create --name NAME --out ${path}" makes a key pair.`,
    )
  }
  let key: KeyObject
  try {
    key = createPrivateKey(pem)
  } catch {
    throw new CommandError(`${shortPath(file)} is not a private key in PEM without a passphrase ("BEGIN PRIVATE KEY").`)
  }
  if (key.asymmetricKeyType !== 'rsa' && key.asymmetricKeyDetails?.namedCurve !== 'secp521r1') {
    throw new CommandError(`${shortPath(file)} is neither an RSA key nor an EC key of the curve P-521.`)
  }
  return pem
}

function addScope(scope: string, before: string[] = []): string[] {
  if (expandScopes([scope]).size === 0) {
    throw new InvalidArgumentError('There is no such scope. Examples: *.read, transactions.read, buyers.write, embed.')
  }
  return [...before, scope]
}

function parseDuration(text: string): number {
  const [, amount, unit] = /^(\d{1,6})([smh])$/.exec(text) ?? []
  const seconds = Number(amount) * { s: 1, m: 60, h: 3_600 }[unit as 's' | 'm' | 'h']
  if (!(seconds > 0)) throw new InvalidArgumentError('Write a number and s, m or h: 30s, 15m, 24h.')
  if (seconds > longestSeconds) throw new InvalidArgumentError('A token is valid for at most 24h.')
  return seconds
}
