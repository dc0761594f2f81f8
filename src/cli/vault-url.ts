import { loadConfig } from '../platform/config.ts'
import { type ConnectionOptions, vaultOptions } from '../vault/client.ts'
import { findRunningDev } from './dev-folder.ts'

export const isVaultSet = () => process.env['FLORIN_VAULT_URL'] !== undefined

/** The configured vault, else that of the `florin dev` that runs in this folder, else the one at the usual place. */
export async function findVault(): Promise<ConnectionOptions> {
  // Nothing but these is looked at: mistakes in the settings of the processes are not our business here.
  const environment = Object.fromEntries(
    Object.entries(process.env).filter(([name]) => name.startsWith('FLORIN_VAULT_')),
  )
  const config = loadConfig('api', ['vaultUrl', 'vaultTlsCa', 'vaultTlsCert', 'vaultTlsKey'], environment)
  const dev = isVaultSet() ? undefined : await findRunningDev()
  return vaultOptions(dev ? { ...config, vaultUrl: dev.vault_url } : config)
}
