import { startStage } from '../test/runbooks/stage.ts'
import { note } from './rig.ts'

/** Every runbook followed to the letter, on one machine: real processes, a real PostgreSQL with a standby, an archive of a next version. */
const order = ['stuck-webhook.md', 'rotate-keys.md', 'deploy.md', 'roll-back.md', 'restore-a-backup.md', 'fail-over.md']
const wanted = process.argv.slice(2)
if (wanted.includes('--help')) {
  console.log(`npm run proof:runbooks -- [name ...]

Follows the runbooks in docs/runbooks, or those that are named. Needs an installed PostgreSQL, curl, openssl and git.

Example: npm run proof:runbooks -- fail-over.md`)
  process.exit(0)
}
const stage = await startStage(note)
const seconds: Record<string, number> = {}
try {
  for (const runbook of order.filter((name) => wanted.length === 0 || wanted.includes(name))) {
    const began = performance.now()
    const said = await stage.follow(runbook)
    if (wanted.length > 0) note(said)
    seconds[runbook] = Math.round((performance.now() - began) / 100) / 10
  }
  const after = await stage.ask<{ items: unknown[] }>('GET', '/transactions')
  const passed = Object.keys(seconds).length > 0 && after.items.length === 1
  console.log(JSON.stringify({ proof: 'runbooks', seconds, payments_kept: after.items.length, passed }))
  process.exitCode = passed ? 0 : 1
} finally {
  await stage.close()
}
