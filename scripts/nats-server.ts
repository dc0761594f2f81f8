import { execFile } from 'node:child_process'
import { existsSync } from 'node:fs'
import { chmod, mkdir, mkdtemp, readdir, rename, rm } from 'node:fs/promises'
import { homedir } from 'node:os'
import { join } from 'node:path'
import { promisify } from 'node:util'

/** Debian's is too old, and no package registry has one: it is compiled from the Go module proxy, once for each version. */
export const natsVersion = '2.15.1'
/** What its go.mod asks for. A Go from 1.21 on brings it by itself. */
const goVersion = '1.26.8'

const run = promisify(execFile)
const goPlaces = ['go', '/usr/local/go/bin/go', '/usr/lib/go/bin/go']

/** NATS_CACHE says where it is kept between runs. */
const cacheFolder = () =>
  process.env['NATS_CACHE'] ?? join(process.env['XDG_CACHE_HOME'] ?? join(homedir(), '.cache'), 'florin-nats')

/** The path of a nats-server of the pinned version. The first call on a machine compiles it, which takes minutes. */
export async function bringNatsServer(note: (line: string) => void = () => undefined): Promise<string> {
  const folder = cacheFolder()
  const file = join(folder, `nats-server-${natsVersion}`)
  if (existsSync(file)) return file
  await mkdir(folder, { recursive: true })
  const scratch = await mkdtemp(join(folder, 'making-'))
  try {
    const found = await findGo()
    note(`compiling nats-server ${natsVersion} with ${found.path}: a few minutes, once`)
    const go = found.isOld ? await bringGo(found.path, scratch) : { path: found.path, toolchain: 'auto' }
    await run(go.path, ['install', `github.com/nats-io/nats-server/v2@v${natsVersion}`], {
      cwd: scratch,
      env: { ...process.env, GOBIN: scratch, GOTOOLCHAIN: go.toolchain, CGO_ENABLED: '0' },
    })
    // Made aside and moved into place: somebody else may be making it too.
    await rename(join(scratch, 'nats-server'), file)
    return file
  } finally {
    await rm(scratch, { recursive: true, force: true })
  }
}

async function findGo(): Promise<{ path: string; isOld: boolean }> {
  for (const path of goPlaces) {
    const version = await run(path, ['version'], { env: { ...process.env, GOTOOLCHAIN: 'local' } }).catch(
      () => undefined,
    )
    const minor = /go1\.(\d+)/.exec(version?.stdout ?? '')?.[1]
    if (minor) return { path, isOld: Number(minor) < 21 }
  }
  throw new Error(
    `nats-server ${natsVersion} is compiled with Go, and no Go was found (${goPlaces.join(', ')}). ` +
      'Install one of any version (on Debian: apt-get install golang-go), or put a nats-server of that version at ' +
      join(cacheFolder(), `nats-server-${natsVersion}`),
  )
}

/** An old Go cannot change its own version, but a Go is a module like any other, checked by its sum; only the permissions are lost. */
async function bringGo(old: string, scratch: string): Promise<{ path: string; toolchain: 'local' }> {
  const { stdout: platform } = await run(old, ['env', 'GOOS', 'GOARCH'])
  const [os, processor] = platform.trim().split('\n')
  const { stdout } = await run(
    old,
    ['mod', 'download', '-modcacherw', '-json', `golang.org/toolchain@v0.0.1-go${goVersion}.${os}-${processor}`],
    { cwd: scratch },
  )
  const { Dir: folder } = JSON.parse(stdout) as { Dir: string }
  for (const programs of ['bin', `pkg/tool/${os}_${processor}`]) {
    for (const name of await readdir(join(folder, programs))) await chmod(join(folder, programs, name), 0o755)
  }
  return { path: join(folder, 'bin/go'), toolchain: 'local' }
}
