import { styleText } from 'node:util'
import { createSigner } from '@florin/sdk/core'
import { Command, InvalidArgumentError, Option } from 'commander'
import { withoutPassword } from '../database-url.ts'
import { isSerious, parseLogLine, renderLogLine } from '../dev/child-log.ts'
import { merchantAccountId } from '../dev/identity.ts'
import { type RunningFlorin, startFlorin } from '../dev/start.ts'
import { stopRequest } from '../dev/stop-request.ts'
import { shortPath } from '../dev-folder.ts'
import { note, reportError, say, sayJson } from '../output.ts'
import { version } from '../repository.ts'

interface DevCommandOptions {
  port: number
  ephemeral?: boolean
  json?: boolean
}

const tokenSeconds = 24 * 60 * 60
const testPayment = JSON.stringify({
  amount: 1299,
  currency: 'EUR',
  intent: 'capture',
  payment_method: { method: 'card', number: '4111111111111111', expiration_date: '12/30', security_code: '123' },
})

export function devCommand(): Command {
  return new Command('dev')
    .addOption(
      new Option('--port <port>', 'port of the API; 0 takes a free one')
        .env('FLORIN_PORT')
        .argParser(parsePort)
        .default(8080),
    )
    .option('--ephemeral', 'keep nothing: a new database, removed at the end')
    .option('--json', 'print one line of JSON when ready, and nothing else')
    .addHelpText(
      'after',
      `
PostgreSQL is brought along and keeps its data in .florin/ of the repository. With DATABASE_URL set, that server is
used instead; its user must be able to create roles.

Examples:
  $ florin dev
  $ florin dev --json --port 0 --ephemeral        a Florin of its own for a test suite`,
    )
    .action(runDev)
}

async function runDev({ port, ephemeral = false, json = false }: DevCommandOptions): Promise<void> {
  const signal = stopRequest()
  const undos: (() => Promise<void>)[] = []
  if (!json) say(`Starting Florin ${version}`)
  try {
    const florin = await startFlorin({
      port,
      ephemeral,
      signal,
      atEnd: (undo) => undos.unshift(undo),
      onProgress: (line) => !json && say(`  ${styleText('green', '✓')} ${line}`),
      onLine: json ? showSerious : showReadable,
    })
    await announce(florin, { json, ephemeral })
    const stopped = new Promise<void>((resolve) => signal.addEventListener('abort', () => resolve(), { once: true }))
    await Promise.race([stopped, florin.lost])
  } catch (error) {
    if (!signal.aborted) reportError(error, json)
  }
  if (!json && undos.length > 0) say('\nStopping')
  for (const undo of undos) await undo().catch((error: unknown) => reportError(error, json))
}

async function announce(
  { baseUrl, adminUrl, keyPair, privateKeyFile }: RunningFlorin,
  mode: { json: boolean; ephemeral: boolean },
) {
  const expiresAt = new Date(Date.now() + tokenSeconds * 1000)
  const token = await createSigner(keyPair.privateKeyPem)({ expiresInSeconds: tokenSeconds })
  const docsUrl = `${baseUrl}/docs`
  if (mode.json) {
    return sayJson({
      base_url: baseUrl,
      docs_url: docsUrl,
      token,
      token_expires_at: expiresAt.toISOString(),
      private_key_file: privateKeyFile,
      thumbprint: keyPair.thumbprint,
      merchant_account_id: merchantAccountId,
    })
  }
  const another = mode.ephemeral ? `npx florin token --key ${privateKeyFile}` : 'npx florin token'
  // These find it by its folder, which an ephemeral one has not.
  const more = mode.ephemeral
    ? ''
    : '  npx florin demo       fills it with a shop of 5,000 payments\n  npx florin listen     shows events as they happen\n'
  const until = expiresAt.toISOString().slice(0, 16).replace('T', ' ')
  say(`
${styleText('bold', 'Florin is ready.')}

  API             ${styleText('cyan', baseUrl)}
  Guides          ${styleText('cyan', `${docsUrl}/guides`)}
  Reference       ${styleText('cyan', docsUrl)}
  Database        ${withoutPassword(adminUrl)}
  Private key     ${shortPath(privateKeyFile)}

A token for every merchant account (there is one, "${merchantAccountId}"), valid for 24 hours, until ${until} UTC; another: ${another}

${token}

Charge a test card:

curl -s ${baseUrl}/transactions -H "Authorization: Bearer $(${another})" -H "Content-Type: application/json" -d '${testPayment}'

${more}  Ctrl-C                stops everything
`)
}

function showReadable(process: string, line: string): void {
  const readable = renderLogLine(process, line)
  if (readable !== undefined) note(readable)
}

function showSerious(_process: string, line: string): void {
  const entry = parseLogLine(line)
  if (!entry || isSerious(entry)) note(line)
}

function parsePort(text: string): number {
  const port = Number(text)
  if (!/^\d{1,5}$/.test(text) || port > 65_535) throw new InvalidArgumentError('Must be a number from 0 to 65535.')
  return port
}
