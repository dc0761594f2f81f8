import type { AntiFraudAnswer, DecisionCall } from '../../../connectors/anti-fraud.ts'
import type { Context } from '../../../context.ts'
import { TooLate, withDeadline } from '../../../deadline.ts'

/** Who is asked about the payments of an account. */
export interface AntiFraudGuard {
  id: string
  definitionId: string
  /** False: what is to be reviewed counts as accepted. */
  reviewsEnabled: boolean
}

/** `error`: the provider failed. `exception`: it did not answer in time. Neither keeps a payment from going on. */
export interface AntiFraudDecision {
  decision: AntiFraudAnswer['decision'] | 'error' | 'exception'
  /** What the provider said, where that is not what it counts as. */
  said?: AntiFraudAnswer['decision']
  fault?: string
}

/** A buyer is waiting. */
const deadlineMs = 2_000

export async function decide(
  ctx: Pick<Context, 'antiFraud' | 'log'>,
  guard: AntiFraudGuard,
  payment: Omit<DecisionCall, 'serviceId' | 'signal'>,
): Promise<AntiFraudDecision> {
  const connector = ctx.antiFraud.get(guard.definitionId)
  if (!connector) return { decision: 'skipped', fault: 'not part of this instance' }
  try {
    const answer = await withDeadline(deadlineMs, (signal) =>
      connector.decide({ ...payment, serviceId: guard.id, signal }),
    )
    return answer.decision === 'review' && !guard.reviewsEnabled ? { decision: 'accept', said: 'review' } : answer
  } catch (error) {
    ctx.log.warn('an anti-fraud provider gave no decision', { resource_id: guard.id, error })
    return error instanceof TooLate
      ? { decision: 'exception', fault: 'no answer in time' }
      : { decision: 'error', fault: 'the provider failed' }
  }
}
