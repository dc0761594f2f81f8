import { execFile } from 'node:child_process'
import { mkdir, mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { promisify } from 'node:util'
import type { NatsFault } from './nats-faults.ts'

const run = promisify(execFile)

/**
 * A disk in a file, for the folder of all three servers. At a power cut they are stopped where they are, the file is copied, and they go on from the copy:
 * what was written and never brought to the disk is not in it. Linux, as root.
 */
export async function makeDisk() {
  const home = await mkdtemp(join(tmpdir(), 'florin-disk-'))
  const folder = join(home, 'mounted')
  let disk = join(home, 'disk-0')
  await mkdir(folder)
  await run('truncate', ['-s', '2G', disk])
  await run('mkfs.ext4', ['-q', disk])
  await run('mount', ['-o', 'loop', disk, folder])
  let cuts = 0

  const powerCut: NatsFault = {
    name: 'power cut',
    async begin(nats) {
      const running = nats.nodes.flatMap(({ pid }) => pid ?? [])
      for (const pid of running) process.kill(pid, 'SIGSTOP')
      cuts += 1
      const copy = join(home, `disk-${cuts}`)
      await run('cp', ['--sparse=always', disk, copy])
      await Promise.all([0, 1, 2].map(nats.kill))
      await run('umount', [folder])
      await rm(disk)
      disk = copy
      await run('mount', ['-o', 'loop', disk, folder])
    },
    end: (nats) => Promise.all([0, 1, 2].map(nats.start)),
  }
  return {
    folder,
    powerCut,
    /** What is there so far outlives the first cut. */
    settle: () => run('sync', ['-f', folder]),
    async remove(): Promise<void> {
      await run('umount', [folder])
      await rm(home, { recursive: true, force: true })
    },
  }
}
