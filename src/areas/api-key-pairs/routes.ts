import { route } from '../../http/route.ts'
import { createAPIKeyPair, deleteAPIKeyPair, getAPIKeyPair, listAPIKeyPairs, updateAPIKeyPair } from './operations.ts'
import {
  APIKeyPair,
  APIKeyPairPath,
  APIKeyPairs,
  APIKeyPairUpdate,
  ListAPIKeyPairsQuery,
  NewAPIKeyPair,
} from './schema.ts'

/** "Full access" of the roles that come with the service. */
const fullAccess = '01900000-0000-7000-8000-00000000000c'

const common = { merchantAccount: 'none', validation: 'detail' } as const

export const apiKeyPairRoutes = [
  route({
    id: 'listAPIKeyPairs',
    method: 'GET',
    path: '/api-key-pairs',
    summary: 'List API key pairs',
    description:
      'The key pairs that can sign access tokens, newest first. A key pair that is bound to some merchant accounts sees only pairs bound to these.',
    scope: 'api-key-pairs.read',
    ...common,
    query: ListAPIKeyPairsQuery,
    paged: true,
    returns: [200, APIKeyPairs],
    handle: (ctx, { page }) => listAPIKeyPairs(ctx, page),
  }),
  route({
    id: 'createAPIKeyPair',
    method: 'POST',
    path: '/api-key-pairs',
    summary: 'Create an API key pair',
    description:
      'The private key is in the answer and nowhere else: keep it. Roles and merchant accounts can only be given by a caller that has them itself.',
    scope: 'api-key-pairs.write',
    ...common,
    body: NewAPIKeyPair,
    example: ({ merchantAccountId }) => ({
      display_name: 'Shop back end',
      role_ids: [fullAccess],
      merchant_account_ids: [merchantAccountId],
    }),
    returns: [201, APIKeyPair],
    handle: (ctx, { body }) => createAPIKeyPair(ctx, body),
  }),
  route({
    id: 'getAPIKeyPair',
    method: 'GET',
    path: '/api-key-pairs/{api_key_pair_id}',
    summary: 'Get an API key pair',
    scope: 'api-key-pairs.read',
    ...common,
    params: APIKeyPairPath,
    returns: [200, APIKeyPair],
    handle: (ctx, { params }) => getAPIKeyPair(ctx, params.api_key_pair_id),
  }),
  route({
    id: 'updateAPIKeyPair',
    method: 'PUT',
    path: '/api-key-pairs/{api_key_pair_id}',
    summary: 'Update an API key pair',
    description:
      'What is left out keeps its value. A pair set inactive is refused by every process within five seconds.',
    scope: 'api-key-pairs.write',
    ...common,
    params: APIKeyPairPath,
    body: APIKeyPairUpdate,
    example: () => ({ display_name: 'Shop back end, renamed' }),
    returns: [200, APIKeyPair],
    handle: (ctx, { params, body }) => updateAPIKeyPair(ctx, params.api_key_pair_id, body),
  }),
  route({
    id: 'deleteAPIKeyPair',
    method: 'DELETE',
    path: '/api-key-pairs/{api_key_pair_id}',
    summary: 'Delete an API key pair',
    description: 'For good. Its tokens are refused by every process within five seconds.',
    scope: 'api-key-pairs.write',
    ...common,
    params: APIKeyPairPath,
    returns: [204],
    handle: (ctx, { params }) => deleteAPIKeyPair(ctx, params.api_key_pair_id),
  }),
]
