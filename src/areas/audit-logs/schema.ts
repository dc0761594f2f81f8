import { type Static, Type } from 'typebox'
import { Collection, Constant, DateTime, Enum, Nullable, PageQuery, Uuid } from '../../schema.ts'
import { auditActions } from './rules.ts'

export const AuditLogEntry = Type.Object(
  {
    type: Constant('audit-log'),
    id: Uuid(),
    merchant_account_id: Nullable(
      Type.String({
        description: 'Null when the change concerns the whole instance or several accounts.',
        example: 'default',
      }),
    ),
    resource: Type.Object({
      type: Type.String({ example: 'api-key-pair' }),
      id: Type.String({ example: '0192f4a6-7e0c-7c33-b1de-3f1a2b4c5d6e' }),
      name: Type.String({ example: 'Shop back end' }),
    }),
    action: Enum(auditActions),
    user: Type.Object(
      {
        type: Constant('user'),
        id: Nullable(Uuid({ description: 'The key pair or user; null for the command line.' })),
        name: Type.String({ example: 'Shop back end' }),
        email_address: Nullable(Type.String()),
        is_staff: Type.Boolean({ example: false }),
        status: Enum(['active', 'pending', 'deleted']),
      },
      { description: 'Who did it.' },
    ),
    timestamp: DateTime(),
  },
  { title: 'AuditLogEntry' },
)
export type AuditLogEntry = Static<typeof AuditLogEntry>

export const AuditLogEntries = Collection(AuditLogEntry, { title: 'AuditLogEntries' })

export const ListAuditLogsQuery = Type.Object({
  ...PageQuery,
  action: Type.Optional(Enum(auditActions, { description: 'Only this kind of change.' })),
  user_id: Type.Optional(Uuid({ description: 'Only changes by this key pair or user.' })),
  resource_type: Type.Optional(
    Type.String({
      minLength: 1,
      maxLength: 100,
      description: 'Only changes to resources of this type.',
      example: 'api-key-pair',
    }),
  ),
})
export type ListAuditLogsQuery = Static<typeof ListAuditLogsQuery>
