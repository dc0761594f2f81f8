import type { Context } from '../../../context.ts'
import { notFound } from '../../../errors.ts'
import { Rendered } from '../../../rendered.ts'
import { transact } from '../../../platform/postgres.ts'
import { audit } from '../../audit-logs/operations.ts'
import { isUndecided } from '../rules.ts'
import { findOpenAttempts } from '../store/attempts.ts'
import { findTransaction } from '../store/transactions.ts'
import { auditedAs } from './capture.ts'
import { wrongState } from './follow-up.ts'
import { serviceOf } from './providers.ts'
import { type ActionResult, renderAction } from './render.ts'
import { cancelAt, resolveAttempt, settleAuthorization } from './resolve.ts'

/** Takes back a payment that nobody has decided yet. */
export async function cancelTransaction(ctx: Context, id: string): Promise<Rendered> {
  const row = await findTransaction(ctx.db, ctx.accounts, id)
  if (!row) throw notFound()
  const [attempt] = await findOpenAttempts(ctx.db, ctx.accounts, id)
  if (!isUndecided(row.status) || attempt?.action !== 'authorize')
    throw wrongState(`Only a pending transaction can be canceled; this one is ${row.status}`)
  await transact(ctx, (ctx) => audit(ctx, 'canceled', auditedAs(row)))
  const service = await serviceOf(ctx, attempt)
  if (!service) return answer(ctx, id, { status: 'failed', code: 'service_error' })

  // What the provider has never heard of, or has decided meanwhile, needs no canceling.
  const isDecided = await resolveAttempt(ctx, attempt)
  const [open] = isDecided ? [] : await findOpenAttempts(ctx.db, ctx.accounts, id)
  const outcome = open?.provider_reference ? await cancelAt(ctx, service, open, row) : undefined
  if (open && outcome?.result === 'approved') await settleAuthorization(ctx, open, { result: 'canceled' })
  return answer(ctx, id)
}

async function answer(ctx: Context, id: string, told?: Pick<ActionResult, 'status' | 'code'>): Promise<Rendered> {
  const row = await findTransaction(ctx.db, ctx.accounts, id)
  if (!row) throw notFound()
  const status = isUndecided(row.status) ? 'pending' : row.status === 'authorization_failed' ? 'succeeded' : 'failed'
  const result = {
    status,
    code: null,
    rawCode: row.raw_response_code,
    rawDescription: row.raw_response_description,
    ...told,
  } as const
  return new Rendered(renderAction('transaction-cancel', result, row))
}
