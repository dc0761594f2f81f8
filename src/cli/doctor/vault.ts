import { existsSync, statSync } from 'node:fs'
import { ConfigError } from '../../platform/config.ts'
import { connectVaultKeys } from '../../vault/client.ts'
import { findRunningDev } from '../dev-folder.ts'
import { findVault, isVaultSet } from '../vault-url.ts'
import type { Settings } from './configuration.ts'
import { type Finding, ok, problem, skipped, warning } from './finding.ts'

/** From here on the vault warns too; at four times as many a key is worn out. */
const manyEncryptions = 2 ** 30

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
      if ((active?.encryptions ?? 0) > manyEncryptions) return wornOut(active?.version ?? 0)
      return ok('vault', `${options.url}, data key version ${active?.version}`)
    } finally {
      await keys.close()
    }
  } catch (error) {
    if (!(error instanceof Error)) throw error
    return problem('vault', {
      message: error instanceof ConfigError ? error.problems.join('; ') : error.message,
      why: 'Cards cannot be stored or paid with: such requests are answered with 504.',
      fix: 'Start it ("systemctl start florin-vault"), or correct FLORIN_VAULT_URL. Its log tells why it does not answer.',
    })
  }
}

const wornOut = (version: number) =>
  warning('vault', {
    message: `data key version ${version} has done more than 2^30 encryptions`,
    why: 'At 2^32 a key is worn out: two cards could be sealed with the same random bytes.',
    fix: 'Run: florin vault keys rotate && florin vault keys rewrap',
  })

/** The key that wraps all others, where this machine has it as a file. */
export function checkKeyFile({ keyProvider, keyFile }: Settings): Finding[] {
  if (keyProvider !== 'file') return []
  const fix = 'Set FLORIN_KEY_FILE to the file with the key, readable by the vault alone: chmod 400 FILE.'
  const why = 'Without the key no stored card can be opened; whoever reads it and the database has all cards.'
  if (keyFile === undefined) return [problem('key file', { message: 'FLORIN_KEY_FILE is not set', why, fix })]
  const found = statSync(keyFile, { throwIfNoEntry: false })
  if (!found) return [problem('key file', { message: `${keyFile} is not there`, why, fix })]
  if ((found.mode & 0o077) !== 0) {
    return [warning('key file', { message: `${keyFile} can be read by other users of this machine`, why, fix })]
  }
  return [ok('key file', keyFile)]
}
