import { readFileSync } from 'node:fs'
import { join } from 'node:path'

export type Block =
  /** What the reader sets; the names of it. */
  | { kind: 'yours'; names: string[] }
  | { kind: 'run'; text: string; line: number }
  /** Something that happens to the reader, in words. */
  | { kind: 'happens'; what: string }

const folder = join(import.meta.dirname, '../../docs/runbooks')

export const readRunbook = (name: string) => readFileSync(join(folder, name), 'utf8')

/** What of a runbook is executed, in order. */
export function blocksOf(text: string): Block[] {
  const blocks: Block[] = []
  const pattern = /^ *```sh\n(.*?)^ *```$|^<!-- (.*) -->$/gms
  for (const match of text.matchAll(pattern)) {
    const [, code, what] = match
    if (what !== undefined) blocks.push({ kind: 'happens', what })
    else if (code?.startsWith('# Yours:')) blocks.push({ kind: 'yours', names: assigned(code) })
    else if (code && !code.startsWith('# Not run by the proof.')) {
      blocks.push({ kind: 'run', text: code, line: text.slice(0, match.index).split('\n').length })
    }
  }
  return blocks
}

const assigned = (code: string) => [...code.matchAll(/^(?:export )?(\w+)=/gm)].map(([, name = '']) => name)
