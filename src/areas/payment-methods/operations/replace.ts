import { describeCard } from '../../../cards/describe.ts'
import type { Context } from '../../../context.ts'
import type { Accounts } from '../../../platform/accounts.ts'
import { transact } from '../../../platform/postgres.ts'
import { enqueue } from '../../../queue.ts'
import { findSessions } from '../../checkout/operations/sweep.ts'
import { findOwningGiftCards } from '../../gift-cards/operations/cards.ts'
import { decideReplacement, type ReplacementTrigger } from '../rules.ts'
import {
  applyReplacementRow,
  findExisting,
  findExpiredWithReplacement,
  findPaymentMethod,
  type PaymentMethodRow,
  setReplacement,
} from '../store.ts'
import { report } from './change.ts'

type System = Pick<Context, 'db' | 'vault' | 'now' | 'log'>

/** What the account updater found: another number, another date, or both. */
export interface FoundDetails {
  number?: string
  expiration_date?: string
}

/** Keeps newer details of a card, and applies them at once where the specification says so. */
export async function keepReplacement(
  ctx: System,
  merchantAccountId: string,
  id: string,
  found: FoundDetails,
): Promise<void> {
  const accounts: Accounts = [merchantAccountId]
  const current = await findPaymentMethod(ctx.db, accounts, id)
  if (!current || current.method !== 'card' || current.expiration_date === null) return
  const reference = { merchantAccountId, id }
  const number = found.number ?? (await ctx.vault.readCard(reference))
  if (number === undefined) return
  const facts = await describeCard(ctx, { number, expiration_date: found.expiration_date ?? current.expiration_date })
  const fingerprint = found.number
    ? (await ctx.vault.storeCard(reference, found.number, 'replacement')).fingerprint
    : current.fingerprint
  const replacement = { ...facts, expires_at: facts.expires_at.toISOString(), fingerprint: fingerprint ?? '' }
  const row = await transact({ ...ctx, accounts }, async (ctx) => {
    const waiting = await setReplacement(ctx.db, accounts, id, replacement, ctx.now())
    if (waiting) await report(ctx, 'payment-method.updated', waiting, waiting.version)
    return waiting
  })
  if (!row) return
  if (found.number === undefined) await triggerReplacement(ctx, merchantAccountId, id, 'only_expiration_changed')
  else if (row.expires_at && row.expires_at <= ctx.now())
    await triggerReplacement(ctx, merchantAccountId, id, 'expired')
}

/**
 * Something happened to the card: applies a waiting replacement if it is one of the specification's triggers. Payments call
 * it with `declined:<error code>`. Returns the card's new details, or undefined when nothing changed.
 */
export async function triggerReplacement(
  ctx: System,
  merchantAccountId: string,
  id: string,
  trigger: ReplacementTrigger,
): Promise<PaymentMethodRow | undefined> {
  const accounts: Accounts = [merchantAccountId]
  const current = await findPaymentMethod(ctx.db, accounts, id)
  if (!current || decideReplacement(current.replacement !== null, trigger) !== 'apply') return undefined
  // The vault first: should we die before our own commit, the next trigger finds the number in place and finishes.
  await ctx.vault.applyReplacement({ merchantAccountId, id })
  return await transact({ ...ctx, accounts }, async (ctx) => {
    const replaced = await applyReplacementRow(ctx.db, accounts, id, ctx.now())
    if (replaced) await report(ctx, 'payment-method.updated', replaced, replaced.version)
    return replaced
  })
}

/** After a payment with a stored card was refused. The payment is answered whatever comes of this; what fails now is tried again. */
export async function replaceDeclined(
  ctx: System,
  merchantAccountId: string,
  id: string,
  errorCode: string | null,
): Promise<void> {
  if (errorCode === null || decideReplacement(true, `declined:${errorCode}`) !== 'apply') return
  try {
    await triggerReplacement(ctx, merchantAccountId, id, `declined:${errorCode}`)
  } catch (error) {
    ctx.log.warn('a waiting card replacement is applied later', { resource_id: id, error })
    const payload = { merchantAccountId, id, errorCode }
    await enqueue(ctx.db, { kind: replaceDeclinedKind, key: id, payload, runAt: new Date() })
  }
}

export const replaceDeclinedKind = 'card-replacement'

/** Applies replacements of cards in these accounts that have expired meanwhile. Returns how many. */
export async function replaceExpired(ctx: System & Pick<Context, 'accounts'>, signal: AbortSignal): Promise<number> {
  let count = 0
  while (!signal.aborted) {
    const due = await findExpiredWithReplacement(ctx.db, ctx.accounts, ctx.now(), 100)
    let applied = 0
    for (const { merchant_account_id, id } of due) {
      if (await triggerReplacement(ctx, merchant_account_id, id, 'expired')) applied += 1
    }
    count += applied
    if (due.length < 100 || applied === 0) break
  }
  return count
}

/** Removes numbers from the vault that no payment method, no checkout session and no gift card owns: what a crash between two commits left behind. */
export async function sweepVault(ctx: System, signal: AbortSignal, olderThanMs = 15 * 60 * 1000): Promise<number> {
  const createdBefore = new Date(ctx.now().getTime() - olderThanMs)
  let after: { merchantAccountId: string; id: string } | undefined
  let removed = 0
  while (!signal.aborted) {
    const owners = await ctx.vault.listOwners({ createdBefore, limit: 1_000, ...(after && { after }) })
    const found = [
      await findExisting(ctx.db, owners),
      await findSessions(ctx, owners),
      await findOwningGiftCards(ctx, owners),
    ].flat()
    const existing = new Set(found.map(({ merchant_account_id, id }) => `${merchant_account_id} ${id}`))
    const orphans = owners.filter(({ merchantAccountId, id }) => !existing.has(`${merchantAccountId} ${id}`))
    if (orphans.length > 0) await ctx.vault.remove(orphans)
    removed += orphans.length
    after = owners.at(-1)
    if (owners.length < 1_000) break
  }
  return removed
}
