import { type Config, ConfigError, loadConfig } from '../../platform/config.ts'
import type { ProcessName, SettingName } from '../../platform/settings.ts'
import { configuredDatabaseUrl, isDatabaseSet } from '../database-url.ts'
import { checkDevConfig, settingNames } from '../dev/environment.ts'
import { type Finding, ok, problem, warning } from './finding.ts'

export type Settings = Partial<Config<SettingName>>

/** Of the process whose role is in DATABASE_URL; of `florin dev` when that is an administrator or not set. */
export function checkConfiguration(): { settings: Settings; findings: Finding[] } {
  try {
    const process = processInDatabaseUrl()
    if (!process) {
      checkDevConfig()
      return { settings: {}, findings: [ok('configuration', 'valid for "florin dev"')] }
    }
    const settings: Settings = loadConfig(process, settingNames)
    return { settings, findings: [ok('configuration', `valid for the ${process} process`), ...checkUse(settings)] }
  } catch (error) {
    if (!(error instanceof ConfigError)) throw error
    const finding = problem('configuration', {
      message: error.problems.join('; '),
      why: 'The process does not start with it.',
      fix: 'Correct it in the environment; docs/configuration.md has every setting.',
    })
    return { settings: {}, findings: [finding] }
  }
}

function processInDatabaseUrl(): ProcessName | undefined {
  const user = isDatabaseSet() ? URL.parse(configuredDatabaseUrl())?.username : undefined
  return (['api', 'worker', 'vault', 'migrate'] as const).find((name) => user === `florin_${name}`)
}

/** Settings that are valid each for itself and wrong together. */
function checkUse(settings: Settings): Finding[] {
  // Only the api knows how it is reached.
  if (settings.cursorKeys === undefined) return []
  const url = settings.publicUrl === undefined ? undefined : new URL(settings.publicUrl)
  const isLocal = url === undefined || ['127.0.0.1', 'localhost', '[::1]'].includes(url.hostname)
  if (settings.environment === 'sandbox') {
    if (isLocal) return [ok('environment', 'sandbox')]
    return [
      warning('environment', {
        message: `a sandbox, reached at ${settings.publicUrl}`,
        why: 'No payment in it is real, and its clock can be moved.',
        fix: 'For real payments set FLORIN_ENVIRONMENT=production, with a database of its own. As a sandbox it is right.',
      }),
    ]
  }
  if (isLocal) {
    return [
      problem('environment', {
        message: `production, and FLORIN_PUBLIC_URL is ${settings.publicUrl ?? 'not set'}`,
        why: 'Buyers are sent to that address to approve payments, and providers report to it.',
        fix: 'Set FLORIN_PUBLIC_URL to the address that the world uses, such as https://payments.example.com.',
      }),
    ]
  }
  if (url?.protocol !== 'https:') {
    return [
      problem('environment', {
        message: `production at ${settings.publicUrl}, without TLS`,
        why: 'Tokens and card numbers cross the network readable by anybody.',
        fix: 'Put a proxy that speaks TLS in front, and set FLORIN_PUBLIC_URL to its https:// address.',
      }),
    ]
  }
  return [ok('environment', `production at ${settings.publicUrl}`)]
}
