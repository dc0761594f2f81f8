import { route } from '../../../http/route.ts'
import { TransactionPath } from '../schema/transaction.ts'
import { listTransactionEvents } from './operations.ts'
import { ListTransactionEventsQuery, TransactionEvents } from './schema.ts'

export const transactionEventRoutes = [
  route({
    id: 'listTransactionEvents',
    method: 'GET',
    path: '/transactions/{transaction_id}/events',
    summary: 'List the events of a transaction',
    description: 'Its timeline, newest first: what was asked, what the provider answered, how the status moved.',
    scope: 'transactions.read',
    merchantAccount: 'one',
    params: TransactionPath,
    query: ListTransactionEventsQuery,
    paged: true,
    returns: [200, TransactionEvents],
    handle: (ctx, { params, page }) => listTransactionEvents(ctx, params.transaction_id, page),
  }),
]
