import { newId } from '../../../ids.ts'
import type { Db } from '../../../platform/postgres.ts'
import type { AuthorizeCall, PaymentConnector } from '../../payment.ts'
import { askForEnrolment } from '../approvals/ask.ts'
import { approvalRules } from '../approvals/refusals.ts'
import { answersTo } from '../approvals/rules.ts'
import { isEnrolled } from '../approvals/store.ts'
import { answer, answering, createProcessor, type Plan, type ProcessorOptions, uuid } from '../mock-card/connector.ts'
import type { Judge } from '../mock-card/by-rule.ts'
import { approved, decideByAmount, refused } from '../mock-card/rules.ts'
import { mockRedirectDefinition } from './definition.ts'

/** A method whose buyers pay on a page of its own. It keeps the same books as the card processor, and amounts mean the same. */
export function createMockRedirect(options: ProcessorOptions): PaymentConnector {
  const { db, pageUrl = (id: string) => id } = options
  return {
    ...createProcessor(options, mockRedirectDefinition, (call, id, _at, judge) => planRedirect(db, call, id, judge)),

    enrol: (call) =>
      answering(call.signal, async () => {
        const id = newId()
        const question = {
          kind: 'enrolment',
          card_suffix: null,
          approval: call.approval,
          answers: answersTo(id, approved(id)),
        } as const
        const row = await askForEnrolment(db, pageUrl, call, { id, question })
        return answer(row, { id, paymentId: null, kind: 'enrol', amount: null })
      }),
  }
}

/** Every payment is approved by its buyer, unless they have enrolled. */
async function planRedirect(db: Db, call: AuthorizeCall, id: string, judge: Judge): Promise<Plan> {
  const { approval, enrolment, service } = call
  const decision = judge(decideByAmount(call, id), (refusal) => (refusal ? refused(id, refusal) : approved(id)))
  if (enrolment !== null) {
    const isKnown =
      uuid.test(enrolment) && (await isEnrolled(db, service.merchantAccountId, service.serviceId, enrolment))
    if (isKnown) return { decision }
    return { decision: { ...decision, answer: refused(id, approvalRules.noSuchEnrolment) } }
  }
  if (!approval) return { decision: { ...decision, answer: refused(id, approvalRules.noWayBack) } }
  return {
    decision,
    question: { kind: 'redirect', card_suffix: null, approval, answers: answersTo(id, decision.answer) },
  }
}
