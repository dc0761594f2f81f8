import { route } from '../../../http/route.ts'
import { TransactionPath } from '../schema/transaction.ts'
import { getCapture, listCaptures } from './operations.ts'
import { Capture, CapturePath, Captures } from './schema.ts'

const given = { transaction_id: { intent: 'capture' } }

export const captureRoutes = [
  route({
    id: 'listTransactionCaptures',
    method: 'GET',
    path: '/transactions/{transaction_id}/captures',
    summary: 'List the captures of a transaction',
    description: 'Newest first, at most 100.',
    scope: 'transactions.read',
    merchantAccount: 'one',
    params: TransactionPath,
    given,
    returns: [200, Captures],
    handle: (ctx, { params }) => listCaptures(ctx, params.transaction_id),
  }),
  route({
    id: 'getTransactionCapture',
    method: 'GET',
    path: '/transactions/{transaction_id}/captures/{capture_id}',
    summary: 'Get a capture',
    scope: 'transactions.read',
    merchantAccount: 'one',
    params: CapturePath,
    given,
    returns: [200, Capture],
    handle: (ctx, { params }) => getCapture(ctx, params),
  }),
]
