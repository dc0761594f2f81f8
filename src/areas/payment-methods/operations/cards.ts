import type { Context } from '../../../context.ts'
import { findPaymentMethod, findPaymentMethods, type PaymentMethodRow } from '../store.ts'

/** Which of these are cards that the account updater can be asked about. */
export async function findUpdatableCards(
  ctx: Pick<Context, 'db' | 'accounts'>,
  ids: readonly string[],
  schemes: readonly string[],
): Promise<string[]> {
  const rows = await findPaymentMethods(ctx.db, ctx.accounts, ids)
  return rows
    .filter(({ method, status }) => method === 'card' && (status === 'succeeded' || status === 'processing'))
    .filter(({ scheme }) => scheme !== null && schemes.includes(scheme))
    .map(({ id }) => id)
}

/** The card itself, for talking to a provider. Undefined when it is gone. */
export async function readStoredCard(
  ctx: Pick<Context, 'db' | 'vault'>,
  merchantAccountId: string,
  id: string,
): Promise<{ number: string; expirationDate: string; scheme: string } | undefined> {
  const row = await findPaymentMethod(ctx.db, [merchantAccountId], id)
  if (!row?.expiration_date || !row.scheme) return undefined
  const number = await ctx.vault.readCard({ merchantAccountId, id })
  return number === undefined ? undefined : { number, expirationDate: row.expiration_date, scheme: row.scheme }
}

/** What is known of a stored method, for a payment with it. */
export const findStoredMethod = (
  ctx: Pick<Context, 'db' | 'accounts'>,
  id: string,
): Promise<PaymentMethodRow | undefined> => findPaymentMethod(ctx.db, ctx.accounts, id)
