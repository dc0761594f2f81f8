import { readFileSync } from 'node:fs'
import { join } from 'node:path'

export const root = join(import.meta.dirname, '../..')

const description = JSON.parse(readFileSync(join(root, 'package.json'), 'utf8')) as {
  version: string
  engines: { node: string }
}

export const version = description.version
/** As in ">=24.15". */
export const nodeRange = description.engines.node
