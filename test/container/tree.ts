import { execFile } from 'node:child_process'
import {
  chmodSync,
  existsSync,
  lstatSync,
  mkdirSync,
  readlinkSync,
  realpathSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs'
import { dirname, join } from 'node:path'
import { promisify } from 'node:util'

const run = promisify(execFile)

/** How a command is put into a tree, as a container would. */
export interface Surroundings {
  workdir: string
  environment: Record<string, string>
  user?: { uid: number; gid: number }
  /** Folders of this machine and where they appear. */
  mounts?: readonly { from: string; to: string; writable: boolean }[]
  /** Whether the tree itself can be written to. */
  readOnly: boolean
}

/*
 * Mounts in a namespace of their own, then makes the tree the root. Every step is an exec: the command has the number of this process and its
 * signals. Arguments: tree, read-only (yes or no), how many mounts, these as "from to mode", then what to run.
 */
const enter = `
set -e
tree=$1 closed=$2 count=$3; shift 3
mount --bind "$tree" "$tree"
while [ "$count" -gt 0 ]; do
  mount --rbind "$1" "$tree$2"
  if [ "$3" = ro ]; then mount -o remount,ro,bind "$tree$2"; fi
  shift 3; count=$((count - 1))
done
if [ "$closed" = yes ]; then mount -o remount,ro,bind "$tree"; fi
exec "$@"
`

/** The system that the image stands on: here it is this machine's own, with Node where the official image has it. */
export interface BaseImage {
  mounts: { from: string; to: string; writable: boolean }[]
  links: { path: string; target: string }[]
}

export async function machineAsBase(): Promise<BaseImage> {
  const system = [
    '/bin',
    '/sbin',
    '/lib',
    '/lib64',
    '/usr/bin',
    '/usr/sbin',
    '/usr/lib',
    '/usr/lib64',
    '/usr/share',
    '/etc',
  ]
  const present = system.filter((path) => existsSync(path))
  const { stdout } = await run('sh', ['-c', 'command -v npm'])
  const npm = dirname(dirname(realpathSync(stdout.trim())))
  return {
    mounts: [
      ...present
        .filter((path) => !lstatSync(path).isSymbolicLink())
        .map((path) => ({ from: path, to: path, writable: false })),
      { from: '/dev', to: '/dev', writable: true },
      { from: '/proc', to: '/proc', writable: true },
      { from: realpathSync(process.execPath), to: '/usr/local/bin/node', writable: false },
      { from: npm, to: '/usr/local/lib/node_modules/npm', writable: false },
    ],
    links: [
      ...present
        .filter((path) => lstatSync(path).isSymbolicLink())
        .map((path) => ({ path, target: readlinkSync(path) })),
      { path: '/usr/local/bin/npm', target: '../lib/node_modules/npm/bin/npm-cli.js' },
    ],
  }
}

/** An empty tree with the places where the base image goes. */
export function makeTree(tree: string, base: BaseImage): void {
  for (const { from, to } of base.mounts) makePlace(from, join(tree, to))
  for (const { path, target } of base.links) {
    mkdirSync(dirname(join(tree, path)), { recursive: true })
    symlinkSync(target, join(tree, path))
  }
  mkdirSync(join(tree, 'tmp'))
  chmodSync(join(tree, 'tmp'), 0o1777)
}

function makePlace(from: string, path: string): void {
  if (existsSync(path)) return
  const isFolder = lstatSync(from).isDirectory()
  mkdirSync(isFolder ? path : dirname(path), { recursive: true })
  if (!isFolder) writeFileSync(path, '')
}

/** As compose.yaml has it: another user, no capability, and no way to get one. */
const withoutPowers = ({ uid, gid }: { uid: number; gid: number }) => [
  '/usr/bin/setpriv',
  `--reuid=${uid}`,
  `--regid=${gid}`,
  '--clear-groups',
  '--no-new-privs',
  '--inh-caps=-all',
  '--bounding-set=-all',
]

/** The words to spawn for a command in a tree. */
export function inTree(
  tree: string,
  base: BaseImage,
  command: readonly string[],
  { workdir, environment, user, mounts = [], readOnly }: Surroundings,
): [string, string[]] {
  for (const { from, to } of mounts) makePlace(from, join(tree, to))
  const all = [...base.mounts, ...mounts]
  const words = [
    '--mount',
    'sh',
    '-c',
    enter,
    'enter',
    tree,
    readOnly ? 'yes' : 'no',
    String(all.length),
    ...all.flatMap(({ from, to, writable }) => [from, to, writable ? 'rw' : 'ro']),
    'chroot',
    tree,
    ...(user ? withoutPowers(user) : []),
    '/usr/bin/env',
    '-i',
    `--chdir=${workdir}`,
    ...Object.entries(environment).map(([name, value]) => `${name}=${value}`),
    ...command,
  ]
  return ['unshare', words]
}
