import type { Context } from '../../../context.ts'
import { isUnavailable } from '../../../platform/postgres.ts'
import { findService, type UsableService } from '../../payment-services/operations/routing.ts'

/**
 * The outcome of a call could not be written down. The promise that stands before it could, and the janitor will find out: until then
 * that is what is true.
 */
export async function orStillOpen<Result>(
  ctx: Pick<Context, 'log'>,
  promised: Result,
  settle: () => Promise<Result>,
): Promise<Result> {
  try {
    return await settle()
  } catch (error) {
    if (!isUnavailable(error)) throw error
    ctx.log.error('an outcome could not be recorded', { error })
    return promised
  }
}

/** The provider that a payment went to, for what follows. */
export async function serviceOf(
  ctx: Pick<Context, 'db' | 'vault' | 'connectors'>,
  row: { merchant_account_id: string; payment_service_id: string | null },
): Promise<UsableService | undefined> {
  if (row.payment_service_id === null) return undefined
  return findService({ ...ctx, accounts: [row.merchant_account_id] }, row.payment_service_id)
}
