import type { Db } from '../../../platform/postgres.ts'
import { uuid } from '../mock-card/connector.ts'
import { announce } from '../notifications.ts'
import { type Decision, decisionOf } from './rules.ts'
import { type ApprovalRow, type DecidedRow, decideApproval, findApproval } from './store.ts'

export interface ApprovalOptions {
  db: Db
  now: (merchantAccountId: string) => Date
}

/** `withdrawn`: the merchant took the payment back. */
export interface Approval extends ApprovalRow {
  status: Decision | 'open' | 'withdrawn'
}

/** Undefined when nobody was asked under this id. */
export async function openApproval({ db, now }: ApprovalOptions, id: string): Promise<Approval | undefined> {
  const row = uuid.test(id) ? await findApproval(db, id) : undefined
  return row && { ...row, status: statusOf(row, now(row.merchant_account_id)) }
}

function statusOf({ state, is_withdrawn, is_awaited, expires_at }: ApprovalRow, now: Date): Approval['status'] {
  if (is_withdrawn) return 'withdrawn'
  if (state !== 'open') return state
  return is_awaited && expires_at > now ? 'open' : 'expired'
}

/** A buyer who does not come back has decided all the same. */
const tell = (
  db: Db,
  merchantAccountId: string,
  { service_id: serviceId, notification_url: notificationUrl, reference, wait_ms: inMs, notifications }: DecidedRow,
) =>
  announce(
    db,
    { merchantAccountId, serviceId, notificationUrl },
    { reference, kind: 'operation', inMs },
    notifications ?? undefined,
  )

/** Takes the buyer's answer, if one is still awaited. Undefined when nobody was asked under this id. */
export async function answerApproval(
  options: ApprovalOptions,
  id: string,
  pressed: Decision,
): Promise<Approval | undefined> {
  const approval = await openApproval(options, id)
  if (approval?.status === 'open') {
    const decision = decisionOf(pressed, approval.scenario_result)
    const { merchant_account_id: merchantAccountId } = approval
    const decided = await decideApproval(options.db, approval, decision, options.now(merchantAccountId))
    if (decided) await tell(options.db, merchantAccountId, decided)
  }
  return approval
}
