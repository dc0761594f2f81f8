import { sql } from '../platform/sql.ts'
import type { Job } from './job.ts'

/** Makes next months' partitions of the logs in time and drops the ones past their retention. */
export function partitionUpkeep(keep: { auditMonths: number; eventMonths: number; deliveryMonths: number }): Job {
  return {
    kind: 'partition-upkeep',
    everyMs: 60 * 60 * 1000,
    leaseMs: 60_000,
    async run({ db, log }) {
      const [made] = await db.run<{ count: number }>(sql`select florin_make_partitions(3) as count`)
      if (made && made.count > 0) log.info('partitions made', { job: 'partition-upkeep', count: made.count })
      for (const [parent, months] of [
        ['audit_logs', keep.auditMonths],
        ['events', keep.eventMonths],
        ['webhook_deliveries', keep.deliveryMonths],
        ['webhook_attempts', keep.deliveryMonths],
      ] as const) {
        const dropped = await db.run(sql`select florin_drop_partitions(${parent}, ${months})`)
        if (dropped.length > 0) log.info('partitions dropped', { job: 'partition-upkeep', count: dropped.length })
      }
    },
  }
}
