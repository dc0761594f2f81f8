import { Command, InvalidArgumentError } from 'commander'
import {
  connectVaultKeys,
  type KeyListing,
  type RewrapProgress,
  VaultError,
  type VaultKeys,
  VaultUnavailableError,
} from '../../vault/client.ts'
import { CommandError, note, say, sayJson } from '../output.ts'
import { findVault } from '../vault-url.ts'

interface OutputOptions {
  json?: boolean
}

export function vaultCommand(): Command {
  return new Command('vault').addCommand(keysCommand()).addHelpText('after', '\nExample:\n  $ florin vault keys list')
}

function keysCommand(): Command {
  return new Command('keys')
    .description('The keys of the vault: list, rotate, rewrap, destroy. The vault does it; this command holds no key.')
    .addCommand(listCommand())
    .addCommand(rotateCommand())
    .addCommand(rewrapCommand())
    .addCommand(destroyCommand())
    .addHelpText(
      'after',
      `
The running vault is reached at FLORIN_VAULT_URL (with FLORIN_VAULT_TLS_CA, _CERT and _KEY for tls://); without that
setting it is the one of the "florin dev" that runs in this folder.
The usual course: rotate, rewrap, and destroy once no backup is needed any more that holds rows of the old key.

Examples:
  $ florin vault keys list
  $ florin vault keys rotate && florin vault keys rewrap`,
    )
}

function listCommand(): Command {
  return new Command('list')
    .description('List the keys: version, state, age, and how many rows are on each.')
    .option('--json', 'print one line of JSON')
    .addHelpText('after', '\nExample:\n  $ florin vault keys list')
    .action(({ json }: OutputOptions) =>
      withVaultKeys(async (keys) => {
        const listed = await keys.list()
        if (json) return sayJson({ keys: listed })
        for (const line of table(listed)) say(line)
      }),
    )
}

function rotateCommand(): Command {
  return new Command('rotate')
    .description('Make a new data key for everything stored from now on; the old one goes on decrypting.')
    .option('--json', 'print one line of JSON')
    .addHelpText('after', '\nExample:\n  $ florin vault keys rotate')
    .action(({ json }: OutputOptions) =>
      withVaultKeys(async (keys) => {
        const { version, before } = await keys.rotate()
        if (json) return sayJson({ version, before })
        say(`data key version ${version} is active; version ${before} only decrypts. Next: florin vault keys rewrap`)
      }),
    )
}

function rewrapCommand(): Command {
  return new Command('rewrap')
    .description('Seal every row anew with the active key, while the service runs.')
    .option('--json', 'print the progress as lines of JSON; the last one says "finished": true')
    .addHelpText(
      'after',
      `
It can be stopped at any time: started again, it goes on with the rows that are left. Cards are stored, read and deleted meanwhile.

Examples:
  $ florin vault keys rewrap
  $ florin vault keys rewrap --json | tail -1`,
    )
    .action(({ json }: OutputOptions) =>
      withVaultKeys(async (keys) => {
        let last: RewrapProgress | undefined
        await keys.rewrap((progress) => {
          last = progress
          if (json) sayJson(progress)
          else if (!progress.finished) showProgress(progress)
        })
        if (!last?.finished) throw new CommandError('The vault ended before it was done. Run the same command again.')
        if (last.failed > 0) process.exitCode = 1
        if (!json) say(summary(last))
      }),
    )
}

function destroyCommand(): Command {
  return new Command('destroy')
    .description('Erase a retired data key for ever. Refused while a single row is on it.')
    .argument('<version>', 'version of the data key', parseVersion)
    .option('--json', 'print one line of JSON')
    .addHelpText(
      'after',
      `
Backups that were made before the rewrap cannot be read any more afterwards: destroy a key when they are gone.

Example:
  $ florin vault keys destroy 1`,
    )
    .action((version: number, { json }: OutputOptions) =>
      withVaultKeys(async (keys) => {
        await keys.destroy(version)
        if (json) return sayJson({ version, state: 'destroyed' })
        say(`data key version ${version} is destroyed`)
      }),
    )
}

async function withVaultKeys(work: (keys: VaultKeys) => Promise<void>): Promise<void> {
  const options = await findVault()
  const keys = connectVaultKeys(options)
  try {
    await work(keys)
  } catch (error) {
    throw explainVaultError(error, options.url)
  } finally {
    await keys.close()
  }
}

/** The same error, or one that says what to do where that is known. */
export function explainVaultError(error: unknown, url: string): unknown {
  if (error instanceof VaultUnavailableError) {
    const advice = 'Start it, or correct FLORIN_VAULT_URL.'
    return new CommandError(`The vault at ${url} did not do it: ${error.message}. ${advice}`, { cause: error })
  }
  return error instanceof VaultError
    ? new CommandError(`The vault refuses: ${error.message}.`, { cause: error })
    : error
}

function table(keys: readonly KeyListing[]): string[] {
  const heading = ['KEY', 'STATE', 'CREATED', 'ROWS', 'ENCRYPTIONS', 'WRAPPED BY']
  const lines = keys.map(({ purpose, version, state, created_at, rows, rows_exact, encryptions, provider }) => [
    `${purpose} ${version}`,
    state,
    created_at.slice(0, 16).replace('T', ' '),
    rows === null ? '-' : `${rows_exact ? '' : 'about '}${rows}`,
    purpose === 'data' ? `about ${encryptions}` : '-',
    provider,
  ])
  const widths = heading.map((_, column) => Math.max(...[heading, ...lines].map((line) => line[column]?.length ?? 0)))
  return [heading, ...lines].map((line) =>
    line
      .map((cell, column) => cell.padEnd(widths[column] ?? 0))
      .join('  ')
      .trimEnd(),
  )
}

function showProgress({ done, left, rows_per_second }: RewrapProgress): void {
  const line = `${done} rows done, ${left} left, ${rows_per_second} a second`
  if (process.stderr.isTTY) process.stderr.write(`\r${line}\u001B[K`)
  else note(line)
}

function summary({ done, failed, retired }: RewrapProgress): string {
  const moved = `${done} row(s) sealed anew.`
  const kept = failed > 0 ? ` ${failed} row(s) do not open and stay as they are; the log of the vault names them.` : ''
  const next = retired.map((version) => ` Version ${version} is retired: florin vault keys destroy ${version}`).join('')
  return `${process.stderr.isTTY ? '\n' : ''}${moved}${kept}${next}`
}

function parseVersion(text: string): number {
  const version = Number(text)
  if (!/^\d{1,9}$/.test(text) || version < 1) throw new InvalidArgumentError('Must be a number from 1 on.')
  return version
}
