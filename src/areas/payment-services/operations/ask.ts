import type { Outcome, PaymentConnector } from '../../../connectors/payment.ts'
import type { Context } from '../../../context.ts'
import type { UsableService } from './routing.ts'

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
