import { accountOf, type Context } from '../../../context.ts'
import type { SecretReference } from '../../../vault/client.ts'
import { claimSession as claim, findSession, type SessionRow } from '../store.ts'
import { parsed } from './present.ts'

/** What payments and payment methods take from a session. */

export const securityCode = 'security_code'

export type SessionInstrument =
  | { kind: 'card'; number: string; expirationDate: string }
  | { kind: 'stored'; paymentMethodId: string }

export interface OpenedSession {
  id: string
  /** As it was opened. */
  version: number
  isUsed: boolean
  /** What pays, or why nothing does. */
  instrument: SessionInstrument | { kind: 'none'; message: string }
  postalCode: string | null
  values: Pick<
    SessionRow,
    | 'amount'
    | 'currency'
    | 'country'
    | 'intent'
    | 'payment_source'
    | 'merchant_initiated'
    | 'is_subsequent_payment'
    | 'payment_service_id'
  > &
    ReturnType<typeof parsed>
}

type Reader = Pick<Context, 'db' | 'accounts' | 'vault' | 'now'>

/** Undefined when there is none in this account, or none any more. The security code stays where it is. */
export async function openSession(ctx: Reader, id: string): Promise<OpenedSession | undefined> {
  const row = await findSession(ctx.db, ctx.accounts, id, ctx.now())
  if (!row) return undefined
  const { amount, currency, country, intent, payment_source, merchant_initiated, is_subsequent_payment } = row
  return {
    id,
    version: row.version,
    isUsed: row.is_used,
    instrument: await instrumentOf(ctx, row),
    postalCode: row.postal_code,
    values: {
      amount,
      currency,
      country,
      intent,
      payment_source,
      merchant_initiated,
      is_subsequent_payment,
      payment_service_id: row.payment_service_id,
      ...parsed(row),
    },
  }
}

async function instrumentOf(ctx: Reader, row: SessionRow): Promise<OpenedSession['instrument']> {
  const none = (message: string) => ({ kind: 'none', message }) as const
  if (row.is_used) return none('The checkout session was used already')
  if (row.payment_method_id) return { kind: 'stored', paymentMethodId: row.payment_method_id }
  if (!row.fields_sent_at || !row.expiration_date)
    return none('The fields of the checkout session have not been sent yet')
  const number = await ctx.vault.readCard({ merchantAccountId: row.merchant_account_id, id: row.id })
  // Two browsers at once, a crash between vault and row, or a payment that seemed to go well and did not.
  if (number === undefined || (await ctx.vault.fingerprintCard(number)) !== row.fingerprint) {
    return none('The card of the checkout session is not there any more; send its fields again')
  }
  return { kind: 'card', number, expirationDate: row.expiration_date }
}

/** In the transaction that records the payment. False when another payment has the session, or it is not as it was opened. */
export const claimSession = (
  ctx: Pick<Context, 'db' | 'accounts' | 'now'>,
  session: OpenedSession,
  transactionId: string,
): Promise<boolean> => claim(ctx.db, ctx.accounts, session, transactionId, ctx.now())

/**
 * The code, for the one payment that asks first. It may be gone, or the vault away: the payment is on record by now and goes on without, which a
 * provider answers as it sees fit.
 */
export async function takeSecurityCode(
  ctx: Pick<Context, 'accounts' | 'vault' | 'log'>,
  id: string,
): Promise<string | null> {
  try {
    const taken = await ctx.vault.takeWaiting({ merchantAccountId: accountOf(ctx), id }, [securityCode])
    return taken[securityCode] ?? null
  } catch (error) {
    ctx.log.warn('a payment goes on without the security code of its checkout session', { error })
    return null
  }
}

/** What the caller asked for is done; a vault that does not answer now is cleaned up when the session expires, or by the sweep. */
export async function forgetCard(ctx: Pick<Context, 'vault' | 'log'>, reference: SecretReference): Promise<void> {
  try {
    await ctx.vault.remove([reference])
  } catch (error) {
    ctx.log.warn('the card of a checkout session stays in the vault until a sweep', {
      merchant_account_id: reference.merchantAccountId,
      error,
    })
  }
}
