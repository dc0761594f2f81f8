import { readFileSync } from 'node:fs'
import { type Config, ConfigError } from '../platform/config.ts'
import { parseAddress, type TlsIdentity } from './protocol.ts'

export type TlsConfig = Config<'vaultTlsCa' | 'vaultTlsCert' | 'vaultTlsKey'>

/** The certificates that an address needs: none for a Unix socket. */
export function readTlsIdentity(address: string, config: TlsConfig): TlsIdentity | undefined {
  if (parseAddress(address).kind === 'unix') return undefined
  const problems: string[] = []
  const read = (env: string, path: string | undefined): string => {
    if (path === undefined) problems.push(`${env} is not set: tls:// needs it`)
    else {
      try {
        return readFileSync(path, 'utf8')
      } catch {
        problems.push(`${env} names a file that cannot be read: ${path}`)
      }
    }
    return ''
  }
  const identity = {
    ca: read('FLORIN_VAULT_TLS_CA', config.vaultTlsCa),
    cert: read('FLORIN_VAULT_TLS_CERT', config.vaultTlsCert),
    key: read('FLORIN_VAULT_TLS_KEY', config.vaultTlsKey),
  }
  if (problems.length > 0) throw new ConfigError(problems)
  return identity
}
