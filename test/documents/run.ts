import { spawn } from 'node:child_process'
import { mkdtemp, readdir, readFile, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { delimiter, dirname, join } from 'node:path'
import { type Block, blocksOf, differences, printedJson } from './blocks.ts'
import { type Newcomer, plainEnvironment } from './newcomer.ts'

const documented = 'http://127.0.0.1:8080'
const longestMs = 240_000

/** What is wrong with a value, by the name of a schema in openapi.json. */
export type CheckSchema = (name: string, value: unknown) => string | undefined

/**
 * Runs everything that a document tells its reader to run, in order: shell blocks in one shell, programs in one program, and what is
 * shown as an answer is compared with what was answered. Returns what does not hold.
 */
export async function runDocument(markdown: string, newcomer: Newcomer, checkSchema: CheckSchema): Promise<string[]> {
  const blocks = blocksOf(markdown).map((block) => ({
    ...block,
    text: block.text.replaceAll(documented, newcomer.url),
  }))
  const folder = await mkdtemp(join(tmpdir(), 'florin-document-'))
  try {
    const shell = await runShell(blocks, newcomer, folder)
    const programs = await Promise.all(
      (['ts', 'js'] as const).map((language) => runProgram(blocks, language, newcomer)),
    )
    const answers = await Promise.all(blocks.map((_block, index) => checkJson(blocks, index, folder, checkSchema)))
    return [...shell, ...programs.flat(), ...answers.flat()]
  } finally {
    await rm(folder, { recursive: true, force: true })
  }
}

const outputOf = (folder: string, index: number) => join(folder, `${index}.out`)

/**
 * One shell for all blocks, as a reader has one. `curl` also leaves the head of each answer, to see what it was; `npx florin` is the command
 * line of the copy, and its plainest call, which most commands contain, is not made again each time.
 */
const preamble = (newcomer: Newcomer, folder: string) => `set -eu -o pipefail
curl() { command curl --dump-header "$(mktemp "${folder}/$BLOCK.head.XXXXXX")" "$@"; }
npx() {
  if [ "$*" = 'florin token' ]; then printf '%s\\n' '${newcomer.token}'; return; fi
  if [ "$1" != florin ]; then command npx "$@"; return; fi
  shift
  "${newcomer.folder}/bin/florin" "$@"
}
`

async function runShell(blocks: readonly Block[], newcomer: Newcomer, folder: string): Promise<string[]> {
  const mine = blocks
    .map((block, index) => ({ block, index }))
    .filter(({ block }) => block.language === 'sh' && block.until === undefined)
  if (mine.length === 0) return []
  const parts = mine.map(
    ({ block, index }) =>
      `BLOCK=${index}\nexec >'${outputOf(folder, index)}'\n${block.text}\ntouch '${folder}/${index}.done'\n`,
  )
  const script = join(folder, 'script.sh')
  await writeFile(script, preamble(newcomer, folder) + parts.join(''))
  const { code, stderr } = await run('bash', [script], newcomer)
  const files = await readdir(folder)
  const stopped = mine.find(({ index }) => !files.includes(`${index}.done`))
  const problems = await Promise.all(
    mine
      .filter(({ index }) => files.includes(`${index}.done`) || stopped?.index === index)
      .map(({ block, index }) => checkStatuses(block, index, folder, files)),
  )
  if (code === 0) return problems.flat()
  const output = stopped ? await readFile(outputOf(folder, stopped.index), 'utf8').catch(() => '') : ''
  return [
    ...problems.flat(),
    `line ${stopped?.block.line}: the shell ended with ${code}: ${stderr.trim()}\n${output.slice(0, 2_000)}`,
  ]
}

/** No call may be refused, but for what the block says. */
async function checkStatuses(block: Block, index: number, folder: string, files: readonly string[]): Promise<string[]> {
  const heads = files.filter((file) => file.startsWith(`${index}.head.`))
  const statuses = await Promise.all(heads.map(async (file) => statusOf(await readFile(join(folder, file), 'utf8'))))
  const refused = statuses.filter((status) => status >= 400)
  const wanted = block.expect === undefined ? [] : [block.expect]
  if (refused.every((status) => wanted.includes(status)) && wanted.every((status) => refused.includes(status)))
    return []
  const output = await readFile(outputOf(folder, index), 'utf8').catch(() => '')
  return [`line ${block.line}: answered with ${statuses.join(', ')}, expected ${wanted[0] ?? 'success'}: ${output}`]
}

const statusOf = (head: string) => Number([...head.matchAll(/^HTTP\/\S+ (\d{3})/gm)].at(-1)?.[1] ?? 0)

/** All blocks of a language are one program, run where a reader would run it. */
async function runProgram(blocks: readonly Block[], language: 'ts' | 'js', newcomer: Newcomer): Promise<string[]> {
  const mine = blocks.filter((block) => block.language === language)
  if (mine.length === 0) return []
  const type = language === 'ts' ? 'module-typescript' : 'module'
  const { code, stderr } = await run(
    process.execPath,
    [`--input-type=${type}`],
    newcomer,
    mine.map(({ text }) => text).join('\n'),
  )
  return code === 0 ? [] : [`line ${mine[0]?.line}: the program ended with ${code}: ${stderr.trim()}`]
}

async function checkJson(
  blocks: readonly Block[],
  index: number,
  folder: string,
  checkSchema: CheckSchema,
): Promise<string[]> {
  const block = blocks[index]
  const before = blocks[index - 1]
  if (block?.language !== 'json') return []
  const at = (problem: string) => `line ${block.line}: ${problem}`
  const said = printedJson(block.text)
  if (said === undefined) return [at('this is no JSON')]
  if (block.schema !== undefined)
    return [checkSchema(block.schema, said)].flatMap((problem) => (problem ? [at(problem)] : []))
  if (before?.language !== 'sh') return [at('an answer stands behind the command that gets it, or names its schema')]
  const output = await readFile(outputOf(folder, index - 1), 'utf8').catch(() => '')
  const given = printedJson(output)
  return given === undefined ? [at(`nothing was answered: ${output}`)] : differences(said, given).map(at)
}

interface Ended {
  code: number | string
  stderr: string
}

/** In a process group of its own, so that what a block leaves running ends with it. */
function run(command: string, args: readonly string[], newcomer: Newcomer, input = ''): Promise<Ended> {
  const child = spawn(command, args, {
    cwd: newcomer.folder,
    detached: true,
    env: {
      ...plainEnvironment(),
      PATH: [dirname(process.execPath), process.env['PATH']].join(delimiter),
      API_URL: newcomer.url,
      PRIVATE_KEY: newcomer.privateKey,
    },
    stdio: ['pipe', 'ignore', 'pipe'],
  })
  let stderr = ''
  child.stderr.on('data', (data: Buffer) => (stderr += data.toString()))
  // A program that ends early does not read it.
  child.stdin.on('error', () => undefined)
  child.stdin.end(input)
  const end = () => {
    try {
      process.kill(-(child.pid ?? 0), 'SIGKILL')
    } catch {
      // nothing is left
    }
  }
  const timer = setTimeout(end, longestMs)
  return new Promise((resolve, reject) => {
    child.once('error', reject)
    child.once('exit', (code, signal) => {
      clearTimeout(timer)
      end()
      child.once('close', () => resolve({ code: code ?? signal ?? 1, stderr }))
    })
  })
}
