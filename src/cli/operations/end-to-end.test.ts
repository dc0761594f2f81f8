import { type ExecFileOptions, execFile, spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { createInterface } from 'node:readline'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { useApi } from '../../../test/api.ts'
import { makeService } from '../../../test/every-state.ts'
import { buildProgram } from '../program.ts'
import { candidatesOf } from '../complete.ts'
import { root } from '../repository.ts'

const api = useApi()
let folder = ''
let key = ''

beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'florin-cli-'))
  key = join(folder, 'key.pem')
  await writeFile(key, api.owner().privateKeyPem)
  await makeService(api.request)
})
afterAll(() => rm(folder, { recursive: true, force: true }))

interface Outcome {
  code: number
  stdout: string
  stderr: string
}

function start(command: string, args: readonly string[], options: ExecFileOptions, input = ''): Promise<Outcome> {
  return new Promise((resolve) => {
    const child = execFile(command, args, { ...options, encoding: 'utf8' }, (error, stdout, stderr) =>
      resolve({ code: error ? Number(error.code ?? 1) : 0, stdout, stderr }),
    )
    child.stdin?.end(input)
  })
}

const environment = () => {
  const inherited = Object.entries(process.env).filter(([name]) => !/^(DATABASE|FLORIN)_/.test(name))
  return { ...Object.fromEntries(inherited), FLORIN_PUBLIC_URL: api.url() }
}

const florin = (args: readonly string[], input?: string) =>
  start(process.execPath, [join(root, 'src/main/florin.ts'), ...args, '--key', key], { env: environment() }, input)

const parse = <Body>({ stdout, stderr }: Outcome): Body => {
  expect(stderr).toBe('')
  return JSON.parse(stdout) as Body
}

test('a payment is made, found and refunded; card data comes from standard input', async () => {
  const card = JSON.stringify({
    payment_method: { method: 'card', number: '4111111111111111', expiration_date: '12/30' },
  })
  const pay = ['transactions', 'create', '--amount', '1299', '--currency', 'EUR', '--country', 'DE']
  const paid = parse<{ id: string; status: string }>(
    await florin([...pay, '--intent', 'capture', '--metadata', '{"order":"4711"}', '--data', '-'], card),
  )
  expect(paid.status).toBe('capture_succeeded')

  const filters = ['--status', 'capture_succeeded', '--status', 'capture_pending', '--amount-gte', '1000']
  const [found, refund] = await Promise.all([
    florin(['transactions', 'list', ...filters]),
    florin(['transactions', 'refunds', 'create', paid.id, '--amount', '500']),
  ])
  expect(parse<{ items: object[] }>(found).items).toMatchObject([{ id: paid.id, amount: 1299 }])
  expect(parse(refund)).toMatchObject({ type: 'refund', status: 'succeeded', amount: 500 })
  // What is not found is told apart from what is not understood.
  const { code, stdout, stderr } = await florin(['refunds', 'get', '0192f4a6-7e0c-7c33-b1de-3f1a2b4c5d6e'])
  expect({ code, stdout }).toEqual({ code: 1, stdout: '' })
  expect(stderr).toMatch(/^error: The resource could not be found \(404\)\n.*\nRequest id: [0-9a-f-]{36}\n$/)
})

test('--all hands every item on once, and ends quietly when its reader has seen enough', async () => {
  for (let index = 0; index < 5; index += 1) {
    await api.request('POST', '/buyers', { body: { display_name: `Buyer ${index}` } })
  }
  const { stdout } = await florin(['buyers', 'list', '--all', '--limit', '2'])
  const names = stdout
    .trim()
    .split('\n')
    .map((line) => (JSON.parse(line) as { display_name: string }).display_name)
  expect(names).toEqual([4, 3, 2, 1, 0].map((index) => `Buyer ${index}`))
  const command = `"${process.execPath}" src/main/florin.ts buyers list --all --limit 1 --key "$0" | head -1 >/dev/null; echo "\${PIPESTATUS[0]}"`
  expect(await start('bash', ['-c', command, key], { cwd: root, env: environment() })).toEqual({
    code: 0,
    stdout: '0\n',
    stderr: '',
  })
})

test('events are printed as they come, until somebody stops it', async () => {
  await api.request('POST', '/buyers', { body: { display_name: 'Ada' } })
  const start = '00000000-0000-7000-8000-000000000000'
  const args = ['events', 'feed', '--wait', '600', '--name', 'buyer.created', '--position', start, '--key', key]
  const feed = spawn(process.execPath, [join(root, 'src/main/florin.ts'), ...args], { env: environment() })
  const lines: string[] = []
  for await (const line of createInterface(feed.stdout)) {
    lines.push(line)
    if (line.includes('Ada')) feed.kill('SIGINT')
  }
  expect(feed.exitCode ?? (await once(feed, 'exit'))[0]).toBe(0)
  for (const line of lines) expect(JSON.parse(line)).toMatchObject({ type: 'event', name: 'buyer.created' })
})

test('a command loads what it needs: no routes, no validators, no database, no methods of the SDK', async () => {
  const hook = `import { registerHooks } from 'node:module'
    registerHooks({ load: (url, context, next) => { process.stderr.write(url + '\\n'); return next(url, context) } })`
  const loaded = async (...args: string[]) => {
    const hooked = ['--import', `data:text/javascript,${encodeURIComponent(hook)}`, join(root, 'src/main/florin.ts')]
    const { code, stderr } = await start(process.execPath, [...hooked, ...args], { env: environment() })
    expect(code).toBe(0)
    return stderr.trim().split('\n')
  }
  const [list, token, help] = await Promise.all([
    loaded('buyers', 'list', '--key', key),
    loaded('token', '--key', key),
    loaded('--help'),
  ])
  const heavy =
    /\/node_modules\/(ajv|typebox|pg|fastify|pino|@)|\/src\/(http|areas|generated|platform\/(config|postgres))/
  for (const urls of [list, token, help]) expect(urls.filter((url) => heavy.test(url))).toEqual([])
  expect(list).toContainEqual(expect.stringContaining('/packages/sdk/src/core.ts'))
  expect(help.length).toBeLessThan(40)
})

test('bash completes commands, options and their values', async () => {
  const script = `
    source <("$0" "$1" completion bash)
    complete -p florin
    try() { COMP_WORDS=("$@"); COMP_CWORD=$(($# - 1)); COMPREPLY=(); _florin; echo "\${COMPREPLY[*]}"; }
    try florin transa
    try florin transactions refunds create-
    try florin transactions list --status = capture_s
    try florin transactions create --payment-method.num
    try florin keys create --out ''`
  const args = ['-c', script, process.execPath, join(root, 'src/main/florin.ts')]
  const { stdout, stderr } = await start('bash', args, { env: environment() })
  expect(stderr).toBe('')
  expect(stdout.split('\n')).toEqual([
    'complete -o default -F _florin florin',
    'transactions',
    'create-all',
    'capture_succeeded',
    '--payment-method.number',
    '',
    '',
  ])
})

test('what can come next is what the commands take', async () => {
  const next = async (...words: string[]) => candidatesOf(await buildProgram(words), words).map(({ text }) => text)
  expect(await next('')).toEqual(expect.arrayContaining(['dev', 'token', 'transactions', 'events']))
  expect(await next('events', '')).toEqual(expect.arrayContaining(['list', 'feed', 'consumers', 'resend']))
  expect(await next('vault', 'keys', 're')).toEqual(['rewrap'])
  expect(await next('transactions', 'create', '--int')).toEqual(['--intent', '--integration-client'])
  expect(await next('transactions', 'create', '--intent', '')).toEqual(['authorize', 'capture'])
  expect(await next('transactions', 'create', '--payment-m')).toEqual(['--payment-method'])
  expect(await next('completion', '')).toEqual(['bash', 'zsh', 'fish'])
  expect(await next('nonsense', '-')).toEqual(['--version', '--help'])
})
