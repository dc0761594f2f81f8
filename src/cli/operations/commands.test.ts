import { execFileSync } from 'node:child_process'
import { generateKeyPairSync } from 'node:crypto'
import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { createServer, type IncomingMessage } from 'node:http'
import type { AddressInfo } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { text } from 'node:stream/consumers'
import type { Command } from 'commander'
import { afterAll, afterEach, beforeAll, expect, test, vi } from 'vitest'
import { nameOperation } from '../../http/operation-names.ts'
import { type Route, scopesOf } from '../../http/route.ts'
import { routes } from '../../http/routes.ts'
import { buildProgram, runCommandLine } from '../program.ts'
import { flagOf, loadManifest } from './manifest.ts'

interface Recorded {
  method: string
  path: string
  query: Record<string, string>
  headers: IncomingMessage['headers']
  body: unknown
}

let folder = ''
let key = ''
let message = ''
let recorded: Recorded[] = []
let answer: { status: number; body: string | ((url: string) => string) } = { status: 200, body: '{}' }

/** The API's place: it takes what is sent, and says what it is told to. */
const recorder = createServer((request, response) => {
  void text(request).then((body) => {
    const { pathname, searchParams } = new URL(request.url ?? '', 'http://recorder')
    recorded.push({
      method: request.method ?? '',
      path: decodeURIComponent(pathname),
      query: Object.fromEntries(searchParams),
      headers: request.headers,
      body: body === '' ? undefined : JSON.parse(body),
    })
    const said = typeof answer.body === 'string' ? answer.body : answer.body(request.url ?? '')
    response.writeHead(answer.status, { 'x-request-id': 'the-request' }).end(said)
  })
})
const url = () => `http://127.0.0.1:${(recorder.address() as AddressInfo).port}`

beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'florin-operations-'))
  key = join(folder, 'key.pem')
  message = join(folder, 'message.json')
  const { privateKey } = generateKeyPairSync('ec', { namedCurve: 'P-521' })
  await writeFile(key, privateKey.export({ type: 'pkcs8', format: 'pem' }))
  await writeFile(message, '{"a":"message"}')
  await new Promise<void>((resolve) => recorder.listen(0, '127.0.0.1', resolve))
})
afterAll(async () => {
  recorder.close()
  await rm(folder, { recursive: true, force: true })
})
afterEach(() => {
  vi.restoreAllMocks()
  process.exitCode = 0
  answer = { status: 200, body: '{}' }
})

/** Runs a command here, and hands back what it sent and said. */
async function run(args: readonly string[], terminal?: { columns: number }) {
  recorded = []
  const [said, noted]: [string[], string[]] = [[], []]
  vi.spyOn(process.stdout, 'write').mockImplementation((chunk) => said.push(String(chunk)) > 0)
  vi.spyOn(process.stderr, 'write').mockImplementation((chunk) => noted.push(String(chunk)) > 0)
  const before = { isTTY: process.stdout.isTTY, columns: process.stdout.columns }
  Object.assign(process.stdout, { isTTY: terminal !== undefined, columns: terminal?.columns })
  try {
    await runCommandLine([...args, '--api', url(), '--key', key])
  } finally {
    Object.assign(process.stdout, before)
    vi.restoreAllMocks()
  }
  return { sent: recorded, stdout: said.join(''), stderr: noted.join(''), code: process.exitCode ?? 0 }
}

const manifest = loadManifest()
const operationOf = (route: Route) => {
  const operation = manifest.operations.find(({ id }) => id === route.id)
  if (!operation) throw new Error(`no command for ${route.id}`)
  return operation
}
const id = '0192f4a6-7e0c-7c33-b1de-3f1a2b4c5d6e'

/** The route's own example, without ids of things that it can do without. */
function exampleBody(route: Route): unknown {
  const ids = new Proxy({}, { get: () => id })
  const body = route.example?.({ merchantAccountId: 'default', unique: '1', ids })
  if (body === undefined) return undefined
  const required = (route.body as { required?: string[] } | undefined)?.required ?? []
  return Object.fromEntries(
    Object.entries(body as object).filter(([name, value]) => value !== id || required.includes(name)),
  )
}

const examplePath = ({ path, exampleParams }: Route) =>
  path.replaceAll(/\{([^}]+)\}/g, (_, name: string) =>
    name === 'merchant_account_id' ? 'default' : (exampleParams?.[name] ?? id),
  )

/** The words of command lines, as a shell reads them. */
function wordsOf(lines: readonly string[]): string[][] {
  const script = lines.map((line) => `printf '%s\\0' ${line}; printf '\\0'`).join('\n')
  const output = execFileSync('bash', ['-c', script], { encoding: 'utf8' })
  return output
    .split('\0\0')
    .slice(0, -1)
    .map((line) => line.split('\0'))
}

const leaves = (command: Command): Command[] =>
  command.commands.length === 0 ? [command] : command.commands.flatMap(leaves)
const nameOf = (command: Command): string =>
  command.parent ? `${nameOf(command.parent)} ${command.name()}`.trim() : ''

test('every operation of the route list has a command, and no command is without an operation', async () => {
  const commands: string[] = []
  for (const { name } of manifest.groups) {
    const group = (await buildProgram([name])).commands.find((command) => command.name() === name)
    commands.push(...(group ? leaves(group).map(nameOf) : []))
  }
  const operations = routes.map((route) => nameOperation(route).join(' '))
  expect(commands.toSorted()).toEqual([...operations, 'events resend'].toSorted())
})

/** The command of an operation, with all that it takes. */
async function commandOf(name: readonly string[]): Promise<Command> {
  const program = await buildProgram(name)
  return name.reduce((at, word) => at.commands.find((inner) => inner.name() === word) ?? at, program)
}

test('no two options of a command have the same name', async () => {
  for (const { name } of manifest.operations) {
    const { options } = await commandOf(name)
    const flags = options.map(({ long }) => long)
    expect(flags).toEqual([...new Set(flags)])
    const attributes = options.filter(({ negate }) => !negate).map((option) => option.attributeName())
    expect(attributes).toEqual([...new Set(attributes)])
  }
})

test('every help tells the scope, an example and where the reference is', async () => {
  for (const route of routes) {
    const { name, example } = operationOf(route)
    let help = ''
    const command = await commandOf(name)
    command.configureOutput({ writeOut: (text) => (help += text) }).outputHelp()
    expect(help).toContain(route.summary)
    expect(help).toContain(`  $ florin ${example}\n`)
    expect(help).toContain(`/docs#${route.id}`)
    for (const scope of scopesOf(route)) expect(help).toContain(scope)
  }
})

test('the example of every command sends what the example of its route says', { timeout: 300_000 }, async () => {
  const lines = wordsOf(routes.map((route) => operationOf(route).example))
  for (const [index, route] of routes.entries()) {
    const words = (lines[index] ?? []).map((word) => (word === '@message.json' ? `@${message}` : word))
    const { sent, stderr } = await run(words)
    expect(stderr).toBe('')
    expect(sent).toMatchObject([{ method: route.method, path: examplePath(route), query: route.exampleQuery ?? {} }])
    expect(sent[0]?.body).toEqual(route.raw ? { a: 'message' } : exampleBody(route))
    expect(sent[0]?.headers.authorization !== undefined).toBe(scopesOf(route).length > 0)
  }
})

test('every body can be given whole', async () => {
  const withBody = routes.filter((route) => route.body)
  for (const route of withBody) {
    const body = exampleBody(route)
    const ids = [...route.path.matchAll(/\{/g)].map(() => id)
    const { sent } = await run([...operationOf(route).name, ...ids, '--data', JSON.stringify(body)])
    expect(sent[0]?.body).toEqual(body)
  }
})

test('every filter is sent under its own name', async () => {
  for (const { name, filters, parameters } of manifest.operations.filter(({ isStream }) => !isStream)) {
    const values = filters.map((field) => {
      if (field.kind === 'boolean') return [flagOf(field)]
      return [flagOf(field), field.choices?.[0] ?? (field.kind === 'string' ? 'text' : '7')]
    })
    if (values.length === 0) continue
    const { sent, stderr } = await run([...name, ...parameters.map(() => id), ...values.flat()])
    expect(stderr).toBe('')
    expect(Object.keys(sent[0]?.query ?? {})).toEqual(filters.map((field) => field.name))
  }
})

const card = '4111111111111111'
const page = (items: object[], next_cursor: string | null = null) =>
  JSON.stringify({ items, limit: 20, next_cursor, previous_cursor: null })

test('options change the body that --data gives, and fields of objects the object', async () => {
  const create = ['transactions', 'create', '--data', '{"amount": 1, "currency": "EUR", "metadata": null}']
  const method = ['--payment-method', '{"method":"card","number":"1"}', '--payment-method.number', card]
  const others = ['--amount', '2', '--no-store', '--idempotency-key', 'order-1', '--account', 'shop']
  const { sent } = await run([...create, ...method, ...others])
  expect(sent[0]?.body).toEqual({
    amount: 2,
    currency: 'EUR',
    metadata: null,
    payment_method: { method: 'card', number: card },
    store: false,
  })
  expect(sent[0]?.headers).toMatchObject({
    'idempotency-key': 'order-1',
    'x-service-merchant-account-id': 'shop',
  })
  const captured = await run(['transactions', 'capture', id, '--prefer', 'transaction-capture'])
  expect(captured.sent[0]).toMatchObject({ headers: { prefer: 'resource=transaction-capture' }, body: undefined })
})

test('a message of a provider is sent byte by byte, with its headers', async () => {
  const notify = ['payment-services', 'notify', id, '--data', '{ "a":1}']
  const { sent } = await run([...notify, '--header', 'X-Signature: s=1, t=2', '--header', 'X-Other:x'])
  expect(sent).toMatchObject([{ headers: { 'x-signature': 's=1, t=2', 'x-other': 'x', 'content-length': '8' } }])
  expect((await run([...notify, '--header', 'nonsense'])).stderr).toContain('--header must be')
})

test('to a program the answer is given as it came, byte by byte', async () => {
  const body = '{"items": [ {"id":"a","x":1.0} ],\n "limit":20}'
  answer.body = body
  expect((await run(['buyers', 'list'])).stdout).toBe(`${body}\n`)
  expect((await run(['buyers', 'list', '--json'])).stdout).toBe(`${body}\n`)
})

test('--print gives one field, of each item of a list too, and says what there is when there is no such field', async () => {
  answer.body = page([
    { id: '1', buyer: { id: 'b' } },
    { id: '2', buyer: { id: null } },
  ])
  expect((await run(['transactions', 'list', '--print', 'buyer.id'], { columns: 100 })).stdout).toBe('b\nnull\n')
  expect((await run(['transactions', 'list', '--all', '--print', 'id'])).stdout).toBe('1\n2\n')
  expect(await run(['transactions', 'list', '--print', 'nothing'])).toMatchObject({
    stdout: '',
    stderr: expect.stringContaining('It has: id, buyer') as string,
  })
})

test('to a person a list is a table, an empty one says what to do, and more pages are announced', async () => {
  answer.body = page([{ id, status: 'capture_succeeded', amount: 1299, currency: 'EUR' }], 'the-cursor')
  const list = await run(['transactions', 'list'], { columns: 100 })
  expect(list.stdout).toContain('capture_succeeded  12.99 EUR\n')
  expect(list.stderr).toContain('--cursor the-cursor')
  expect((await run(['transactions', 'list'], { columns: 0 })).stdout).toContain(id)
  answer.body = page([{ id, merchant_account_id: 'shop', display_name: 'Ada' }])
  expect((await run(['buyers', 'list', '--account', '*'], { columns: 100 })).stdout).toContain(`${id}  shop `)
  expect((await run(['buyers', 'list'], { columns: 100 })).stdout).toContain(`${id}  Ada`)
  answer.body = page([])
  expect(await run(['buyers', 'list'], { columns: 100 })).toMatchObject({
    stdout: '',
    stderr: expect.stringContaining('florin buyers create --help') as string,
  })
  expect((await run(['buyers', 'list', '--search', 'x'], { columns: 100 })).stderr).toContain('Nothing fits')
  answer = { status: 204, body: '' }
  expect((await run(['buyers', 'delete', id], { columns: 100 })).stderr).toBe('Done.\n')
})

test('--all follows the cursor to the end, with a line of JSON for each item', async () => {
  const pages = [page([{ id: '1' }, { id: '2' }], 'two'), page([{ id: '3' }])]
  answer.body = (url) => pages[url.includes('cursor=two') ? 1 : 0] ?? ''
  const { sent, stdout } = await run(['buyers', 'list', '--all', '--search', 'a b'])
  expect(stdout).toBe('{"id":"1"}\n{"id":"2"}\n{"id":"3"}\n')
  expect(sent.map(({ query }) => query)).toEqual([
    { search: 'a b', limit: '100' },
    { search: 'a b', limit: '100', cursor: 'two' },
  ])
})

const refusal = (status: number, code: string, more: object = {}) => ({
  status,
  body: JSON.stringify({ type: 'error', code, status, message: 'No', details: [], ...more }),
})

test('a refusal is told by the names of the options, with the request id, and without a stack', async () => {
  const details = [
    { location: 'body', pointer: '/payment_method/number', message: 'Must be a card number' },
    { location: 'body', pointer: '/cart_items/0/name', message: 'This field is required' },
    { location: 'header', pointer: 'X-Service-Merchant-Account-ID', message: 'Unknown' },
  ]
  answer = refusal(400, 'bad_request', { message: 'Request failed validation', details })
  expect(await run(['transactions', 'create', '--amount', '1'])).toMatchObject({
    code: 1,
    stdout: '',
    stderr: [
      'error: Request failed validation (400)',
      '  --payment-method.number: Must be a card number',
      '  --cart-items (0.name): This field is required',
      '  --account: Unknown',
      'Add --help to see what each of them takes.',
      'Request id: the-request\n',
    ].join('\n'),
  })
  answer = { status: 422, body: JSON.stringify({ detail: [{ loc: ['body', 'role_ids'], msg: 'This is required' }] }) }
  expect((await run(['api-key-pairs', 'create'])).stderr).toContain('  --role-ids: This is required\n')
  answer = refusal(403, 'forbidden')
  expect((await run(['buyers', 'list'])).stderr).toContain('the scope buyers.read')
  answer = refusal(409, 'duplicate_record', { resource_id: id })
  expect((await run(['buyers', 'create'])).stderr).toContain(`It has the id ${id}.`)
  answer = refusal(500, 'server_error', { message: '\u001B[2J' })
  expect((await run(['buyers', 'list'])).stderr).toContain(String.raw`\u001b[2J (500)`)
  answer = { status: 404, body: `<html>${card}` }
  const { stderr } = await run(['buyers', 'list'])
  expect(stderr).toContain('is not one of Florin. Look at the base URL')
  expect(stderr).not.toContain(card)
})

test('what failed for a reason that may pass is sent once more, a payment under the same key; what may have been done is not', async () => {
  answer = refusal(503, 'server_error')
  const [list, create, pay] = [
    await run(['buyers', 'list']),
    await run(['buyers', 'create']),
    await run(['transactions', 'create', '--amount', '1', '--currency', 'EUR']),
  ]
  expect([list.sent.length, create.sent.length, pay.sent.length]).toEqual([2, 1, 2])
  const [first, second] = pay.sent.map(({ headers }) => headers['idempotency-key'])
  expect(first).toMatch(/^[0-9a-f-]{36}$/)
  expect(second).toBe(first)
})

test.each([
  ['transactions', 'create', '--payment-method', `{"number": ${card}`],
  ['transactions', 'create', '--amount', `${card}x`],
  ['transactions', 'create', '--intent', card],
  ['transactions', 'create', '--data', `{"number": ${card}`],
  ['payment-methods', 'create', card],
  ['payment-methods', 'create', `--nmber=${card}`],
  ['payment-methods', card],
  [card],
])('%j does not work, and the card number is not repeated', async (...args) => {
  vi.spyOn(process, 'exit').mockImplementation(() => {
    throw new Error('exit')
  })
  const { sent, stdout, stderr, code } = await run(args)
  expect({ sent, stdout }).toEqual({ sent: [], stdout: '' })
  expect(stderr).toMatch(/^error: /)
  expect(stderr).not.toContain(card)
  expect(code).toBe(1)
})
