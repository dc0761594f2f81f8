import { route } from '../../../http/route.ts'
import { Transaction, TransactionPath } from '../schema/transaction.ts'
import { reviewTransaction } from './operations.ts'
import { ReviewInput } from './schema.ts'

export const reviewRoutes = [
  route({
    id: 'reviewTransaction',
    method: 'POST',
    path: '/transactions/{transaction_id}/review',
    summary: 'Review a transaction in the sandbox',
    description:
      "Plays the people at the anti-fraud provider who look at payments with `pending_review`. Either word ends the review; the anti-fraud decision stays what it was. After `reject` it is the merchant's turn to void or refund. A payment that awaits no review stays as it is, as with a word that comes twice. Only in the sandbox.",
    scope: 'transactions.write',
    merchantAccount: 'one',
    params: TransactionPath,
    body: ReviewInput,
    example: () => ({ decision: 'accept' as const }),
    returns: [200, Transaction],
    handle: (ctx, { params, body }) => reviewTransaction(ctx, params.transaction_id, body),
  }),
]
