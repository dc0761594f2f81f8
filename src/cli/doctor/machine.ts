import { ConfigError, loadConfig } from '../../platform/config.ts'
import type { ProcessName } from '../../platform/settings.ts'
import { configuredDatabaseUrl, isDatabaseSet } from '../database-url.ts'
import { checkDevConfig, settingNames } from '../dev/environment.ts'
import { findRunningDev, isServing } from '../dev-folder.ts'
import { nodeRange } from '../repository.ts'
import { type Finding, ok, problem, skipped } from './finding.ts'

export function checkNode(version = process.versions.node, range = nodeRange): Finding {
  const wanted = range.replace('>=', '')
  return compareVersions(version, wanted) >= 0
    ? ok('node', version)
    : problem('node', `Node.js ${version} is too old`, `Install Node.js ${wanted} or newer.`)
}

function compareVersions(a: string, b: string): number {
  const [left, right] = [a, b].map((text) => text.split('.').map(Number))
  for (const index of [0, 1, 2]) {
    const difference = (left?.[index] ?? 0) - (right?.[index] ?? 0)
    if (difference !== 0) return difference
  }
  return 0
}

/** For the process whose role is in DATABASE_URL; for `florin dev` when it is an administrator or not set. */
export function checkConfiguration(): Finding {
  try {
    const process = processInDatabaseUrl()
    if (process) loadConfig(process, settingNames)
    else checkDevConfig()
    return ok('configuration', `valid for ${process ? `the ${process} process` : '"florin dev"'}`)
  } catch (error) {
    if (!(error instanceof ConfigError)) throw error
    return problem('configuration', error.problems.join('; '), 'See docs/configuration.md.')
  }
}

function processInDatabaseUrl(): ProcessName | undefined {
  const user = isDatabaseSet() ? URL.parse(configuredDatabaseUrl())?.username : undefined
  return (['api', 'worker', 'vault', 'migrate'] as const).find((name) => user === `florin_${name}`)
}

export async function checkServer(): Promise<Finding> {
  const dev = await findRunningDev()
  if (!dev) return skipped('server', 'no "florin dev" runs in this folder')
  return (await isServing(dev))
    ? ok('server', dev.base_url)
    : problem('server', `${dev.base_url} does not answer`, 'Stop "florin dev" and start it again.')
}
