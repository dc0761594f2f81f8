import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { parse } from 'yaml'

export interface Service {
  command?: string[]
  environment?: Record<string, string | null>
  secrets?: string[]
  volumes?: string[]
  ports?: string[]
  networks?: string[]
  profiles?: string[]
  read_only?: boolean
  cap_drop?: string[]
  security_opt?: string[]
  logging?: { options: Record<string, string> }
  healthcheck?: { test: string[] }
  depends_on?: Record<string, { condition: string }>
}

export interface Compose {
  services: Record<string, Service>
  networks: Record<string, { internal?: boolean }>
  volumes: Record<string, unknown>
  secrets: Record<string, { file: string }>
}

const file = join(import.meta.dirname, '../../deploy/compose.yaml')

/** deploy/compose.yaml as it is with nothing but the defaults in its environment. */
export function readCompose(environment: Record<string, string> = {}): Compose {
  const text = readFileSync(file, 'utf8').replace(
    /\$\{(\w+):-([^}]*)\}/g,
    (_, name: string, otherwise: string) => environment[name] ?? otherwise,
  )
  return parse(text, { merge: true }) as Compose
}

/** A name without a value is passed on where it has one. */
export function environmentOf(service: Service, outside: Record<string, string> = {}): Record<string, string> {
  const pairs = Object.entries(service.environment ?? {}).map(
    ([name, value]) => [name, value ?? outside[name]] as const,
  )
  return Object.fromEntries(pairs.filter((pair): pair is readonly [string, string] => pair[1] !== undefined))
}
