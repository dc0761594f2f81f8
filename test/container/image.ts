import { execFile } from 'node:child_process'
import { cpSync, mkdirSync, readFileSync, statSync } from 'node:fs'
import { basename, join, matchesGlob, relative, resolve } from 'node:path'
import { promisify } from 'node:util'
import { parseContainerfile, type Step } from './containerfile.ts'
import { type BaseImage, inTree, machineAsBase, makeTree } from './tree.ts'

/** What a build of deploy/Containerfile leaves: a tree, and how its processes are started. */
export interface Image {
  tree: string
  base: BaseImage
  workdir: string
  environment: Record<string, string>
  user: { uid: number; gid: number } | undefined
  command: string[]
  healthCheck: string[]
  stopSignal: NodeJS.Signals
}

const run = promisify(execFile)
const root = join(import.meta.dirname, '../..')
const packageCache = '/package-cache'

/** Executes the steps of deploy/Containerfile, each stage in an empty tree of its own under this folder. */
export async function buildImage(folder: string, note: (line: string) => void): Promise<Image> {
  const stages = parseContainerfile(readFileSync(join(root, 'deploy/Containerfile'), 'utf8'))
  const base = await machineAsBase()
  const images = new Map<string, Image>()
  let last: Image | undefined
  for (const { name, steps } of stages) {
    const image = emptyImage(join(folder, name), base)
    makeTree(image.tree, base)
    for (const step of steps) await execute(step, image, images, note)
    images.set(name, image)
    last = image
  }
  if (!last) throw new Error('there is no stage')
  return last
}

const emptyImage = (tree: string, base: BaseImage): Image => ({
  tree,
  base,
  workdir: '/',
  environment: { PATH: '/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin' },
  user: undefined,
  command: [],
  healthCheck: [],
  stopSignal: 'SIGTERM',
})

async function execute(
  step: Step,
  image: Image,
  others: Map<string, Image>,
  note: (line: string) => void,
): Promise<void> {
  switch (step.kind) {
    case 'WORKDIR':
      image.workdir = step.path
      mkdirSync(join(image.tree, step.path), { recursive: true })
      return
    case 'ENV':
      Object.assign(image.environment, step.values)
      return
    case 'USER':
      image.user = { uid: step.uid, gid: step.gid }
      return
    case 'CMD':
      image.command = step.command
      return
    case 'HEALTHCHECK':
      image.healthCheck = step.command
      return
    case 'STOPSIGNAL':
      image.stopSignal = step.signal
      return
    case 'COPY':
      note(`COPY ${step.sources.join(' ')}`)
      return copy(step, image, others)
    case 'RUN':
      note(`RUN ${step.command}`)
      return await runStep(step.command, image)
  }
}

function copy(step: Step & { kind: 'COPY' }, image: Image, others: Map<string, Image>): void {
  const source = step.from === undefined ? root : others.get(step.from)?.tree
  if (source === undefined) throw new Error(`COPY --from=${step.from}: there is no such stage`)
  const isSent = step.from === undefined ? readIgnored() : () => true
  const target = resolve(join(image.tree, image.workdir), step.target)
  for (const path of step.sources) {
    const from = join(source, path)
    const to = step.target.endsWith('/') ? join(target, basename(path)) : target
    if (!isSent(from)) throw new Error(`COPY ${path}: .dockerignore leaves it out`)
    // What the builder is not sent is not there for it.
    cpSync(from, to, {
      recursive: true,
      verbatimSymlinks: true,
      filter: (each) => statSync(each).isDirectory() || isSent(each),
    })
  }
}

/** Whether a path of the repository is sent to the builder: the last line of .dockerignore that matches it decides. */
function readIgnored(): (path: string) => boolean {
  const lines = readFileSync(join(root, '.dockerignore'), 'utf8').split('\n')
  const rules = lines
    .filter((line) => line !== '' && !line.startsWith('#'))
    .map((line) => ({ sent: line.startsWith('!'), pattern: line.replace('!', '') }))
  return (path) => {
    const name = relative(root, path)
    return rules.reduce(
      (sent, rule) => (matchesGlob(name, rule.pattern) || matchesGlob(name, `${rule.pattern}/**`) ? rule.sent : sent),
      true,
    )
  }
}

async function runStep(command: string, image: Image): Promise<void> {
  const reach = await (access ??= registryAccess())
  const [program, words] = inTree(image.tree, image.base, ['/bin/sh', '-c', command], {
    workdir: image.workdir,
    environment: { ...reach.environment, ...image.environment, HOME: '/root' },
    ...(image.user && { user: image.user }),
    mounts: reach.mounts,
    readOnly: false,
  })
  await run(program, words, { maxBuffer: 64 * 1024 * 1024 })
}

let access: ReturnType<typeof registryAccess> | undefined

/** How this machine reaches a registry of packages, and what it has of it already. */
async function registryAccess() {
  const names = ['registry', 'cafile', 'cache'] as const
  const { stdout } = await run('npm', ['config', 'get', ...names], { cwd: '/' })
  const found = Object.fromEntries(stdout.split('\n').map((line) => line.split(/ ?= ?/, 2) as [string, string]))
  const cache = found['cache'] ?? ''
  mkdirSync(cache, { recursive: true })
  const given = Object.entries(process.env).filter(([name]) =>
    /^(https?_proxy|no_proxy|node_extra_ca_certs)$/i.test(name),
  )
  return {
    environment: {
      ...(Object.fromEntries(given) as Record<string, string>),
      ...(found['registry'] && { npm_config_registry: found['registry'] }),
      ...(found['cafile'] && found['cafile'] !== 'null' && { npm_config_cafile: found['cafile'] }),
      npm_config_cache: packageCache,
      npm_config_prefer_offline: 'true',
      npm_config_update_notifier: 'false',
    },
    mounts: [{ from: cache, to: packageCache, writable: true }],
  }
}
