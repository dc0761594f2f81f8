import { readFileSync } from 'node:fs'
import type { TSchema } from 'typebox'
import { Secret } from './secret.ts'
import {
  optionalNames,
  type ProcessName,
  type Setting,
  type SettingName,
  type SettingValue,
  settings,
} from './settings.ts'
import { compile } from './validator.ts'

export type Config<Name extends SettingName> = Readonly<{ [Key in Name]: SettingValue<Key> }>

/** Everything that is wrong, in one message: a start fails once, not once per mistake. */
export class ConfigError extends Error {
  override name = 'ConfigError'
  readonly problems: readonly string[]

  constructor(problems: readonly string[]) {
    super(
      `The configuration has ${problems.length} problem(s):\n${problems.map((problem) => `  - ${problem}`).join('\n')}`,
    )
    this.problems = problems
  }
}

type Environment = Readonly<Record<string, string | undefined>>

const optional: ReadonlySet<string> = new Set(optionalNames)
const entries = Object.entries(settings) as [SettingName, Setting][]

/** The settings of one process, from its environment. */
export function loadConfig<Name extends SettingName>(
  process: ProcessName,
  names: readonly Name[],
  environment: Environment = globalThis.process.env,
): Config<Name> {
  const problems = [...unknownSettings(environment)]
  const config: Record<string, unknown> = {}
  for (const [name, setting] of entries) {
    if (!setting.for.includes(process) || !(names as readonly string[]).includes(name)) continue
    const found = readSetting(setting, environment)
    if ('problem' in found) problems.push(found.problem)
    else if (found.text === undefined) {
      if ('default' in setting.schema) config[name] = setting.schema.default
      else if (!optional.has(name)) problems.push(`${setting.env} is not set: ${describe(setting.schema)}`)
    } else {
      const value = parse(setting.schema, found.text)
      const problem = check(setting.schema, value)
      if (problem) {
        const shown = setting.secret ? '' : `, but is "${found.text}"`
        problems.push(`${setting.env} ${problem}${shown}: ${describe(setting.schema)}`)
      }
      config[name] = setting.secret ? new Secret(found.text) : value
    }
  }
  if (config['environment'] === 'production' && config['webhookLoopback'] === true) {
    problems.push(`${settings.webhookLoopback.env} must be false in production: webhooks would reach this machine`)
  }
  if (problems.length > 0) throw new ConfigError(problems)
  return Object.freeze(config) as Config<Name>
}

function* unknownSettings(environment: Environment): Generator<string> {
  const known = new Set(entries.flatMap(([, { env, secret }]) => (secret ? [env, `${env}_FILE`] : [env])))
  for (const name of Object.keys(environment)) {
    if (name.startsWith('FLORIN_') && !known.has(name)) yield `${name} is not a setting; see docs/configuration.md`
  }
}

function readSetting(
  { env, secret }: Setting,
  environment: Environment,
): { text: string | undefined } | { problem: string } {
  const text = environment[env]
  const file = secret ? environment[`${env}_FILE`] : undefined
  if (file === undefined) return { text }
  if (text !== undefined) return { problem: `${env} and ${env}_FILE are both set; keep one` }
  try {
    return { text: readFileSync(file, 'utf8').trim() }
  } catch {
    return { problem: `${env}_FILE names a file that cannot be read: ${file}` }
  }
}

function parse(schema: TSchema, text: string): unknown {
  const { type } = schema as { type?: string }
  if (type === 'boolean' && ['true', 'false'].includes(text)) return text === 'true'
  return type === 'integer' && /^-?\d{1,15}$/.test(text) ? Number(text) : text
}

function check(schema: TSchema, value: unknown): string | undefined {
  const problems = compile(schema)(value)
  if (problems.length === 0) return undefined
  const { enum: allowed } = schema as { enum?: readonly string[] }
  if (allowed) return `must be one of ${allowed.join(', ')}`
  return problems.map(({ message }) => message).join(' and ')
}

const describe = (schema: TSchema) => (schema as { description?: string }).description ?? ''
