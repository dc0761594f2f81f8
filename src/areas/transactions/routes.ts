import { route } from '../../http/route.ts'
import { cancelTransaction } from './operations/cancel.ts'
import { captureTransaction } from './operations/capture.ts'
import { createTransaction } from './operations/create.ts'
import { getTransaction, listTransactions } from './operations/read.ts'
import { syncTransaction, updateTransaction } from './operations/update.ts'
import { voidTransaction } from './operations/void.ts'
import { CaptureInput, NewTransaction, TransactionUpdate } from './schema/create.ts'
import { ListTransactionsQuery } from './schema/filters.ts'
import {
  Transaction,
  TransactionCancel,
  TransactionOrCapture,
  TransactionOrVoid,
  TransactionPath,
  Transactions,
} from './schema/transaction.ts'

export const transactionRoutes = [
  route({
    id: 'listTransactions',
    method: 'GET',
    path: '/transactions',
    summary: 'List transactions',
    description:
      'Payments, newest first; each filter narrows the list. Filters that each match many transactions and together only old ones or none can take too long to look through: the answer is then 504 and says which filter to add.',
    scope: 'transactions.read',
    merchantAccount: 'list',
    query: ListTransactionsQuery,
    paged: true,
    returns: [200, Transactions],
    handle: (ctx, { query, page }) => listTransactions(ctx, query, page),
  }),
  route({
    id: 'createTransaction',
    method: 'POST',
    path: '/transactions',
    summary: 'Make a payment',
    description:
      'Reserves the amount on the card (`intent` authorize) or charges it at once (`intent` capture). A payment that is declined or fails is not an error of the request: the answer is 201 with the status and an `error_code`. When the provider does not answer in time the transaction is `processing`, and we find out. Where the buyer is asked first (3-D Secure, a redirect method) it is `buyer_approval_pending`: send the buyer to `payment_method.approval_url`; afterwards they are at your `redirect_url`, with `transaction_id` and `transaction_status` added.',
    scope: ['transactions.write', 'embed'],
    limited: 'token',
    merchantAccount: 'one',
    idempotent: true,
    body: NewTransaction,
    needs: ['payment_service_id'],
    example: ({ unique, ids }) => ({
      amount: 1299,
      currency: 'EUR',
      country: 'DE',
      payment_method: {
        method: 'card' as const,
        number: '4111111111111111',
        expiration_date: '12/30',
        security_code: '123',
      },
      payment_service_id: ids['payment_service_id'] ?? null,
      external_identifier: `order-${unique}`,
      metadata: { order: unique },
    }),
    returns: [201, Transaction],
    handle: (ctx, { body, idempotencyKey }) => createTransaction(ctx, body, idempotencyKey),
  }),
  route({
    id: 'getTransaction',
    method: 'GET',
    path: '/transactions/{transaction_id}',
    summary: 'Get a transaction',
    scope: 'transactions.read',
    merchantAccount: 'one',
    params: TransactionPath,
    returns: [200, Transaction],
    handle: (ctx, { params }) => getTransaction(ctx, params.transaction_id),
  }),
  route({
    id: 'updateTransaction',
    method: 'PUT',
    path: '/transactions/{transaction_id}',
    summary: 'Update a transaction',
    description:
      'What is left out keeps its value; `metadata` and `connection_options` are replaced as a whole. Status and amounts are what the provider says and cannot be written.',
    scope: 'transactions.write',
    merchantAccount: 'one',
    params: TransactionPath,
    body: TransactionUpdate,
    example: ({ unique }) => ({ external_identifier: `order-${unique}`, metadata: { order: unique, shipped: 'yes' } }),
    returns: [200, Transaction],
    handle: (ctx, { params, body }) => updateTransaction(ctx, params.transaction_id, body),
  }),
  route({
    id: 'captureTransaction',
    method: 'POST',
    path: '/transactions/{transaction_id}/capture',
    summary: 'Capture a transaction',
    description:
      'Takes the money that is reserved. A final capture of a part releases the rest; with `final` false more captures may follow. More than was authorized only within the over-capture allowance of the merchant account.',
    scope: 'transactions.write',
    merchantAccount: 'one',
    idempotent: true,
    prefers: 'transaction-capture',
    params: TransactionPath,
    body: CaptureInput,
    bodyOptional: true,
    example: () => ({ amount: 1000 }),
    returns: [200, TransactionOrCapture],
    handle: (ctx, { params, body, idempotencyKey, isPreferred }) =>
      captureTransaction(ctx, params.transaction_id, body, { idempotencyKey, isPreferred }),
  }),
  route({
    id: 'voidTransaction',
    method: 'POST',
    path: '/transactions/{transaction_id}/void',
    summary: 'Void a transaction',
    description: 'Lets go of money that is reserved. Not after a capture: refund then.',
    scope: 'transactions.write',
    merchantAccount: 'one',
    idempotent: true,
    prefers: 'transaction-void',
    params: TransactionPath,
    returns: [200, TransactionOrVoid],
    handle: (ctx, { params, idempotencyKey, isPreferred }) =>
      voidTransaction(ctx, params.transaction_id, { idempotencyKey, isPreferred }),
  }),
  route({
    id: 'cancelTransaction',
    method: 'POST',
    path: '/transactions/{transaction_id}/cancel',
    summary: 'Cancel a transaction',
    description: 'Takes back a payment that is still pending.',
    scope: 'transactions.write',
    merchantAccount: 'one',
    params: TransactionPath,
    given: {
      // The sandbox does not decide payments with this card at once.
      transaction_id: { payment_method: { method: 'card', number: '4000000000002008', expiration_date: '12/30' } },
    },
    returns: [200, TransactionCancel],
    handle: (ctx, { params }) => cancelTransaction(ctx, params.transaction_id),
  }),
  route({
    id: 'syncTransaction',
    method: 'POST',
    path: '/transactions/{transaction_id}/sync',
    summary: 'Sync a transaction',
    description: 'Asks the provider what became of everything that is still open, instead of waiting for us to do it.',
    scope: 'transactions.read',
    merchantAccount: 'one',
    params: TransactionPath,
    changes: false,
    returns: [200, Transaction],
    handle: (ctx, { params }) => syncTransaction(ctx, params.transaction_id),
  }),
]
