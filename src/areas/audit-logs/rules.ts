export const auditActions = ['created', 'updated', 'deleted', 'voided', 'canceled', 'captured'] as const
export type AuditAction = (typeof auditActions)[number]
