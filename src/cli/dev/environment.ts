import { loadConfig } from '../../platform/config.ts'
import { type SettingName, settings } from '../../platform/settings.ts'
import type { devFiles } from '../dev-folder.ts'
import { newCursorKeys } from './identity.ts'

export const settingNames = Object.keys(settings) as SettingName[]

export interface ChildSettings {
  port: number
  cursorKeys: string
  databaseUrl: string
  files: ReturnType<typeof devFiles>
  ephemeral: boolean
}

/** Our own environment, so that every setting can be tried out, with what `florin dev` decides itself. */
export function childEnvironment({
  port,
  cursorKeys,
  databaseUrl,
  files,
  ephemeral,
}: ChildSettings): NodeJS.ProcessEnv {
  const environment: NodeJS.ProcessEnv = {
    FLORIN_SHUTDOWN_TIMEOUT_MS: '5000',
    ...(process.env['FLORIN_ENVIRONMENT'] !== 'production' && { FLORIN_WEBHOOK_LOOPBACK: 'true' }),
    ...process.env,
  }
  for (const name of ['DATABASE_URL_FILE', 'DATABASE_DIRECT_URL', 'DATABASE_DIRECT_URL_FILE']) delete environment[name]
  return {
    ...environment,
    ...(hasCursorKeys() ? {} : { FLORIN_CURSOR_KEYS: cursorKeys }),
    DATABASE_URL: databaseUrl,
    FLORIN_PORT: String(port),
    FLORIN_KEY_FILE: files.vaultKey,
    FLORIN_VAULT_LISTEN: `unix:${files.vaultSocket}`,
    FLORIN_VAULT_URL: `unix:${files.vaultSocket}`,
    // The processes tell by their logs that they are ready.
    FLORIN_LOG_LEVEL: environment['FLORIN_LOG_LEVEL'] === 'debug' ? 'debug' : 'info',
    ...(ephemeral ? { DEV_TEMPORARY_FOLDER: files.folder } : { NODE_COMPILE_CACHE: files.codeCache }),
  }
}

/** Mistakes in the settings are told before anything is started. */
export function checkDevConfig(): void {
  const environment = {
    ...process.env,
    ...(process.env['DATABASE_URL_FILE'] === undefined && {
      DATABASE_URL: process.env['DATABASE_URL'] ?? 'postgresql://localhost',
    }),
    ...(hasCursorKeys() ? {} : { FLORIN_CURSOR_KEYS: newCursorKeys() }),
  }
  loadConfig('api', settingNames, environment)
  loadConfig('worker', settingNames, environment)
  loadConfig('vault', settingNames, environment)
}

const hasCursorKeys = () =>
  process.env['FLORIN_CURSOR_KEYS'] !== undefined || process.env['FLORIN_CURSOR_KEYS_FILE'] !== undefined
