import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import type { Block } from './blocks.ts'

export interface Reader {
  folder: string
  path: string
  /** What the reader sets. */
  values: Record<string, string | (() => Promise<string>)>
  /** What happens to the reader. */
  happens?: Record<string, () => Promise<void>>
  note?: (line: string) => void
}

/** Does what a runbook says, in one shell that ends at the first command that fails; what it printed. */
export async function follow(name: string, blocks: readonly Block[], reader: Reader): Promise<string> {
  const { folder, path, values, happens = {}, note = () => undefined } = reader
  const inherited = Object.entries(process.env).filter(([variable]) => !/^(DATABASE|FLORIN|PG)/.test(variable))
  const shell = spawn('bash', ['-euo', 'pipefail'], {
    cwd: folder,
    env: { ...Object.fromEntries(inherited), PATH: path, LC_ALL: 'C' },
    stdio: ['pipe', 'pipe', 'pipe'],
  })
  let output = ''
  const ended = once(shell, 'close').then(() => true)
  const listeners = new Set<() => void>()
  for (const stream of [shell.stdout, shell.stderr]) {
    stream.on('data', (chunk: Buffer) => {
      output += chunk.toString()
      for (const listener of listeners) listener()
    })
  }
  const says = (text: string) =>
    new Promise<boolean>((resolve) => {
      const listener = () => {
        if (output.includes(text)) resolve(true)
      }
      listeners.add(listener)
      listener()
    })
  let number = 0
  for (const block of blocks) {
    number += 1
    if (block.kind === 'happens') {
      note(`${name}: ${block.what}`)
      const happening = happens[block.what]
      if (!happening) throw new Error(`${name}: nobody knows how "${block.what}" happens`)
      await happening()
      continue
    }
    const text = block.kind === 'run' ? block.text : await settings(name, block.names, values)
    const file = join(folder, `block-${number}.sh`)
    writeFileSync(file, text)
    const marker = `-- block ${number} of ${name} is done --`
    // From a file: a command that reads its input must not read what comes next.
    shell.stdin.write(`. '${file}' </dev/null\necho '${marker}'\n`)
    await Promise.race([says(marker), ended])
    if (!output.includes(marker)) throw new Error(`${name}: this failed:\n${text}\n${output}`)
    if (block.kind === 'run') note(`${name}: line ${block.line} is done`)
  }
  shell.stdin.end()
  await ended
  return output.replaceAll(/^-- block .*\n/gm, '')
}

async function settings(name: string, names: readonly string[], values: Reader['values']): Promise<string> {
  const lines = []
  for (const key of names) {
    const value = values[key]
    if (value === undefined) throw new Error(`${name}: what is ${key} here?`)
    lines.push(`export ${key}='${typeof value === 'string' ? value : await value()}'`)
  }
  return `${lines.join('\n')}\n`
}
