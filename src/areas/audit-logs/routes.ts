import { route } from '../../http/route.ts'
import { listAuditLogs } from './operations.ts'
import { AuditLogEntries, ListAuditLogsQuery } from './schema.ts'

export const auditLogRoutes = [
  route({
    id: 'listAuditLogs',
    method: 'GET',
    path: '/audit-logs',
    summary: 'List audit log entries',
    description:
      'Who changed what, newest first. Changes that concern the whole instance (key pairs with access to all accounts, for example) have no merchant account and are listed with `*` only.',
    scope: 'audit-logs.read',
    merchantAccount: 'list',
    query: ListAuditLogsQuery,
    paged: true,
    returns: [200, AuditLogEntries],
    handle: (ctx, { query, page }) => listAuditLogs(ctx, query, page),
  }),
]
