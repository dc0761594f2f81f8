import { forgetUses } from '../platform/uses.ts'
import type { Job } from './job.ts'

/** What browsers did counts for a minute. */
export const sweepUses: Job = {
  kind: 'sweep-uses',
  everyMs: 60_000,
  leaseMs: 60_000,
  run: ({ db }) => forgetUses(db),
}
