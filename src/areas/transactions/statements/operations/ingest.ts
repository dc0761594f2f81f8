import type { StatementLine } from '../../../../connectors/payment.ts'
import type { Context } from '../../../../context.ts'
import { emit } from '../../../../events/outbox.ts'
import { namedId } from '../../../../ids.ts'
import { transact } from '../../../../platform/postgres.ts'
import { ask } from '../../../payment-services/operations/ask.ts'
import type { UsableService } from '../../../payment-services/operations/routing.ts'
import type { System } from '../../operations/follow-up.ts'
import { serviceOf } from '../../operations/providers.ts'
import { timelineEntry, transactionTarget } from '../../operations/report.ts'
import { isRefused } from '../../rules.ts'
import type { TransactionRow } from '../../store/rows.ts'
import { findTransaction, insertTimeline, lockTransactionRow } from '../../store/transactions.ts'
import { firstCheckMs, nextCheckMs, timelineNames, totalsOf } from '../rules.ts'
import {
  checkSoon,
  claimChecks,
  findRefundsOf,
  insertLines,
  type LineRow,
  listLineRows,
  scheduleCheck,
  settleRefunds,
  settleTotals,
} from '../store.ts'

type Ingesting = System & Pick<Context, 'accounts'>

const batchSize = 50
/** How long whoever asks has for it, and when one that got no answer is asked again. */
const leaseMs = 60 * 60 * 1000

/** When a new payment is asked about first. Any of the services may get it in the end. */
export const firstStatementAt = (
  { created_at }: Pick<TransactionRow, 'created_at'>,
  services: readonly Pick<UsableService, 'reportsSettlements'>[],
): Date | null =>
  services.some(({ reportsSettlements }) => reportsSettlements) ? new Date(created_at.getTime() + firstCheckMs) : null

/** Asks for the statements of all payments whose time has come. Returns how many were asked for. */
export async function fetchStatements(ctx: Ingesting, signal: AbortSignal): Promise<number> {
  let asked = 0
  while (!signal.aborted) {
    const now = ctx.now()
    const until = new Date(now.getTime() + leaseMs)
    const due = await claimChecks(ctx.db, ctx.accounts, { now, until, limit: batchSize })
    for (const { merchant_account_id, transaction_id } of due) {
      asked += 1
      try {
        await ingestStatement({ ...ctx, accounts: [merchant_account_id] }, transaction_id)
      } catch (error) {
        ctx.log.error('a statement could not be fetched', { resource_id: transaction_id, error })
      }
    }
    if (due.length < batchSize) break
  }
  return asked
}

/** A refund of a payment that is settled will be reported too, and not as late as the payment would be asked about otherwise. */
export const checkRefund = (
  ctx: Pick<Context, 'db' | 'now'>,
  { merchant_account_id, id }: TransactionRow,
): Promise<void> => checkSoon(ctx.db, merchant_account_id, id, new Date(ctx.now().getTime() + firstCheckMs))

/**
 * Asks the provider what it reports of a payment, and writes down what is new. Asking again, or twice at once, changes nothing more. False when
 * the provider did not answer.
 */
export async function ingestStatement(ctx: Ingesting, transactionId: string): Promise<boolean> {
  const row = await findTransaction(ctx.db, ctx.accounts, transactionId)
  const service = row && (await serviceOf(ctx, row))
  if (!row || !service) return true
  const paymentReference = row.payment_service_transaction_id
  const isAsked = service.reportsSettlements && row.captured_amount > 0 && paymentReference !== null
  const lines = isAsked
    ? await ask(ctx, service, async (connector, signal) =>
        connector.statement ? connector.statement({ service: service.access, paymentReference, signal }) : [],
      )
    : []
  if (!Array.isArray(lines)) return false
  await transact({ ...ctx, accounts: [row.merchant_account_id] }, async (ctx) => {
    const after = await record(ctx, transactionId, service.id, lines)
    const next = after && service.reportsSettlements ? nextCheckMs(reported(after, ctx.now())) : undefined
    const at = next === undefined ? null : new Date(ctx.now().getTime() + next)
    await scheduleCheck(ctx.db, ctx.accounts, transactionId, at)
  })
  return true
}

const reported = (row: TransactionRow, now: Date) => ({
  ...row,
  isOver: isRefused(row.status) || row.status === 'authorization_voided',
  ageMs: now.getTime() - (row.captured_at ?? row.created_at).getTime(),
})

/** Under the transaction's lock, so that of two who bring the same lines one finds them there. */
async function record(
  ctx: Ingesting,
  transactionId: string,
  serviceId: string,
  lines: readonly StatementLine[],
): Promise<TransactionRow | undefined> {
  const before = await lockTransactionRow(ctx.db, ctx.accounts, transactionId)
  if (!before || lines.length === 0) return before
  const now = ctx.now()
  const refunds = await findRefundsOf(ctx.db, ctx.accounts, transactionId)
  const rows = lines.flatMap((line) => {
    const refundId = line.kind === 'refund-settlement' ? refunds.get(line.reference ?? '') : null
    if (refundId !== undefined) return [rowOf(line, before, { id: ctx.newId(), serviceId, refundId, now })]
    ctx.log.warn('a provider reports a refund that is none of ours', { resource_id: transactionId })
    return []
  })
  const added = await insertLines(ctx.db, rows)
  if (added.length === 0) return before
  const totals = totalsOf((await listLineRows(ctx.db, ctx.accounts, transactionId)) ?? [])
  const after = await settleTotals(ctx.db, ctx.accounts, transactionId, totals, now)
  if (!after) throw new Error('a transaction went away under its lock')
  if (added.some(({ refund_id }) => refund_id !== null)) {
    await settleRefunds(ctx.db, ctx.accounts, transactionId, now)
  }
  await insertTimeline(
    ctx.db,
    after.merchant_account_id,
    added.map((line) => entryOf(ctx, line)),
  )
  if (!before.settled && after.settled) {
    await emit(ctx, 'transaction.settled', {
      target: transactionTarget(after),
      merchantAccountId: after.merchant_account_id,
      sequence: after.version,
    })
  }
  return after
}

const rowOf = (
  line: StatementLine,
  { merchant_account_id, id: transaction_id }: TransactionRow,
  { id, serviceId, refundId, now }: { id: string; serviceId: string; refundId: string | null; now: Date },
): LineRow => ({
  merchant_account_id,
  transaction_id,
  id,
  kind: line.kind,
  payment_service_id: serviceId,
  provider_line_id: line.id,
  payment_service_report_id: namedId(line.reportId, serviceId),
  refund_id: refundId,
  posted_at: line.postedAt,
  currency: line.currency,
  amount: line.amount,
  exchange_rate: line.exchangeRate,
  commission: line.commission,
  interchange: line.interchange,
  markup: line.markup,
  scheme_fee: line.schemeFee,
  created_at: now,
})

const entryOf = (
  ctx: Pick<Context, 'newId'>,
  { transaction_id, id, kind, amount, currency, posted_at, refund_id }: LineRow,
) => timelineEntry(ctx, transaction_id, timelineNames[kind], { line_id: id, amount, currency, posted_at, refund_id })
