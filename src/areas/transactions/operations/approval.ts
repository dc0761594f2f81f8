import { randomUUID } from 'node:crypto'
import { longestWindowMs, redirectProblems, usualWindowMs } from '../../../approval.ts'
import type { Approval } from '../../../connectors/payment.ts'
import type { Context } from '../../../context.ts'
import type { Problem } from '../../../sourcing.ts'
import type { UsableService } from '../../payment-services/operations/routing.ts'
import type { Payment } from '../schema/create.ts'

/** Asking the buyer: 3-D Secure of a card, or the page of a redirect method. */

export interface PlannedApproval {
  /** Random: in the address of the return it is the only credential. */
  id: string
  redirectUrl: string
  expiresAt: Date
}

/** Undefined when nobody can be asked: no buyer is there, there is no way back, or no provider would. */
export function planApproval(
  input: Pick<Payment, 'payment_method' | 'merchant_initiated' | 'approval_expires_at'>,
  services: readonly UsableService[],
  now: Date,
): PlannedApproval | undefined {
  const redirectUrl = input.payment_method?.redirect_url
  if (!redirectUrl || input.merchant_initiated || !services.some(mayAsk)) return undefined
  const expiresAt = input.approval_expires_at
    ? new Date(input.approval_expires_at)
    : new Date(now.getTime() + usualWindowMs)
  return { id: randomUUID(), redirectUrl, expiresAt }
}

const mayAsk = ({ threeDSecure, connector }: UsableService) => threeDSecure || connector.definition.mode === 'redirect'

/** What a provider is told of it. */
export function approvalFor(
  ctx: Pick<Context, 'baseUrl'>,
  planned: PlannedApproval | undefined,
  service: UsableService,
): Approval | null {
  if (!planned || !mayAsk(service)) return null
  return {
    returnUrl: `${ctx.baseUrl}/approvals/${planned.id}`,
    expiresAt: planned.expiresAt,
    threeDSecure: service.threeDSecure,
  }
}

export function approvalProblems(
  { payment_method: method, approval_expires_at: expires }: Payment,
  now: Date,
): Problem[] {
  const left = expires ? new Date(expires).getTime() - now.getTime() : 1
  return [
    ...redirectProblems(method?.redirect_url, '/payment_method/redirect_url'),
    ...(left > 0 && left <= longestWindowMs
      ? []
      : [
          {
            pointer: '/approval_expires_at',
            type: 'value_error.range',
            message: 'Must be in the future, and within 24 hours',
          },
        ]),
  ]
}
