import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { blocksOf, readRunbook } from './blocks.ts'
import { startStage } from './stage.ts'

const root = join(import.meta.dirname, '../..')
const runbooks = [
  'deploy.md',
  'roll-back.md',
  'rotate-keys.md',
  'restore-a-backup.md',
  'fail-over.md',
  'stuck-webhook.md',
]

test('a merchant whose endpoint failed has received everything when the runbook has been followed', async () => {
  const stage = await startStage()
  try {
    expect(await stage.follow('stuck-webhook.md')).toContain('delivered')
    // Attempts of before end when they end, and the next comes after that.
    await expect.poll(() => stage.received(), { timeout: 240_000 }).toContain('transaction.captured')
    expect(stage.received()).toContain('webhook-subscription.test')
  } finally {
    await stage.close()
  }
})

test.each(runbooks)('%s says when, what you see, how you know that it worked, and what not to do', (name) => {
  const text = readRunbook(name)
  const headings = [...text.matchAll(/^## (.*)$/gm)].map(([, heading = '']) => heading)
  for (const wanted of [/^When$/, /^What you see/, /^How you know that it worked$/, /^What not to do$/]) {
    expect(headings.find((heading) => wanted.test(heading))).toBeDefined()
  }
  expect(blocksOf(text).filter(({ kind }) => kind === 'run').length).toBeGreaterThan(1)
})

test('every runbook is on the list, and the proof follows all that have commands', () => {
  const list = readRunbook('README.md')
  const files = readdirSync(join(root, 'docs/runbooks')).filter((file) => file !== 'README.md')
  expect(files.filter((file) => !list.includes(`(${file})`))).toEqual([])
  const proof = readFileSync(join(root, 'bench/runbooks.ts'), 'utf8')
  expect(runbooks.filter((name) => !proof.includes(`'${name}'`))).toEqual([])
})

test('no dump that a runbook makes holds the security codes that wait', () => {
  const commands = runbooks
    .flatMap((name) => blocksOf(readRunbook(name)))
    .map((block) => ('text' in block ? block.text : ''))
  const dumps = commands.join('').match(/^pg_dump .*$/gm) ?? []
  expect(dumps.length).toBeGreaterThan(0)
  expect(dumps.filter((command) => !command.includes('--no-unlogged-table-data'))).toEqual([])
})

test('a runbook that fails half way says which command it was', async () => {
  const { follow } = await import('./shell.ts')
  const blocks = blocksOf(
    '```sh\n# Yours:\nplace=x\n```\n```sh\ntest "$place" = here\n```\n```sh\nfalse # that one\n```\n',
  )
  const reader = { folder: '/tmp', path: process.env['PATH'] ?? '', values: { place: 'here' } }
  await expect(follow('x.md', blocks, reader)).rejects.toThrow('false # that one')
  await expect(follow('x.md', blocks, { ...reader, values: {} })).rejects.toThrow('what is place here?')
})
