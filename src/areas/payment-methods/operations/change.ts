import { expiresAt } from '../../../cards/expiration.ts'
import type { Context } from '../../../context.ts'
import { speaksFor } from '../../../embed.ts'
import type { EventName } from '../../../events/catalog.ts'
import { emit } from '../../../events/outbox.ts'
import { invalidBody, notFound } from '../../../errors.ts'
import { transact } from '../../../platform/postgres.ts'
import { audit } from '../../audit-logs/operations.ts'
import type { PaymentMethod, PaymentMethodUpdate } from '../schema.ts'
import { deleteRow, lockPaymentMethod, type PaymentMethodRow, updateDetails } from '../store.ts'
import { presenter, summarize } from './present.ts'

export async function updatePaymentMethod(
  ctx: Context,
  id: string,
  input: PaymentMethodUpdate,
): Promise<PaymentMethod> {
  const changedDate = input.expiration_date ?? undefined
  if (changedDate !== undefined && !expiresAt(changedDate)) {
    throw invalidBody('/expiration_date', 'value_error.range', 'The month must be 01 to 12')
  }
  return await transact(ctx, async (ctx) => {
    const current = await lockPaymentMethod(ctx.db, ctx.accounts, id)
    const row = current && (await updateDetails(ctx.db, ctx.accounts, id, changed(current, input), ctx.now()))
    if (!row) throw notFound()
    await audit(ctx, 'updated', {
      type: 'payment-method',
      id,
      name: row.label ?? id,
      merchantAccountId: row.merchant_account_id,
    })
    await report(ctx, 'payment-method.updated', row, row.version)
    return (await presenter(ctx, [row]))(row)
  })
}

/** Null clears the scheme's transaction id with its scheme; a new one without a scheme takes the card's. */
function changed(current: PaymentMethodRow, input: PaymentMethodUpdate) {
  const { scheme_transaction_id: transactionId, scheme_transaction_id_scheme: transactionScheme } = input
  const kept = transactionScheme === undefined ? current.scheme_transaction_id_scheme : transactionScheme
  return {
    expiration_date: input.expiration_date ?? current.expiration_date,
    expires_at: input.expiration_date ? (expiresAt(input.expiration_date) ?? null) : current.expires_at,
    scheme_transaction_id: transactionId === undefined ? current.scheme_transaction_id : transactionId,
    scheme_transaction_id_scheme:
      transactionId === null ? null : transactionId === undefined ? kept : (transactionScheme ?? current.scheme),
    transaction_link_id:
      input.transaction_link_id === undefined ? current.transaction_link_id : input.transaction_link_id,
  }
}

/** The row goes first, the number right after; should we die between, the sweep finds a number without an owner. */
export async function deletePaymentMethod(ctx: Context, id: string): Promise<void> {
  const row = await transact(ctx, async (ctx) => {
    const deleted = await deleteRow(ctx.db, ctx.accounts, id)
    if (!deleted || !speaksFor(ctx.caller, deleted.buyer_id)) throw notFound()
    await audit(ctx, 'deleted', {
      type: 'payment-method',
      id,
      name: deleted.label ?? id,
      merchantAccountId: deleted.merchant_account_id,
    })
    await report(ctx, 'payment-method.deleted', deleted, deleted.version + 1)
    return deleted
  })
  await forgetNumber(ctx, row.merchant_account_id, id)
}

/** What the caller asked for is done; a vault that does not answer now is cleaned up by the sweep. */
export async function forgetNumber(
  ctx: Pick<Context, 'vault' | 'log'>,
  merchantAccountId: string,
  id: string,
): Promise<void> {
  try {
    await ctx.vault.remove([{ merchantAccountId, id }])
  } catch (error) {
    ctx.log.warn('a number stays in the vault until the sweep', { merchant_account_id: merchantAccountId, error })
  }
}

export async function report(
  ctx: Pick<Context, 'db'>,
  name: Extract<EventName, `payment-method.${string}`>,
  row: PaymentMethodRow,
  sequence: number,
): Promise<void> {
  await emit(ctx, name, { target: summarize(row), merchantAccountId: row.merchant_account_id, sequence })
}
