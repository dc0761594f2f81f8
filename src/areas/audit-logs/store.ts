import { type PageRequest, type PageRows, readPage } from '../../page.ts'
import type { Accounts } from '../../platform/accounts.ts'
import type { Db } from '../../platform/postgres.ts'
import { all, type Sql, sql } from '../../platform/sql.ts'
import type { AuditAction } from './rules.ts'

export interface AuditLogRow {
  id: string
  merchant_account_id: string | null
  action: AuditAction
  resource_type: string
  resource_id: string
  resource_name: string
  actor_id: string | null
  actor_name: string
  actor_email_address: string | null
  created_at: Date
}

export interface NewAuditLogRow extends AuditLogRow {
  token_id: string | null
  operation: string
  request_id: string
}

export async function insertAuditLog(db: Db, row: NewAuditLogRow): Promise<void> {
  await db.run(sql`
    insert into audit_logs (id, merchant_account_id, action, resource_type, resource_id, resource_name,
      actor_id, actor_name, actor_email_address, token_id, operation, request_id, created_at)
    values (${row.id}, ${row.merchant_account_id}, ${row.action}, ${row.resource_type}, ${row.resource_id}, ${row.resource_name},
      ${row.actor_id}, ${row.actor_name}, ${row.actor_email_address}, ${row.token_id}, ${row.operation}, ${row.request_id}, ${row.created_at})`)
}

/** The rows of those resources that were changed, as a part of the statement that changes them. */
export const insertAuditLogs = (changed: Sql, rows: readonly NewAuditLogRow[]): Sql => sql`
  insert into audit_logs (id, merchant_account_id, action, resource_type, resource_id, resource_name,
    actor_id, actor_name, actor_email_address, token_id, operation, request_id, created_at)
  select entry.* from ${changed} join json_to_recordset(${JSON.stringify(rows)}::json) as entry (
    id uuid, merchant_account_id text, action text, resource_type text, resource_id text, resource_name text,
    actor_id uuid, actor_name text, actor_email_address text, token_id text, operation text, request_id text, created_at timestamptz
  ) on entry.resource_id = ${changed}.id::text`

export interface AuditLogFilter {
  action?: AuditAction | undefined
  user_id?: string | undefined
  resource_type?: string | undefined
}

export function listAuditLogRows(
  db: Db,
  accounts: Accounts,
  filter: AuditLogFilter,
  page: PageRequest,
): Promise<PageRows<AuditLogRow>> {
  const conditions = [
    ...(filter.action ? [sql`action = ${filter.action}`] : []),
    ...(filter.user_id ? [sql`actor_id = ${filter.user_id}`] : []),
    ...(filter.resource_type ? [sql`resource_type = ${filter.resource_type}`] : []),
  ]
  return readPage(db, accounts, page, {
    columns: sql`id, merchant_account_id, action, resource_type, resource_id, resource_name, actor_id, actor_name,
      actor_email_address, created_at`,
    from: sql`audit_logs`,
    where: (visible) => sql`${visible(sql`merchant_account_id`)} and ${all(conditions)}`,
    id: sql`id`,
    account: sql`merchant_account_id`,
  })
}
