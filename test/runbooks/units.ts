import { readFileSync } from 'node:fs'
import { join } from 'node:path'

export interface Unit {
  name: string
  command: string[]
  environment: Record<string, string>
  /** What systemd hands to the process: name → file. */
  credentials: Record<string, string>
  /** Everything that is said, as often as it is said. */
  entries: [key: string, value: string][]
}

const folder = join(import.meta.dirname, '../../deploy/systemd')

const readEntries = (file: string) =>
  readFileSync(join(folder, file), 'utf8')
    .split('\n')
    .filter((line) => !/^[#[]/.test(line) && line.includes('='))
    .map((line) => [line.slice(0, line.indexOf('=')), line.slice(line.indexOf('=') + 1)] as [string, string])

/** A unit of deploy/systemd together with what all of them have. */
export function readUnit(name: string): Unit {
  const entries = [...readEntries('florin-.service.d/common.conf'), ...readEntries(`${name}.service`)]
  const all = (key: string) => entries.filter(([found]) => found === key).map(([, value]) => value)
  const environment = all('Environment').flatMap((line) => line.split(' '))
  return {
    name,
    command: (all('ExecStart')[0] ?? '').split(' '),
    environment: Object.fromEntries(environment.map((pair) => pair.split(/=(.*)/s, 2) as [string, string])),
    credentials: Object.fromEntries(all('LoadCredential').map((pair) => pair.split(':', 2) as [string, string])),
    entries,
  }
}
