import type { Outcome, PaymentConnector } from '../../../connectors/payment.ts'
import type { Context } from '../../../context.ts'
import { isUnavailable } from '../../../platform/postgres.ts'
import { findService, type UsableService } from '../../payment-services/operations/routing.ts'

/** A provider that has not answered by then may still do what it was asked for: the outcome is unknown, not bad. */
export const providerDeadlineMs = 10_000

/** Whatever goes wrong on the way to a provider, it may have done its part. */
export async function ask<Answer>(
  ctx: Pick<Context, 'log'>,
  service: Pick<UsableService, 'id' | 'connector'>,
  call: (connector: PaymentConnector, signal: AbortSignal) => Promise<Answer>,
): Promise<Answer | Extract<Outcome, { result: 'unknown' }>> {
  const signal = AbortSignal.timeout(providerDeadlineMs)
  const late = new Promise<never>((_resolve, reject) => {
    signal.addEventListener('abort', () => reject(new Error('the provider did not answer in time')), { once: true })
  })
  late.catch(() => undefined)
  try {
    return await Promise.race([call(service.connector, signal), late])
  } catch (error) {
    ctx.log.warn('a provider did not answer', { resource_id: service.id, error })
    return { result: 'unknown' }
  }
}

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
