import type { GiftCardRefusal, GiftCardUnknown } from '../../../connectors/gift-card.ts'
import type { Context } from '../../../context.ts'
import { concurrentRequest, errorAnswer } from '../../../errors.ts'
import { type NewKey, releaseKey, storeAnswer } from '../../../idempotency/store.ts'
import { transact } from '../../../platform/postgres.ts'
import { Rendered } from '../../../rendered.ts'
import type { CallResult } from '../store/calls.ts'
import { noAnswer, refused } from './create.ts'

/** What activations and issuances have in common: the call is on record before it is made, and its end together with its answer. */

type Done = { result: 'succeeded'; providerReference: string | null; url?: string }

/**
 * Writes the outcome of a call and answers. `close` writes it to the call's row and says whether it was open; `onSuccess` does what
 * follows, in the same transaction, and gives the body of the answer.
 */
export async function settleCall<Outcome extends Done>(
  ctx: Context,
  key: NewKey | null,
  outcome: Outcome | GiftCardRefusal | GiftCardUnknown,
  {
    close,
    onSuccess,
  }: {
    close: (ctx: Context, result: CallResult) => Promise<boolean>
    onSuccess: (ctx: Context, outcome: Outcome) => Promise<object>
  },
): Promise<Rendered> {
  if (outcome.result === 'unknown') {
    if (key) await releaseKey(ctx.db, ctx.accounts, key, ctx.now())
    throw noAnswer(
      'The gift card provider did not answer; send the request again with the same Idempotency-Key to find out what became of it',
    )
  }
  return await transact(ctx, async (ctx) => {
    const answer =
      outcome.result === 'failed'
        ? errorAnswer(refused(outcome.errorCode))
        : { status: 201, body: await onSuccess(ctx, outcome) }
    const result = {
      providerReference: outcome.result === 'failed' ? null : outcome.providerReference,
      errorCode: outcome.result === 'failed' ? outcome.errorCode : null,
      url: outcome.result === 'failed' ? null : (outcome.url ?? null),
    }
    if (!(await close(ctx, result))) throw concurrentRequest()
    const body = JSON.stringify(answer.body)
    if (key) await storeAnswer(ctx.db, ctx.accounts, key, { status: answer.status, body })
    return new Rendered(body, { status: answer.status })
  })
}
