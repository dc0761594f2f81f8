import { route } from '../../../http/route.ts'
import { TransactionPath } from '../schema/transaction.ts'
import { getLine, listLines } from './operations/read.ts'
import {
  ChargebackReversals,
  Chargebacks,
  RefundSettlement,
  RefundSettlements,
  Settlement,
  SettlementPath,
  Settlements,
} from './schema.ts'

const common = { method: 'GET', scope: 'transactions.read', merchantAccount: 'one' } as const
const given = { transaction_id: { intent: 'capture' } }
const reported = 'Known from the statements of payment services with `settlement_reporting_enabled`. Newest first.'

export const statementRoutes = [
  route({
    ...common,
    id: 'listTransactionChargebacks',
    path: '/transactions/{transaction_id}/chargebacks',
    summary: 'List the chargebacks of a transaction',
    description: `Money that the cardholder's bank took back. ${reported}`,
    params: TransactionPath,
    returns: [200, Chargebacks],
    handle: (ctx, { params }) => listLines(ctx, params.transaction_id, 'chargeback'),
  }),
  route({
    ...common,
    id: 'listTransactionChargebackReversals',
    path: '/transactions/{transaction_id}/chargeback-reversals',
    summary: 'List the chargeback reversals of a transaction',
    description: `Chargebacks that were won: the money came back. ${reported}`,
    params: TransactionPath,
    returns: [200, ChargebackReversals],
    handle: (ctx, { params }) => listLines(ctx, params.transaction_id, 'chargeback-reversal'),
  }),
  route({
    ...common,
    id: 'listTransactionSettlements',
    path: '/transactions/{transaction_id}/settlements',
    summary: 'List the settlements of a transaction',
    description: `Captured money that was paid out. ${reported}`,
    params: TransactionPath,
    returns: [200, Settlements],
    handle: (ctx, { params }) => listLines(ctx, params.transaction_id, 'settlement'),
  }),
  route({
    ...common,
    id: 'getTransactionSettlement',
    path: '/transactions/{transaction_id}/settlements/{settlement_id}',
    summary: 'Get a settlement',
    params: SettlementPath,
    given,
    returns: [200, Settlement],
    handle: (ctx, { params }) => getLine(ctx, params, 'settlement'),
  }),
  route({
    ...common,
    id: 'listTransactionRefundSettlements',
    path: '/transactions/{transaction_id}/refund-settlements',
    summary: 'List the refund settlements of a transaction',
    description: `Refunds that were taken off what is paid out. ${reported}`,
    params: TransactionPath,
    returns: [200, RefundSettlements],
    handle: (ctx, { params }) => listLines(ctx, params.transaction_id, 'refund-settlement'),
  }),
  route({
    ...common,
    id: 'getTransactionRefundSettlement',
    path: '/transactions/{transaction_id}/refund-settlements/{settlement_id}',
    summary: 'Get a refund settlement',
    params: SettlementPath,
    given,
    returns: [200, RefundSettlement],
    handle: (ctx, { params }) => getLine(ctx, params, 'refund-settlement'),
  }),
]
