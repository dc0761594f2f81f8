import { timeOfId } from '../../ids.ts'
import { type Database, transact } from '../../platform/postgres.ts'
import { sql } from '../../platform/sql.ts'
import { readAges } from '../../webhooks/store.ts'
import type { DatabaseCheck } from './database.ts'
import { type Finding, ok, problem, skipped, warning } from './finding.ts'

/** Workers look every second; whatever waits longer than this waits for somebody who is not there. */
const lateSeconds = 120
/** After so many attempts an endpoint has failed for more than ten minutes. */
const manyAttempts = 5

/** Whether the work is done that no request waits for. */
export const workChecks: DatabaseCheck[] = [checkProcesses, checkJobs, checkEvents, checkDeliveries, checkPayments]

/** By the names of their connections. Each api and each worker has one that listens. */
async function checkProcesses(db: Database): Promise<Finding> {
  const [row] = await db.run<{ api: number; worker: number; vault: number; strangers: string[] | null }>(sql`
    select count(*) filter (where application_name = 'florin api listener')::int as api,
      count(*) filter (where application_name = 'florin worker listener')::int as worker,
      count(*) filter (where application_name = 'florin vault')::int as vault,
      array_agg(distinct split_part(application_name, ' ', 2) || ' as ' || usename) filter (where
        application_name ~ '^florin (api|worker|vault)' and usename <> 'florin_' || split_part(application_name, ' ', 2)) as strangers
    from pg_stat_activity where datname = current_database()`)
  const { api, worker, vault, strangers } = row ?? { api: 0, worker: 0, vault: 0, strangers: null }
  if (api + worker + vault === 0) return skipped('processes', 'none is connected to this database')
  if (strangers) {
    return problem('processes', {
      message: `connected as another role than its own: ${strangers.join(', ')}`,
      why: 'It lacks rights, or has those of an administrator, for whom there are no walls between merchant accounts.',
      fix: 'Correct its DATABASE_URL: each process is florin_ and its name.',
    })
  }
  const counts = `${api} api, ${worker} worker, ${vault > 0 ? 'a vault' : 'no vault'}`
  if (worker === 0) {
    return problem('processes', {
      message: `no worker is connected: ${counts}`,
      why: 'Webhooks are not sent, payments left open are not looked after, and the logs run out of partitions.',
      fix: 'Start one: "systemctl start florin-worker". Its log tells why it ends.',
    })
  }
  return ok('processes', counts)
}

async function checkJobs(db: Database): Promise<Finding> {
  const rows = await db.run<{ kind: string; late: number; attempts: number; last_error: string | null }>(sql`
    select kind, extract(epoch from now() - run_at)::float8 as late, attempts, last_error from jobs
    where run_at < now() - ${lateSeconds} * interval '1 s' or (attempts >= 3 and last_error is not null) order by kind limit 100`)
  const late = rows.filter((row) => row.late > lateSeconds)
  if (late.length > 0) {
    return problem('jobs', {
      message: `late by up to ${Math.round(Math.max(...late.map((row) => row.late)) / 60)} min: ${kinds(late)}`,
      why: 'Nobody does them: no worker runs, or none that knows them or keeps up.',
      fix: 'Start a worker ("systemctl start florin-worker"), of the version that the database has.',
    })
  }
  if (rows.length > 0) {
    return warning('jobs', {
      message: `failing: ${rows.map(({ kind, last_error }) => `${kind} (${last_error})`).join(', ')}`,
      why: 'They are tried again in longer and longer pauses, an hour at most.',
      fix: 'Look for "job failed" in the log of the worker: "journalctl -u florin-worker".',
    })
  }
  return ok('jobs', 'none is late or fails')
}

const kinds = (rows: readonly { kind: string }[]) => [...new Set(rows.map(({ kind }) => kind))].join(', ')

async function checkEvents(db: Database): Promise<Finding> {
  const { queued, overdue } = await transact({ db, accounts: 'all' as const }, (ctx) => readAges(ctx.db))
  const now = Date.now()
  const seconds = Math.max(
    queued === null ? 0 : (now - timeOfId(queued).getTime()) / 1000,
    overdue === null ? 0 : (now - overdue.getTime()) / 1000,
  )
  if (seconds <= lateSeconds) return ok('events', 'none waits to be told')
  return problem('events', {
    message: `the oldest that is to be told waits for ${Math.round(seconds / 60)} min`,
    why: 'Merchants do not hear of payments.',
    fix: 'See that a worker runs and reaches the vault, which has the secrets of webhooks: docs/runbooks/stuck-webhook.md.',
  })
}

async function checkDeliveries(db: Database): Promise<Finding> {
  const rows = await transact({ db, accounts: 'all' as const }, (ctx) =>
    ctx.db.run<{ merchant_account_id: string; subscription_id: string; count: number }>(sql`
      select merchant_account_id, subscription_id, count(*)::int as count from (
        select merchant_account_id, subscription_id from webhook_deliveries
        where status = 'pending' and attempts >= ${manyAttempts} limit 10000) stuck
      group by 1, 2 order by 3 desc limit 5`),
  )
  if (rows.length === 0) return ok('deliveries', 'no endpoint fails again and again')
  const list = rows.map((row) => `${row.subscription_id} of ${row.merchant_account_id} (${row.count})`)
  return warning('deliveries', {
    message: `webhook subscriptions that do not take what they are sent: ${list.join(', ')}`,
    why: 'It is tried again for seven days and given up then.',
    fix: 'Look at the attempts and tell the merchant: docs/runbooks/stuck-webhook.md.',
  })
}

async function checkPayments(db: Database): Promise<Finding> {
  const [row] = await transact({ db, accounts: 'all' as const }, (ctx) =>
    ctx.db.run<{ count: number }>(sql`
      select count(*)::int as count from (
        select from attempts where state <> 'done' and next_check_at < now() - ${lateSeconds} * interval '1 s' limit 10000) late`),
  )
  if ((row?.count ?? 0) === 0) return ok('payments', 'none waits for an outcome longer than it should')
  return problem('payments', {
    message: `${row?.count} call(s) to providers have an outcome that nobody asks for`,
    why: 'It is not known whether those payments were made.',
    fix: 'See that a worker runs: it asks the providers every few seconds. One payment at a time: POST /transactions/{id}/sync.',
  })
}
