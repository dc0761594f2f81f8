import { type ChildProcess, execFileSync, spawn } from 'node:child_process'
import { mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { delimiter, join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { parseArgs } from 'node:util'
import { type Block, blocksOf } from '../test/documents/blocks.ts'
import { plainEnvironment } from '../test/documents/newcomer.ts'

/**
 * The path of somebody who has just heard of Florin: a fresh clone, and then the code blocks of the README's first section, as they stand
 * there. Blocks that say `until=` are terminals of their own, which are left open when they have printed that; all others are one shell.
 */
const { values } = parseArgs({ options: { section: { type: 'string', default: 'Five minutes' } } })
const longestSeconds = 300
const root = join(import.meta.dirname, '..')

/** What the path promises, and how its terminals show that it is so. */
const promises: [what: string, shown: RegExp][] = [
  ['a test card is charged', /capture_succeeded/],
  ['it is refunded', /"type":\s*"refund"[^{}]*"status":\s*"succeeded"/],
  ['the signed webhook has arrived', /refund\.succeeded, verified/],
]

const folder = mkdtempSync(join(tmpdir(), 'florin-newcomer-'))
const clone = join(folder, 'florin')
const opened: ChildProcess[] = []
let said = ''

try {
  execFileSync('git', ['clone', '--quiet', root, clone])
  const began = performance.now()
  const blocks = blocksIn(readFileSync(join(clone, 'README.md'), 'utf8'), values.section)
  const shell = open('bash', ['-eu', '-o', 'pipefail'])
  const steps: { command: string; seconds: number }[] = []
  for (const block of blocks) {
    const start = performance.now()
    if (block.until === undefined) await type(shell, block.text)
    else await printed(open('bash', ['-c', block.text]), block.until)
    const [command = ''] = block.text.split('\n')
    steps.push({ command, seconds: secondsSince(start) })
    console.error(`${String(secondsSince(start)).padStart(6)} s  ${command}`)
  }
  const broken = await waitForPromises()
  const seconds = secondsSince(began)
  const passed = broken.length === 0 && seconds < longestSeconds
  if (broken.length > 0) console.error(said)
  console.log(JSON.stringify({ proof: 'newcomer', seconds, limit: longestSeconds, steps, broken, passed }))
  process.exitCode = passed ? 0 : 1
} finally {
  for (const child of opened.toReversed()) await end(child)
  rmSync(folder, { recursive: true, force: true })
}

function blocksIn(readme: string, section: string): Block[] {
  const [, text] = readme.split(new RegExp(`^## ${section}$`, 'm'))
  if (text === undefined) throw new Error(`README.md has no section "${section}"`)
  return blocksOf(text.split(/^## /m)[0] ?? '').filter(({ language }) => language === 'sh')
}

/** A terminal in the clone, without what belongs to this repository. */
function open(command: string, args: readonly string[]): ChildProcess {
  const path = (process.env['PATH'] ?? '').split(delimiter).filter((entry) => !entry.endsWith('node_modules/.bin'))
  const child = spawn(command, args, {
    cwd: clone,
    detached: true,
    env: { ...plainEnvironment(), PATH: path.join(delimiter) },
  })
  for (const output of [child.stdout, child.stderr]) output.on('data', (data: Buffer) => (said += data.toString()))
  opened.push(child)
  return child
}

/** Types a block into the shell, and waits until it has been done. */
async function type(shell: ChildProcess, text: string): Promise<void> {
  const done = `block-${said.length}-is-done`
  const waiting = printed(shell, done)
  shell.stdin?.write(`${text}\nprintf '%s\\n' ${done}\n`)
  await waiting
}

function printed(child: ChildProcess, text: string): Promise<void> {
  return new Promise((resolve, reject) => {
    let own = ''
    child.stdout?.on('data', (data: Buffer) => {
      own += data.toString()
      if (own.includes(text)) resolve()
    })
    child.once('close', (code) => reject(new Error(`a terminal ended with ${code}:\n${said}`)))
  })
}

/** A webhook comes when it comes. */
async function waitForPromises(): Promise<string[]> {
  const missing = () => promises.filter(([, shown]) => !shown.test(said)).map(([what]) => what)
  for (let tries = 0; tries < 100 && missing().length > 0; tries += 1) await sleep(200)
  return missing()
}

async function end(child: ChildProcess): Promise<void> {
  if (child.exitCode !== null || child.signalCode !== null) return
  const closed = new Promise((resolve) => child.once('close', resolve))
  child.stdin?.end()
  process.kill(-(child.pid ?? 0), 'SIGINT')
  await Promise.race([closed, sleep(15_000)])
  try {
    process.kill(-(child.pid ?? 0), 'SIGKILL')
  } catch {
    // it has ended
  }
}

function secondsSince(start: number): number {
  return Math.round((performance.now() - start) / 100) / 10
}
