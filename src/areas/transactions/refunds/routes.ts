import { route } from '../../../http/route.ts'
import { TransactionPath } from '../schema/transaction.ts'
import { getRefund, listRefunds } from './operations/read.ts'
import { createRefund, refundAll } from './operations/refund.ts'
import { NewRefund, Refund, RefundAll, RefundPath, Refunds, TransactionRefundPath } from './schema.ts'

const given = { transaction_id: { intent: 'capture' } }

export const refundRoutes = [
  route({
    id: 'listTransactionRefunds',
    method: 'GET',
    path: '/transactions/{transaction_id}/refunds',
    summary: 'List the refunds of a transaction',
    description: 'Newest first, at most 100.',
    scope: 'transactions.read',
    merchantAccount: 'one',
    params: TransactionPath,
    returns: [200, Refunds],
    handle: (ctx, { params }) => listRefunds(ctx, params.transaction_id),
  }),
  route({
    id: 'createRefund',
    method: 'POST',
    path: '/transactions/{transaction_id}/refunds',
    summary: 'Refund a transaction',
    description:
      'Gives back what was captured, all of it or a part, as often as something is left. A refund that the provider needs time for is `processing`.',
    scope: 'transactions.write',
    merchantAccount: 'one',
    idempotent: true,
    params: TransactionPath,
    given,
    body: NewRefund,
    bodyOptional: true,
    example: () => ({ amount: 500, reason: 'Returned goods' }),
    returns: [201, Refund],
    handle: (ctx, { params, body, idempotencyKey }) => createRefund(ctx, params.transaction_id, body, idempotencyKey),
  }),
  route({
    id: 'refundAll',
    method: 'POST',
    path: '/transactions/{transaction_id}/refunds/all',
    summary: 'Refund everything',
    description: 'One refund for each instrument that has something left to give back.',
    scope: 'transactions.write',
    merchantAccount: 'one',
    idempotent: true,
    params: TransactionPath,
    given,
    body: RefundAll,
    bodyOptional: true,
    example: () => ({ reason: 'Order canceled' }),
    returns: [201, Refunds],
    handle: (ctx, { params, body, idempotencyKey }) => refundAll(ctx, params.transaction_id, body, idempotencyKey),
  }),
  route({
    id: 'getTransactionRefund',
    method: 'GET',
    path: '/transactions/{transaction_id}/refunds/{refund_id}',
    summary: 'Get a refund of a transaction',
    scope: 'transactions.read',
    merchantAccount: 'one',
    params: TransactionRefundPath,
    given,
    returns: [200, Refund],
    handle: (ctx, { params }) => getRefund(ctx, params.refund_id, params.transaction_id),
  }),
  route({
    id: 'getRefund',
    method: 'GET',
    path: '/refunds/{refund_id}',
    summary: 'Get a refund',
    scope: 'transactions.read',
    merchantAccount: 'one',
    params: RefundPath,
    given,
    returns: [200, Refund],
    handle: (ctx, { params }) => getRefund(ctx, params.refund_id),
  }),
]
