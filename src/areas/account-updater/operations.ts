import { type AccountUpdater, updatableSchemes } from '../../connectors/account-updater.ts'
import { accountOf, type Context } from '../../context.ts'
import { ApiError } from '../../errors.ts'
import { timeOfId } from '../../ids.ts'
import { transact } from '../../platform/postgres.ts'
import { enqueue } from '../../queue.ts'
import { audit } from '../audit-logs/operations.ts'
import { getMerchantAccount } from '../merchant-accounts/operations.ts'
import { findUpdatableCards, readStoredCard } from '../payment-methods/operations/cards.ts'
import { keepReplacement } from '../payment-methods/operations/replace.ts'
import type { AccountUpdaterJob, NewAccountUpdaterJob } from './schema.ts'
import { findInquiry, finishInquiry, insertInquiries, insertUpdaterJob } from './store.ts'

export const inquiryKind = 'account-updater-inquiry'

/** Asks about cards; undefined when there is nothing to ask about. */
export async function createAccountUpdaterJob(
  ctx: Context,
  input: NewAccountUpdaterJob,
): Promise<AccountUpdaterJob | undefined> {
  const merchantAccountId = accountOf(ctx)
  const account = await getMerchantAccount(ctx, merchantAccountId)
  if (!account.account_updater_enabled) {
    throw new ApiError('bad_request', {
      message: 'The account updater is not enabled; set account_updater_enabled on the merchant account first',
    })
  }
  const cards = await findUpdatableCards(ctx, input.payment_method_ids, updatableSchemes)
  if (cards.length === 0) return undefined
  const id = ctx.newId()
  const createdAt = timeOfId(id)
  return await transact(ctx, async (ctx) => {
    const job = { merchantAccountId, id, createdAt }
    await insertUpdaterJob(ctx.db, job)
    const inquiries = await insertInquiries(
      ctx.db,
      job,
      cards.map((paymentMethodId) => ({ id: ctx.newId(), paymentMethodId })),
    )
    if (inquiries.length === 0) throw nothingToAsk
    for (const inquiry of inquiries) {
      await enqueue(ctx.db, {
        kind: inquiryKind,
        key: inquiry.id,
        payload: { merchantAccountId, inquiryId: inquiry.id },
        runAt: new Date(),
      })
    }
    await audit(ctx, 'created', { type: 'account-updater-job', id, name: id, merchantAccountId })
    return {
      type: 'account-updater-job' as const,
      id,
      merchant_account_id: merchantAccountId,
      inquiries: inquiries.map((inquiry) => ({
        type: 'account-updater-inquiry' as const,
        id: inquiry.id,
        payment_method_id: inquiry.payment_method_id,
      })),
      created_at: createdAt.toISOString(),
      updated_at: createdAt.toISOString(),
    }
  }).catch((error: unknown) => {
    if (error === nothingToAsk) return undefined
    throw error
  })
}

/** Undoes the transaction in which every card turned out to have a running inquiry. */
const nothingToAsk = new Error('every card has a running inquiry')

/** Asks the schemes about one card and keeps what they say. May run twice. */
export async function runInquiry(
  ctx: Pick<Context, 'db' | 'vault' | 'now' | 'log'>,
  updater: AccountUpdater,
  { merchantAccountId, inquiryId }: { merchantAccountId: string; inquiryId: string },
): Promise<void> {
  const accounts = [merchantAccountId]
  const inquiry = await findInquiry(ctx.db, accounts, inquiryId)
  if (inquiry?.status !== 'running') return
  const card = await readStoredCard(ctx, merchantAccountId, inquiry.payment_method_id)
  const update = card ? await updater.lookUp(card) : ({ result: 'unchanged' } as const)
  if (update.result === 'updated') {
    await keepReplacement(ctx, merchantAccountId, inquiry.payment_method_id, {
      ...(update.number && { number: update.number }),
      ...(update.expirationDate && { expiration_date: update.expirationDate }),
    })
  }
  const errorCode = update.result === 'failed' ? update.errorCode : null
  await transact({ ...ctx, accounts }, (ctx) =>
    finishInquiry(ctx.db, accounts, inquiryId, { status: update.result, errorCode }, ctx.now()),
  )
}
