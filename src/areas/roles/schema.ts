import { type Static, Type } from 'typebox'
import { Collection, Constant, Enum, PageQuery, Uuid } from '../../schema.ts'

export const Role = Type.Object(
  {
    type: Constant('role'),
    id: Uuid(),
    name: Type.String({ example: 'Full access' }),
    slug: Type.String({ example: 'full-access' }),
    description: Type.String({ example: 'Everything an API key pair can do.' }),
    permissions: Type.Object({
      allow: Type.Array(Type.String(), {
        description: 'Scopes the role allows; `*.read` and `*.write` stand for every resource.',
        example: ['*.read', '*.write'],
      }),
    }),
    assignable_to: Type.Array(Enum(['user', 'api-key-pair']), { example: ['api-key-pair'] }),
    applies_to: Type.Array(Type.String(), { description: 'Slugs of the base roles an add-on needs.', example: [] }),
    is_standalone_assignable: Type.Boolean({ description: 'False for add-ons.' }),
  },
  { title: 'Role' },
)
export type Role = Static<typeof Role>

export const Roles = Collection(Role, { title: 'Roles' })

export const ListRolesQuery = Type.Object(PageQuery)
