import type { Caller } from '../context.ts'
import { forbidden, notFound } from '../errors.ts'
import { type Accounts, includesAccount } from '../platform/accounts.ts'
import { badHeader } from './errors.ts'
import type { Route } from './route.ts'

/** Existence of merchant accounts, for the header. */
export interface AccountDirectory {
  exists(id: string): Promise<boolean>
  /** `default` if there is one, otherwise the oldest account. */
  fallback(): Promise<string | undefined>
}

/** The accounts a request acts upon: from the header, or the first the caller can reach. */
export async function selectAccounts(
  { merchantAccount }: Pick<Route, 'merchantAccount'>,
  caller: Caller,
  header: { name: string; value: string | undefined },
  directory: AccountDirectory,
): Promise<Accounts> {
  if (merchantAccount === 'none') return caller.reach
  const { name, value } = header
  if (value === undefined || value === '') return [await firstAccount(caller, directory)]
  if (value.length > 255) throw badHeader(name, 'value_error.length', 'Must have at most 255 characters')
  if (value === '*') {
    if (merchantAccount === 'list') return caller.reach
    if (merchantAccount === 'instance') {
      if (caller.reach === 'all') return 'all'
      throw forbidden('The whole instance is for key pairs of all merchant accounts; name one account instead of *')
    }
    throw badHeader(
      name,
      'value_error.unsupported',
      'This operation acts upon one merchant account; name it instead of *',
    )
  }
  if (!includesAccount(caller.reach, value) || !(await directory.exists(value))) throw notFound()
  return [value]
}

async function firstAccount(caller: Caller, directory: AccountDirectory): Promise<string> {
  const first = caller.reach === 'all' ? await directory.fallback() : caller.reach[0]
  // A token may pin an account that is not there.
  if (first === undefined || !(await directory.exists(first))) throw notFound()
  return first
}

/** Accounts are never deleted, so one that was seen needs no second look. */
export function createAccountDirectory(load: {
  exists: (id: string) => Promise<boolean>
  oldest: () => Promise<string | undefined>
}): AccountDirectory {
  const seen = new Set<string>()
  const exists = async (id: string) => {
    if (seen.has(id)) return true
    const found = await load.exists(id)
    if (found) seen.add(id)
    return found
  }
  return { exists, fallback: async () => ((await exists('default')) ? 'default' : load.oldest()) }
}
