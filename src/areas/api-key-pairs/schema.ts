import { type Static, Type } from 'typebox'
import { Body, Collection, Constant, DateTime, Enum, Nullable, PageQuery, Uuid } from '../../schema.ts'
import { MerchantAccountSummary } from '../merchant-accounts/schema.ts'
import { Role } from '../roles/schema.ts'

const DisplayName = Type.String({
  minLength: 1,
  maxLength: 200,
  description: 'A name to show to people.',
  example: 'Shop back end',
})
const Algorithm = Enum(['ECDSA', 'RSA'], {
  default: 'ECDSA',
  description: '`ECDSA` (P-521) signs tokens with ES512, `RSA` with RS512.',
})
const RoleIds = Type.Array(Uuid(), {
  minItems: 1,
  maxItems: 100,
  uniqueItems: true,
  description: 'Roles of the pair; see `/roles`.',
})
const MerchantAccountIds = Type.Array(Type.String({ minLength: 1, maxLength: 50 }), {
  maxItems: 1000,
  uniqueItems: true,
  description: 'Merchant accounts the pair may act upon; empty means all.',
})

const Creator = Type.Object(
  {
    id: Uuid({ description: 'The user or key pair that created it.' }),
    name: Type.String(),
    email_address: Nullable(Type.String({ description: 'Of a dashboard user.' })),
    thumbprint: Nullable(Type.String({ description: 'Of a key pair.' })),
  },
  { title: 'Creator' },
)

export const APIKeyPair = Type.Object(
  {
    type: Constant('api-key-pair'),
    id: Uuid(),
    thumbprint: Type.String({
      description: 'RFC 7638 thumbprint of the public key: the `kid` of its tokens.',
      example: 'Yt9rW0p2Xv1mQ8sKc3uJ7nB5hG4fD6aZ0eL2iO9wTzE',
    }),
    display_name: DisplayName,
    algorithm: Algorithm,
    active: Type.Boolean({ description: 'Whether the pair can authenticate.', example: true }),
    private_key: Nullable(
      Type.String({
        description:
          'PEM (PKCS#8). Returned once, by the request that creates the pair, if the service made it. It is stored nowhere.',
        example: null,
      }),
    ),
    created_at: DateTime(),
    updated_at: DateTime(),
    last_used_at: Nullable(
      DateTime({ description: 'Null if it never authenticated a request. Written at most once a minute.' }),
    ),
    creator: Type.Unsafe<Static<typeof Creator> | null>({ ...Creator, type: ['object', 'null'] }),
    merchant_accounts: Type.Array(MerchantAccountSummary, { description: 'Empty: all merchant accounts.' }),
    roles: Type.Array(Role),
  },
  { title: 'APIKeyPair' },
)
export type APIKeyPair = Static<typeof APIKeyPair>

export const APIKeyPairs = Collection(APIKeyPair, { title: 'APIKeyPairs' })

export const NewAPIKeyPair = Body(
  {
    display_name: DisplayName,
    algorithm: Type.Optional(Algorithm),
    active: Type.Optional(Type.Boolean({ default: true, description: 'Whether the pair can authenticate.' })),
    role_ids: RoleIds,
    merchant_account_ids: Type.Optional(MerchantAccountIds),
    public_key: Type.Optional(
      Nullable(
        Type.String({
          maxLength: 2000,
          description:
            'Bring your own key: the PEM public key of a P-521 pair. No private key is then made or returned.',
        }),
      ),
    ),
  },
  { title: 'APIKeyPairCreate' },
)
export type NewAPIKeyPair = Static<typeof NewAPIKeyPair>

export const APIKeyPairUpdate = Body(
  {
    display_name: Type.Optional(Nullable(DisplayName)),
    active: Type.Optional(Nullable(Type.Boolean())),
    role_ids: Type.Optional(Nullable(RoleIds)),
    merchant_account_ids: Type.Optional(Nullable(MerchantAccountIds)),
  },
  { title: 'APIKeyPairUpdate' },
)
export type APIKeyPairUpdate = Static<typeof APIKeyPairUpdate>

export const APIKeyPairPath = Type.Object({ api_key_pair_id: Uuid({ description: 'Id of the key pair.' }) })

export const ListAPIKeyPairsQuery = Type.Object(PageQuery)
