import { randomUUID } from 'node:crypto'
import { type Db, transact } from '../../../platform/postgres.ts'
import type { Approval, AuthorizeCall, EnrolCall, Redirect, ThreeDSecureOutcome } from '../../payment.ts'
import type { RuleNotifications } from '../../simulator.ts'
import { authorizationMs } from '../mock-card/catalogue.ts'
import type { Decision } from '../mock-card/rules.ts'
import { insertAuthorizations, insertEnrolment, type OperationRow, type WaitingCall } from '../mock-card/store.ts'
import type { Answers, ScenarioResult } from './rules.ts'
import { insertApproval, type NewApproval } from './store.ts'

/** The address of the page that asks; the pages are part of the api. */
export type PageUrl = (approvalId: string) => string

export interface Question extends Pick<NewApproval, 'kind' | 'card_suffix'> {
  approval: Approval
  answers: Answers
  scenarioResult?: ScenarioResult | null
  /** How the message travels that tells what the buyer has decided, if not as usual. */
  notifications?: RuleNotifications | null
  /** Of a challenge. */
  threeDSecure?: ThreeDSecureOutcome
}

/** A payment that is pending until its buyer has decided: nothing is reserved before. */
export function askForPayment(
  db: Db,
  pageUrl: PageUrl,
  call: AuthorizeCall,
  { id, decision, question, waitMs }: { id: string; decision: Decision; question: Question; waitMs: number },
): Promise<OperationRow | undefined> {
  const { service, reference, amount, currency, intent } = call
  const asked = { id, question, amount, waitMs: decision.delivery === 'later' ? waitMs : 0 }
  return ask(db, pageUrl, call, asked, async (db, waiting) => {
    const kind = intent === 'capture' ? 'sale' : 'authorize'
    const operation = {
      ...waiting,
      reference,
      id,
      kind,
      amount,
      lost: decision.delivery === 'lost',
      decided_at: waiting.due_at,
    } as const
    const payment = {
      id,
      service_id: service.serviceId,
      currency,
      state: 'pending',
      authorized: 0,
      captured: 0,
      // It may be approved until then.
      expires_at: new Date(question.approval.expiresAt.getTime() + authorizationMs),
      forces: decision.forces,
    } as const
    const [row] = await insertAuthorizations(db, service.merchantAccountId, [{ operation, payment }])
    return row
  })
}

export const askForEnrolment = (
  db: Db,
  pageUrl: PageUrl,
  call: EnrolCall,
  { id, question }: { id: string; question: Question },
): Promise<OperationRow | undefined> =>
  ask(db, pageUrl, call, { id, question, amount: null, waitMs: 0 }, (db, waiting) =>
    insertEnrolment(db, call.service.merchantAccountId, { ...waiting, id, reference: call.reference }),
  )

/** The call with its question, both or neither. One that was there before has its question already. */
async function ask(
  db: Db,
  pageUrl: PageUrl,
  { service, reference, currency }: Pick<AuthorizeCall, 'service' | 'reference' | 'currency'>,
  { id, question, amount, waitMs }: { id: string; question: Question; amount: number | null; waitMs: number },
  insertCall: (db: Db, waiting: WaitingCall) => Promise<OperationRow | undefined>,
): Promise<OperationRow | undefined> {
  const { approval, answers, scenarioResult, threeDSecure, notifications, ...shown } = question
  const approvalId = randomUUID()
  const outcome: Redirect = {
    result: 'redirect',
    url: pageUrl(approvalId),
    providerReference: id,
    rawCode: '01',
    rawDescription: 'the buyer must approve',
    ...(threeDSecure && { threeDSecure }),
  }
  return await transact({ db, accounts: [service.merchantAccountId] }, async ({ db }) => {
    const row = await insertCall(db, { outcome, due_at: approval.expiresAt, due_outcome: answers.expired })
    if (row?.id !== id) return row
    await insertApproval(db, {
      ...shown,
      merchant_account_id: service.merchantAccountId,
      id: approvalId,
      service_id: service.serviceId,
      reference,
      call_id: id,
      amount,
      currency,
      return_url: approval.returnUrl,
      scenario_result: scenarioResult ?? null,
      answers,
      wait_ms: waitMs,
      expires_at: approval.expiresAt,
      notification_url: service.notificationUrl,
      notifications: notifications ?? null,
    })
    return row
  })
}
