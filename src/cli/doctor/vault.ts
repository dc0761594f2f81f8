import { existsSync } from 'node:fs'
import { ConfigError } from '../../platform/config.ts'
import { connectVaultKeys } from '../../vault/client.ts'
import { findRunningDev } from '../dev-folder.ts'
import { findVault, isVaultSet } from '../vault-url.ts'
import { type Finding, ok, problem, skipped } from './finding.ts'

/** Listing the keys needs the vault, its keys and its database: whoever gets the list can store cards. */
export async function checkVault(): Promise<Finding> {
  try {
    const options = await findVault()
    const isExpected = isVaultSet() || (await findRunningDev()) !== undefined
    // A socket at the usual place is looked at too; that none is there is no problem on a machine without a vault.
    if (!isExpected && !existsSync(options.url.replace('unix:', ''))) return skipped('vault', 'none is known here')
    const keys = connectVaultKeys({ ...options, timeoutMs: 3_000 })
    try {
      const active = (await keys.list()).find(({ purpose, state }) => purpose === 'data' && state === 'active')
      return ok('vault', `${options.url}, data key version ${active?.version}`)
    } finally {
      await keys.close()
    }
  } catch (error) {
    if (!(error instanceof Error)) throw error
    return problem(
      'vault',
      error instanceof ConfigError ? error.problems.join('; ') : error.message,
      'Start it, or correct FLORIN_VAULT_URL. Its log tells why it does not answer.',
    )
  }
}
