import type { Context } from '../../../context.ts'
import { notFound } from '../../../errors.ts'
import { Rendered } from '../../../rendered.ts'
import { transact } from '../../../platform/postgres.ts'
import { audit } from '../../audit-logs/operations.ts'
import { findOpenAttempts } from '../store/attempts.ts'
import type { TransactionRow } from '../store/rows.ts'
import { findTransaction } from '../store/transactions.ts'
import { auditedAs } from './capture.ts'
import { wrongState } from './follow-up.ts'
import { ask, serviceOf } from './providers.ts'
import { type ActionResult, renderAction } from './render.ts'
import { resolveAttempt, settleAuthorization } from './resolve.ts'

/** Takes back a payment that nobody has decided yet. */
export async function cancelTransaction(ctx: Context, id: string): Promise<Rendered> {
  const row = await findTransaction(ctx.db, ctx.accounts, id)
  if (!row) throw notFound()
  const [attempt] = await findOpenAttempts(ctx.db, ctx.accounts, id)
  if (!isPending(row) || !attempt)
    throw wrongState(`Only a pending transaction can be canceled; this one is ${row.status}`)
  await transact(ctx, (ctx) => audit(ctx, 'canceled', auditedAs(row)))
  const service = await serviceOf(ctx, attempt)
  if (!service) return answer(ctx, id, { status: 'failed', code: 'service_error' })

  // What the provider has never heard of, or has decided meanwhile, needs no canceling.
  const isDecided = await resolveAttempt(ctx, attempt)
  const [open] = isDecided ? [] : await findOpenAttempts(ctx.db, ctx.accounts, id)
  const outcome =
    open?.provider_reference &&
    (await ask(ctx, service, (connector, signal) =>
      connector.cancel({
        service: service.access,
        reference: `${open.id}-cancel`,
        signal,
        paymentReference: open.provider_reference ?? '',
        currency: row.currency,
      }),
    ))
  if (outcome && outcome.result === 'approved') await settleAuthorization(ctx, open, { result: 'canceled' })
  return answer(ctx, id)
}

const isPending = ({ status }: TransactionRow) => status === 'processing' || status === 'buyer_approval_pending'

async function answer(ctx: Context, id: string, told?: Pick<ActionResult, 'status' | 'code'>): Promise<Rendered> {
  const row = await findTransaction(ctx.db, ctx.accounts, id)
  if (!row) throw notFound()
  const status = isPending(row) ? 'pending' : row.status === 'authorization_failed' ? 'succeeded' : 'failed'
  const result = {
    status,
    code: null,
    rawCode: row.raw_response_code,
    rawDescription: row.raw_response_description,
    ...told,
  } as const
  return new Rendered(renderAction('transaction-cancel', result, row))
}
