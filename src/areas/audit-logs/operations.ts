import type { Context } from '../../context.ts'
import { newId, timeOfId } from '../../ids.ts'
import { type PageRequest, toCollection } from '../../page.ts'
import type { Sql } from '../../platform/sql.ts'
import type { Collection } from '../../schema.ts'
import type { AuditAction } from './rules.ts'
import type { AuditLogEntry, ListAuditLogsQuery } from './schema.ts'
import { type AuditLogRow, insertAuditLog, insertAuditLogs, listAuditLogRows, type NewAuditLogRow } from './store.ts'

type Actor = Pick<Context, 'caller' | 'operation' | 'requestId'>
interface Resource {
  type: string
  id: string
  name: string
  merchantAccountId: string | null
}

/** Writes down who did what, in the transaction of the change itself: no change without its row, no row without its change. */
export async function audit(ctx: Pick<Context, 'db'> & Actor, action: AuditAction, resource: Resource): Promise<void> {
  if (!ctx.db.inTransaction) throw new Error('audit() belongs into the transaction of the change')
  await insertAuditLog(ctx.db, auditEntry(ctx, action, resource))
}

export type AuditEntry = NewAuditLogRow

/** The row itself, for a change that is one statement together with its audit row: see `auditing`. */
export function auditEntry(ctx: Actor, action: AuditAction, resource: Resource): AuditEntry {
  const id = newId()
  return {
    id,
    merchant_account_id: resource.merchantAccountId,
    action,
    resource_type: resource.type,
    resource_id: resource.id,
    resource_name: resource.name,
    actor_id: ctx.caller.keyPairId,
    actor_name: ctx.caller.displayName,
    actor_email_address: null,
    token_id: ctx.caller.tokenId,
    operation: ctx.operation,
    request_id: ctx.requestId,
    created_at: timeOfId(id),
  }
}

/** The part of `write` that follows a change. */
export const auditing = (entries: readonly AuditEntry[]) => (changed: Sql) => insertAuditLogs(changed, entries)

export async function listAuditLogs(
  ctx: Context,
  filter: ListAuditLogsQuery,
  page: PageRequest,
): Promise<Collection<AuditLogEntry>> {
  return toCollection(page, await listAuditLogRows(ctx.db, ctx.accounts, filter, page), ({ id }) => id, present)
}

function present(row: AuditLogRow): AuditLogEntry {
  return {
    type: 'audit-log',
    id: row.id,
    merchant_account_id: row.merchant_account_id,
    resource: { type: row.resource_type, id: row.resource_id, name: row.resource_name },
    action: row.action,
    user: {
      type: 'user',
      id: row.actor_id,
      name: row.actor_name,
      email_address: row.actor_email_address,
      is_staff: false,
      status: 'active',
    },
    timestamp: row.created_at.toISOString(),
  }
}
