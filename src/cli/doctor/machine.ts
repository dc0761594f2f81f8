import { statfs } from 'node:fs/promises'
import { findRunningDev, isServing } from '../dev-folder.ts'
import { nodeRange, root } from '../repository.ts'
import { type Finding, ok, problem, skipped, warning } from './finding.ts'

const leastFree = { share: 0.05, bytes: 1024 ** 3 }

export function checkNode(version = process.versions.node, range = nodeRange): Finding {
  const wanted = range.replace('>=', '')
  if (compareVersions(version, wanted) >= 0) return ok('node', version)
  return problem('node', {
    message: `Node.js ${version} is too old`,
    why: 'It cannot run this program as it is written.',
    fix: `Install Node.js ${wanted} or newer.`,
  })
}

function compareVersions(a: string, b: string): number {
  const [left, right] = [a, b].map((text) => text.split('.').map(Number))
  for (const index of [0, 1, 2]) {
    const difference = (left?.[index] ?? 0) - (right?.[index] ?? 0)
    if (difference !== 0) return difference
  }
  return 0
}

export interface Disk {
  free: number
  size: number
}

/** Of this program; a database on the same machine usually shares it. */
export async function checkDisk(look: () => Promise<Disk> = lookAtDisk): Promise<Finding> {
  const { free, size } = await look()
  const gigabytes = `${(free / 1024 ** 3).toFixed(1)} GB free`
  if (free >= leastFree.bytes && free >= size * leastFree.share) return ok('disk', gigabytes)
  return warning('disk', {
    message: `only ${gigabytes}, ${Math.round((free / size) * 100)} % of the disk`,
    why: 'A database that cannot write refuses every payment.',
    fix: 'Free some space: old logs and backups first. "du -xh / | sort -h | tail" shows what takes it.',
  })
}

async function lookAtDisk(): Promise<Disk> {
  const { bavail, blocks, bsize } = await statfs(root)
  return { free: bavail * bsize, size: blocks * bsize }
}

export async function checkServer(): Promise<Finding> {
  const dev = await findRunningDev()
  if (!dev) return skipped('server', 'no "florin dev" runs in this folder')
  if (await isServing(dev)) return ok('server', dev.base_url)
  return problem('server', {
    message: `${dev.base_url} does not answer`,
    why: 'No request reaches it.',
    fix: 'Stop "florin dev" and start it again.',
  })
}
