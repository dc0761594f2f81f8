import type { Outcome, PaymentConnector } from '../../../connectors/payment.ts'
import type { Context } from '../../../context.ts'
import { withDeadline } from '../../../deadline.ts'
import type { UsableService } from './routing.ts'

/** A provider that has not answered by then may still do what it was asked for: the outcome is unknown, not bad. */
export const providerDeadlineMs = 10_000

/** Whatever goes wrong on the way to a provider, it may have done its part. */
export async function ask<Answer>(
  ctx: Pick<Context, 'log'>,
  service: Pick<UsableService, 'id' | 'connector'>,
  call: (connector: PaymentConnector, signal: AbortSignal) => Promise<Answer>,
): Promise<Answer | Extract<Outcome, { result: 'unknown' }>> {
  try {
    return await withDeadline(providerDeadlineMs, (signal) => call(service.connector, signal))
  } catch (error) {
    ctx.log.warn('a provider did not answer', { resource_id: service.id, error })
    return { result: 'unknown' }
  }
}
