import { readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'

/**
 * Completes package-lock.json after `npm install`. Tools come as one optional package per platform; a registry mirror that
 * holds only some of them makes npm leave the others out, and `npm ci` then refuses the file everywhere. Their name and exact
 * version are known from the package that asks for them, which is all the lock file needs.
 */
interface Entry {
  version?: string
  dev?: boolean
  optional?: boolean
  optionalDependencies?: Record<string, string>
  os?: string[]
  cpu?: string[]
  libc?: string[]
}

const file = join(import.meta.dirname, '../package-lock.json')
const lock = JSON.parse(readFileSync(file, 'utf8')) as { packages: Record<string, Entry> }

const systems = ['android', 'darwin', 'freebsd', 'linux', 'openharmony', 'win32']
const processors = ['arm64', 'arm', 'ia32', 'ppc64', 'riscv64', 's390x', 'x64']

function describe(name: string, version: string): Entry {
  const words = name.split('/').at(-1)?.split('-') ?? []
  const os = systems.filter((system) => words.includes(system))
  const cpu = processors.filter((processor) => words.includes(processor))
  const libc = words.some((word) => word.startsWith('musl'))
    ? ['musl']
    : words.some((word) => word.startsWith('gnu'))
      ? ['glibc']
      : []
  return {
    version,
    dev: true,
    optional: true,
    ...(os.length > 0 && { os }),
    ...(cpu.length > 0 && { cpu }),
    ...(libc.length > 0 && { libc }),
  }
}

const added: string[] = []
for (const [path, { dev, optionalDependencies = {} }] of Object.entries(lock.packages)) {
  for (const [name, version] of Object.entries(optionalDependencies)) {
    const places = [`node_modules/${name}`, `${path}/node_modules/${name}`]
    if (places.some((place) => place in lock.packages)) continue
    if (!dev && path !== 'toolchain') throw new Error(`${name} would be a production package; add it by hand`)
    lock.packages[`node_modules/${name}`] = describe(name, version.replace(/^[\^~]/, ''))
    added.push(name)
  }
}
lock.packages = Object.fromEntries(Object.entries(lock.packages).sort(([left], [right]) => (left < right ? -1 : 1)))
writeFileSync(file, `${JSON.stringify(lock, null, 2)}\n`)
console.log(added.length === 0 ? 'package-lock.json is complete' : `added ${added.length} packages of other platforms`)
