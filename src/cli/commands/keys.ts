import { open, rm } from 'node:fs/promises'
import { Command, Option } from 'commander'
import { createAPIKeyPair } from '../../areas/api-key-pairs/operations.ts'
import { merchantAccountExists } from '../../areas/merchant-accounts/operations.ts'
import type { KeyAlgorithm } from '../../platform/key-pair.ts'
import { commandLineContext } from '../command-line-context.ts'
import { findDatabaseUrl, withDatabase } from '../database-url.ts'
import { CommandError, note, say, sayJson } from '../output.ts'
import { findRoleIds } from '../role-ids.ts'

interface CreateOptions {
  name: string
  role: string[]
  account?: string[]
  algorithm: KeyAlgorithm
  out?: string
  json?: boolean
}

export function keysCommand(): Command {
  return new Command('keys')
    .addCommand(createCommand())
    .addHelpText(
      'after',
      '\n"florin api-key-pairs list" shows them, and "florin api-key-pairs update" takes one out of service.\n\nExample:\n  $ florin keys create --name "Shop back end" --out shop.pem',
    )
}

function createCommand(): Command {
  return new Command('create')
    .description('Make a key pair in the database; its private key is shown once and stored nowhere.')
    .requiredOption('--name <name>', 'a name to show to people')
    .addOption(new Option('--role <slug...>', 'what its tokens may do at most').default(['full-access'], 'full-access'))
    .option('--account <id...>', 'merchant accounts it may act upon (default: all)')
    .addOption(new Option('--algorithm <algorithm>', 'kind of key').choices(['ECDSA', 'RSA']).default('ECDSA'))
    .option('--out <file>', 'where to write the private key (default: standard output)')
    .option('--json', 'print one line of JSON')
    .addHelpText(
      'after',
      `
The database is the one in DATABASE_URL (as the role florin_api), else that of the "florin dev" that runs in this folder.

Examples:
  $ florin keys create --name "Shop back end" --out shop.pem
  $ florin keys create --name "Till 7" --role processing --account till-7 --out till-7.pem`,
    )
    .action(createKeyPair)
}

async function createKeyPair({ name, role, account = [], algorithm, out, json }: CreateOptions): Promise<void> {
  if (name.length < 1 || name.length > 200) throw new CommandError('--name must have 1 to 200 characters.')
  const url = await findDatabaseUrl('api')
  const make = () =>
    withDatabase(url, async (db) => {
      const ctx = commandLineContext(db, 'florin keys create')
      for (const id of account) {
        if (!(await merchantAccountExists(db, id))) throw new CommandError(`There is no merchant account "${id}".`)
      }
      return createAPIKeyPair(ctx, {
        display_name: name,
        algorithm,
        role_ids: await findRoleIds(ctx, role),
        merchant_account_ids: [...new Set(account)],
      })
    })
  const { id, thumbprint, private_key } = await (out === undefined ? make() : makeInto(out, make))
  if (json) {
    return sayJson({ id, thumbprint, ...(out === undefined ? { private_key } : { private_key_file: out }) })
  }
  const summary = `key pair ${id}\nthumbprint ${thumbprint}`
  if (out !== undefined) return say(`${summary}\nprivate key in ${out}; there is no other copy`)
  note(summary)
  process.stdout.write(private_key ?? '')
}

/** The file comes first: a key that could not be written would be lost. */
async function makeInto<Pair extends { private_key: string | null }>(
  path: string,
  make: () => Promise<Pair>,
): Promise<Pair> {
  const file = await open(path, 'wx', 0o600).catch((error: NodeJS.ErrnoException) => {
    if (error.code === 'EEXIST')
      throw new CommandError(`${path} exists already and is not overwritten. Name another file.`)
    throw new CommandError(`${path} cannot be written (${error.code}). Name another file.`)
  })
  try {
    const pair = await make()
    await file.writeFile(pair.private_key ?? '')
    return pair
  } catch (error) {
    await rm(path, { force: true })
    throw error
  } finally {
    await file.close()
  }
}
