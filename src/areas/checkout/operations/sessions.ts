import { randomUUID } from 'node:crypto'
import { accountOf, type Context } from '../../../context.ts'
import { notFound, ValidationFailure } from '../../../errors.ts'
import { transact } from '../../../platform/postgres.ts'
import { sourcingProblems } from '../../../sourcing.ts'
import { audit } from '../../audit-logs/operations.ts'
import { type CheckoutSession, type CheckoutSessionInput, shortestLife } from '../schema.ts'
import { deleteSession, findSession, insertSession, type SessionRow, updateSession } from '../store.ts'
import { present } from './present.ts'
import { forgetCard } from './pay.ts'

/** The id is what a browser shows to send card data, so it is random throughout, unlike the ids of everything else. */
export async function createCheckoutSession(ctx: Context, input: CheckoutSessionInput): Promise<CheckoutSession> {
  return await transact(ctx, async (ctx) => {
    const now = ctx.now()
    const row = await insertSession(
      ctx.db,
      {
        merchant_account_id: accountOf(ctx),
        id: randomUUID(),
        amount: input.amount ?? null,
        currency: input.currency ?? null,
        country: input.country ?? null,
        intent: input.intent ?? null,
        payment_source: input.payment_source ?? null,
        merchant_initiated: input.merchant_initiated ?? null,
        is_subsequent_payment: input.is_subsequent_payment ?? null,
        payment_service_id: input.payment_service_id ?? null,
        cart_items: toJson(input.cart_items) ?? null,
        metadata: toJson(input.metadata) ?? null,
        airline: toJson(input.airline) ?? null,
        buyer: toJson(input.buyer) ?? null,
        expires_at: after(now, input.expires_in ?? shortestLife),
      },
      now,
    )
    if (!row) throw new Error('a session was not inserted')
    refuseOddSourcing(row)
    await auditSession(ctx, 'created', row)
    return present(row)
  })
}

export async function getCheckoutSession(ctx: Context, id: string): Promise<CheckoutSession> {
  const row = await findSession(ctx.db, ctx.accounts, id, ctx.now())
  if (!row) throw notFound()
  return present(row)
}

export async function updateCheckoutSession(
  ctx: Context,
  id: string,
  { expires_in, cart_items, metadata, airline, buyer, ...input }: CheckoutSessionInput,
): Promise<CheckoutSession> {
  return await transact(ctx, async (ctx) => {
    const now = ctx.now()
    const change = {
      ...input,
      cart_items: toJson(cart_items),
      metadata: toJson(metadata),
      airline: toJson(airline),
      buyer: toJson(buyer),
      expires_at: expires_in === undefined ? undefined : after(now, expires_in),
    }
    const row = await updateSession(ctx.db, ctx.accounts, id, change, now)
    if (!row) throw notFound()
    refuseOddSourcing(row)
    await auditSession(ctx, 'updated', row)
    return present(row)
  })
}

/** The row goes first; a number that stays behind has no owner, and the sweep removes it. */
export async function deleteCheckoutSession(ctx: Context, id: string): Promise<void> {
  const row = await transact(ctx, async (ctx) => {
    const deleted = await deleteSession(ctx.db, ctx.accounts, id, ctx.now())
    if (!deleted) throw notFound()
    await auditSession(ctx, 'deleted', deleted)
    return deleted
  })
  await forgetCard(ctx, { merchantAccountId: row.merchant_account_id, id })
}

const toJson = (value: object | null | undefined) => (value ? JSON.stringify(value) : value)
const after = (now: Date, seconds: number) => new Date(now.getTime() + Math.round(seconds * 1000))

/** What is left open is for the payment to say, and is looked at then; `store` too. */
function refuseOddSourcing({ payment_source, merchant_initiated, is_subsequent_payment }: SessionRow): void {
  if (payment_source === null || merchant_initiated === null || is_subsequent_payment === null) return
  const sourcing = { payment_source, merchant_initiated, is_subsequent_payment }
  const problems = sourcingProblems({ ...sourcing, store: false, isStoredMethod: true })
  if (problems.length > 0) throw new ValidationFailure(problems.map((problem) => ({ location: 'body', ...problem })))
}

export const auditSession = (ctx: Context, action: 'created' | 'updated' | 'deleted', row: SessionRow) =>
  audit(ctx, action, {
    type: 'checkout-session',
    id: row.id,
    name: row.label ?? row.id,
    merchantAccountId: row.merchant_account_id,
  })
