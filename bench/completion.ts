import { execFile } from 'node:child_process'
import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { promisify } from 'node:util'

/** Completion in the shells that are installed here: each is asked the same, as a person asks it. Prints one JSON line. */
const root = join(import.meta.dirname, '..')
const run = promisify(execFile)
const patienceMs = 120_000

const questions: readonly [typed: string, completed: string][] = [
  ['florin transactions refunds create-', 'create-all'],
  ['florin transactions list --status capture_s', 'capture_succeeded'],
  ['florin transactions create --payment-method.num', '--payment-method.number'],
]

const asked: Readonly<Record<string, (script: string) => string>> = {
  bash: (script) => `source ${script}
${questions.map(([typed]) => `COMP_WORDS=(${typed}); COMP_CWORD=$((\${#COMP_WORDS[@]} - 1)); _florin; echo "\${COMPREPLY[@]}"`).join('\n')}`,
  fish: (script) => `source ${script}
${questions.map(([typed]) => `complete -C '${typed}'`).join('\n')}`,
  // It completes at a terminal only, so it gets one; each answer is waited for.
  zsh: (script) => `zmodload zsh/zpty
zpty shell zsh -f -i
zpty -w shell "autoload -Uz compinit && compinit -u -D; source ${script}; bindkey '^I' complete-word; print be''gin"
zpty -r shell line '*begin*'
${questions.map(([typed, completed]) => `zpty -n -w shell $'\\C-u${typed}\\t'; zpty -r shell line '*${completed}*' && print -r -- '${completed}'`).join('\n')}
zpty -d shell`,
}

const folder = await mkdtemp(join(tmpdir(), 'florin-completion-'))
const results: Record<string, 'completes' | 'not installed' | 'does not complete'> = {}
for (const [shell, ask] of Object.entries(asked)) {
  const { stdout: script } = await run(join(root, 'bin/florin'), ['completion', shell])
  const file = join(folder, `florin.${shell}`)
  await writeFile(file, script)
  results[shell] = await run(shell, ['-c', ask(file)], { timeout: patienceMs }).then(
    ({ stdout }) =>
      questions.every(([, completed]) => stdout.includes(completed)) ? 'completes' : 'does not complete',
    (error: NodeJS.ErrnoException) => (error.code === 'ENOENT' ? 'not installed' : 'does not complete'),
  )
}
await rm(folder, { recursive: true, force: true })
process.stdout.write(`${JSON.stringify(results)}\n`)
if (Object.values(results).includes('does not complete')) process.exitCode = 1
