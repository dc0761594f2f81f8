import { optionalNames, type ProcessName, type Setting, settings } from '../../src/platform/settings.ts'

const all = Object.entries(settings) as [string, Setting][]

/** Settings that are given to a process that does not read them, and those that it needs and nobody gives. */
export function wrongSettings(name: ProcessName, given: readonly string[]): string[] {
  const read = all.filter(([, setting]) => setting.for.includes(name))
  const names = read.flatMap(([, { env, secret }]) => (secret ? [env, `${env}_FILE`] : [env]))
  const missing = read
    .filter(([key, { schema }]) => !('default' in schema) && !(optionalNames as readonly string[]).includes(key))
    .filter(([, { env }]) => !given.includes(env) && !given.includes(`${env}_FILE`))
  return [
    ...given.filter((env) => !names.includes(env)).map((env) => `${name} does not read ${env}`),
    ...missing.map(([, { env }]) => `${name} needs ${env}`),
  ]
}
