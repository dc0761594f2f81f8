import { describeCard } from '../../../cards/describe.ts'
import { accountOf, type Context } from '../../../context.ts'
import { duplicateRecord } from '../../../errors.ts'
import { timeOfId } from '../../../ids.ts'
import { failpoint } from '../../../platform/failpoint.ts'
import { auditEntry } from '../../audit-logs/operations.ts'
import { findIdByExternalIdentifier, type NewCardRow } from '../store.ts'
import { storeRow } from './store-row.ts'

/** A card that is kept if the payment with it succeeds: `processing` until then. */
export type Storing = NewCardRow

/** The number goes to the vault first; one that no method comes to own is swept. */
export async function beginStoring(
  ctx: Context,
  card: {
    number: string
    expiration_date: string
    card_type?: 'credit' | 'debit' | 'prepaid' | null | undefined
    external_identifier?: string | null | undefined
  },
  buyerId: string | null,
): Promise<Storing> {
  const merchantAccountId = accountOf(ctx)
  const id = ctx.newId()
  const facts = await describeCard(ctx, card)
  const { fingerprint } = await ctx.vault.storeCard({ merchantAccountId, id }, card.number)
  await failpoint('create: number stored')
  return {
    ...facts,
    merchant_account_id: merchantAccountId,
    id,
    buyer_id: buyerId,
    external_identifier: card.external_identifier ?? null,
    status: 'processing',
    fingerprint,
    created_at: timeOfId(id),
  }
}

/** In the transaction of the payment's intent: a method of a payment that was never begun would wait for its end for ever. */
export async function insertStoring(ctx: Context, card: Storing): Promise<void> {
  const { id, label, merchant_account_id: merchantAccountId, external_identifier: identifier } = card
  const entry = auditEntry(ctx, 'created', { type: 'payment-method', id, name: label, merchantAccountId })
  if (await storeRow(ctx, { card, entry })) return
  const holder = identifier ? await findIdByExternalIdentifier(ctx.db, ctx.accounts, identifier) : undefined
  throw duplicateRecord('A payment method with this external identifier exists already', holder ?? null)
}
