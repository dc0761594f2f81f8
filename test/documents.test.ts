import { randomUUID } from 'node:crypto'
import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { Ajv2020 } from 'ajv/dist/2020.js'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { routes } from '../src/http/routes.ts'
import { readHttpFile } from './documents/http-file.ts'
import { type Newcomer, startNewcomer } from './documents/newcomer.ts'
import { type CheckSchema, runDocument } from './documents/run.ts'

/* Every code block of the README, the guides and the pages about errors is run, and every answer that they show is compared with the real one. */

const root = join(import.meta.dirname, '..')
const documents = [
  'README.md',
  'docs/cli.md',
  'docs/demo.md',
  ...['docs/guides', 'docs/errors'].flatMap((folder) =>
    readdirSync(join(root, folder))
      .filter((file) => file.endsWith('.md'))
      .map((file) => `${folder}/${file}`),
  ),
]
/** Done before anything else, and long ago: the proof of the newcomer's path does it. */
const install = '```sh\nnpm ci\n```\n'

const openapi = JSON.parse(readFileSync(join(root, 'openapi.json'), 'utf8')) as { components: object }
const ajv = new Ajv2020({ strict: false, validateFormats: false })
const checkSchema: CheckSchema = (name, value) => {
  const schema = { $ref: `#/components/schemas/${name}`, components: openapi.components }
  return ajv.validate(schema, value) ? undefined : `is no ${name}: ${ajv.errorsText()}`
}

let newcomer: Newcomer
beforeAll(async () => {
  newcomer = await startNewcomer()
})
afterAll(() => newcomer.stop())

const textOf = (file: string) => readFileSync(join(root, file), 'utf8').replace(install, '')
const findProblems = (file: string) => runDocument(textOf(file), newcomer, checkSchema)
/** Three days later the keys, tokens and sessions of all other readers of this copy have expired. */
const movesClock = (file: string) => textOf(file).includes('clock advance --account default')

describe('what moves the clock that all share, run before the others', () => {
  test.each(documents.filter(movesClock))('%s', async (file) => expect(await findProblems(file)).toEqual([]))
})

describe.concurrent('what a reader is told to run works, and is answered as shown', () => {
  test.each(documents.filter((file) => !movesClock(file)))('%s', async (file) =>
    expect(await findProblems(file)).toEqual([]),
  )
})

describe('docs/florin.http', () => {
  const text = readFileSync(join(root, 'docs/florin.http'), 'utf8')
  const read = (values: Record<string, string>, ofBodies: Record<string, string> = {}) =>
    readHttpFile(text, (name, isInBody) => (isInBody ? ofBodies : values)[name] ?? randomUUID())

  test('has a request for every operation', () => {
    const requests = read({}).map(({ method, path }) => `${method} ${path.replace(/\?.*/, '').replaceAll(/[{}]/g, '')}`)
    const operations = routes.map(({ method, path }) => `${method} ${path.replaceAll(/[{}]/g, '')}`)
    expect(requests.toSorted()).toEqual(operations.toSorted())
  })

  test('each succeeds, unless it names what is not there', async () => {
    const { url: baseUrl, token } = newcomer
    const services = await fetch(`${baseUrl}/payment-services`, { headers: { authorization: `Bearer ${token}` } })
    const { items } = (await services.json()) as { items: { id: string; method: string }[] }
    const payment_service_id = items.find(({ method }) => method === 'card')?.id ?? ''
    const problems: string[] = []
    for (const { name, method, url, headers, body, needs } of read({ baseUrl, token }, { payment_service_id })) {
      // A stream has no end; its head is enough.
      const controller = new AbortController()
      const asked = { method, headers, signal: controller.signal, ...(body !== undefined && { body }) }
      const answer = await fetch(url, asked)
      const isMissing =
        (answer.status === 404 && needs.length > 0) ||
        (answer.status === 400 && needs.some((id) => id !== 'payment_service_id'))
      if (!answer.ok && !isMissing) problems.push(`${name}: ${answer.status} ${await answer.text()}`)
      controller.abort()
    }
    expect(problems).toEqual([])
  })
})

const fenced = (info: string, text: string) => `\`\`\`${info}\n${text}\n\`\`\`\n`
const get = (path: string) => `curl -s http://127.0.0.1:8080${path} -H "Authorization: Bearer $(npx florin token)"`

describe.concurrent('a document is found to be wrong', () => {
  test.each([
    ['when a command fails', fenced('sh', 'echo hello\nfalse'), /line 1: the shell ended with 1/],
    ['when a command in a pipe fails', fenced('sh', 'false | cat'), /the shell ended/],
    ['when a call is refused', fenced('sh', get('/nowhere')), /answered with 404, expected success/],
    ['when a call in a variable is refused', fenced('sh', `answer=$(${get('/nowhere')})`), /answered with 404/],
    [
      'when a call is not refused as it says',
      fenced('sh expect=404', get('/roles')),
      /answered with 200, expected 404/,
    ],
    ['when a variable was never set', fenced('sh', 'echo "$nobody"'), /unbound variable/],
    [
      'when an answer has another value',
      fenced('sh', get('/roles?limit=1')) + fenced('json', '{"limit": 2}'),
      /limit is 1, not 2/,
    ],
    [
      'when an answer has no such field',
      fenced('sh', get('/roles?limit=1')) + fenced('json', '{"items": [{"colour": "red"}]}'),
      /colour is not there/,
    ],
    ['when an answer belongs to nothing', fenced('json', '{}'), /stands behind the command/],
    ['when an answer does not fit its schema', fenced('json schema=Error', '{"type": "error"}'), /is no Error/],
    ['when a program throws', fenced('ts', "throw new Error('no')"), /the program ended with 1/],
    ["when a browser's program throws", fenced('js', 'await fetch("http://127.0.0.1:1/")'), /the program ended with 1/],
  ])('%s', async (_name, markdown, problem) => {
    expect((await runDocument(markdown, newcomer, checkSchema)).join()).toMatch(problem)
  })

  test('and not when all is well, one shell for all blocks', async () => {
    const markdown =
      fenced('sh', 'limit=1\nsleep 300 &') +
      fenced('sh', get('/roles?limit=$limit').replace(/http\S+/, '"$&"')) +
      fenced('json', '{"limit": 1}')
    expect(await runDocument(markdown, newcomer, checkSchema)).toEqual([])
  })
})
