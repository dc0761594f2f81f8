import type { Context } from '../../../context.ts'
import type { SecretReference } from '../../../vault/client.ts'
import { deleteExpired, findExistingSessions, findExpired } from '../store.ts'

const batchSize = 500

/** Sessions past their time go, and their cards with them: the vault first, so that a crash between leaves a row to begin from again. */
export async function sweepSessions(
  ctx: Pick<Context, 'db' | 'accounts' | 'vault' | 'now'>,
  signal: AbortSignal,
): Promise<number> {
  let count = 0
  while (!signal.aborted) {
    const expired = await findExpired(ctx.db, ctx.accounts, ctx.now(), batchSize)
    if (expired.length > 0) {
      await ctx.vault.remove(expired)
      await deleteExpired(ctx.db, ctx.accounts, expired, ctx.now())
    }
    count += expired.length
    if (expired.length < batchSize) break
  }
  return count
}

/** Which of these owners of numbers are sessions. */
export const findSessions = (
  ctx: Pick<Context, 'db'>,
  references: readonly SecretReference[],
): Promise<{ merchant_account_id: string; id: string }[]> => findExistingSessions(ctx.db, references)
