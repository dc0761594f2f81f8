import { gathering } from '../../../gathering.ts'
import { newId } from '../../../ids.ts'
import { type Db, isUnavailable } from '../../../platform/postgres.ts'
import type {
  AuthorizeCall,
  FollowUpCall,
  Outcome,
  PaymentConnector,
  PaymentServiceDefinition,
  Unknown,
} from '../../payment.ts'
import { noRules, type SimulatorRules } from '../../simulator.ts'
import { askForPayment, type PageUrl, type Question } from '../approvals/ask.ts'
import type { Refusal } from './amounts.ts'
import {
  announceLater,
  delayed,
  errorCodes,
  followByRule,
  type Judge,
  judgeByRule,
  ruleOfAuthorization,
  ruleOfFollowUp,
  waitMsOf,
} from './by-rule.ts'
import { authorizationMs, forcesOf, houseRules, refusalsOf } from './catalogue.ts'
import { mockCardDefinition } from './definition.ts'
import { openNotification } from './notification.ts'
import { type Answer, approved, type Decision, pending, refused } from './rules.ts'
import {
  type FollowUp,
  findMoves,
  findOrRefuse,
  insertAuthorizations,
  insertFollowUp,
  type NewAuthorization,
  type OperationRow,
  settle,
} from './store.ts'
import { statementOf } from './statement.ts'
import { type LoadScenarios, noScenarios, planCard } from './three-d-secure.ts'

const unknown: Unknown = { result: 'unknown' }
export const uuid = /^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/

export interface ProcessorOptions {
  db: Db
  now: (merchantAccountId: string) => Date
  /** For who makes payments, as are the rules. */
  pageUrl?: PageUrl
  rules?: SimulatorRules
}

/** What becomes of an authorization, and what its buyer is asked first. */
export interface Plan {
  decision: Decision
  question?: Question
}

/** A card processor as another company would run it, with tables of its own. What it can be made to do: catalogue.ts. */
export const createMockCard = (options: ProcessorOptions & { scenarios?: LoadScenarios }): PaymentConnector =>
  createProcessor(options, mockCardDefinition, (call, id, at, judge) =>
    planCard(call, { id, at, judge, scenarios: options.scenarios ?? noScenarios }),
  )

/** What the processors of the sandbox do alike: their books, and what can happen to a payment in them. */
export function createProcessor(
  { db, now, pageUrl = (id) => id, rules = noRules }: ProcessorOptions,
  definition: PaymentServiceDefinition,
  plan: (call: AuthorizeCall, id: string, at: Date, judge: Judge) => Promise<Plan>,
): PaymentConnector {
  const followUp = (call: FollowUpCall, asked: Pick<FollowUp, 'kind' | 'amount' | 'closes'>) =>
    answering(call.signal, async () => {
      const id = newId()
      const rule = await ruleOfFollowUp(rules, call, asked)
      const { delivery, ruled } = followByRule(id, rule)
      if (delivery === 'never') return unknown
      const waitMs = waitMsOf(rule)
      const paymentId = uuid.test(call.paymentReference) ? call.paymentReference : null
      const { later, lost, refusals } = habits[asked.kind]
      const at = now(call.service.merchantAccountId)
      const row = await insertFollowUp(db, call.service.merchantAccountId, {
        ...asked,
        id,
        paymentId,
        reference: call.reference,
        serviceId: call.service.serviceId,
        currency: call.currency,
        now: at,
        dueAt: new Date(at.getTime() + waitMs),
        delivery,
        later,
        lost,
        answers: { ...answersTo(id, refusals), pending: pending(id, waitMs), ruled },
      })
      await announceLater(db, call, { id, row, inMs: waitMs, rule })
      return delayed(rule, call.signal, answer(row, { ...asked, id, paymentId }))
    })

  return {
    definition,
    simulates: { errorCodes },

    authorize: (call) =>
      answering(call.signal, async () => {
        const id = newId()
        const at = now(call.service.merchantAccountId)
        const rule = await ruleOfAuthorization(rules, call)
        const waitMs = waitMsOf(rule)
        const { decision, question } = await plan(call, id, at, (usual, answerTo) =>
          judgeByRule(call, usual, answerTo, rule),
        )
        if (decision.delivery === 'never') return unknown
        if (question) {
          const asked = { ...question, notifications: rule?.notifications ?? null }
          const row = await askForPayment(db, pageUrl, call, { id, decision, question: asked, waitMs })
          const kind = call.intent === 'capture' ? 'sale' : 'authorize'
          return answer(row, { id, paymentId: null, kind, amount: call.amount })
        }
        const isReserved = decision.delivery === 'charged later'
        const waits = isReserved || decision.delivery === 'later'
        const kind = call.intent !== 'capture' ? 'authorize' : isReserved ? 'late_sale' : 'sale'
        const isMade = !waits && decision.answer.result === 'approved'
        const row = await store(db, [call.service.merchantAccountId], {
          operation: {
            reference: call.reference,
            id,
            kind,
            amount: call.amount,
            lost: decision.delivery === 'lost',
            outcome: waits ? { ...pending(id, waitMs), ...(isReserved && { isAuthorized: true }) } : decision.answer,
            due_at: waits ? new Date(at.getTime() + waitMs) : null,
            due_outcome: waits ? standing(decision.answer, isReserved) : null,
            decided_at: at,
          },
          payment: {
            id,
            service_id: call.service.serviceId,
            currency: call.currency,
            state: waits ? 'pending' : !isMade ? 'refused' : kind === 'sale' ? 'completed' : 'authorized',
            authorized: isMade || isReserved ? call.amount : 0,
            captured: isMade && kind === 'sale' ? call.amount : 0,
            expires_at: new Date(at.getTime() + authorizationMs),
            forces: decision.forces,
          },
        })
        await announceLater(db, call, { id, row, inMs: waitMs, rule })
        return delayed(rule, call.signal, answer(row, { id, paymentId: null, kind, amount: call.amount }))
      }),

    capture: (call) => followUp(call, { kind: 'capture', amount: call.amount, closes: call.final }),
    void: (call) => followUp(call, { kind: 'void', amount: null, closes: false }),
    refund: (call) => followUp(call, { kind: 'refund', amount: call.amount, closes: false }),
    cancel: (call) => followUp(call, { kind: 'cancel', amount: null, closes: false }),

    sync: ({ service: { merchantAccountId }, reference, signal }) =>
      answering(signal, async () => {
        const found = await findOrRefuse(db, merchantAccountId, reference, newId())
        if (!found || found.kind === 'never_arrived') return { result: 'never_arrived' }
        if (!found.due_at) return outcomeOf(found)
        const { id, kind } = found
        const isPayment = kind === 'authorize' || kind === 'sale' || kind === 'late_sale'
        const settled = await settle(
          db,
          merchantAccountId,
          { reference, id, kind },
          {
            now: now(merchantAccountId),
            notAllowed: refused(id, isPayment ? houseRules.canceled : houseRules.notInThisState),
            tooMuch: refused(id, houseRules.tooMuch),
          },
        )
        if (settled) return outcomeOf(settled)
        if (found.outcome?.result === 'redirect') return found.outcome
        return {
          ...outcomeOf(found),
          ...pending(id),
          askAfterMs: Math.max(0, found.due_at.getTime() - now(merchantAccountId).getTime()),
        }
      }),

    statement: ({ service: { merchantAccountId, serviceId }, paymentReference, signal }) =>
      answering(signal, async () => {
        if (!uuid.test(paymentReference)) return []
        const moves = await findMoves(db, merchantAccountId, { paymentId: paymentReference, serviceId })
        return statementOf(moves, now(merchantAccountId))
      }),

    verify: ({ fields }) =>
      Promise.resolve(
        fields['merchant_id'] === 'invalid'
          ? { valid: false, errorCode: 'invalid_service_credentials', rawDescription: 'There is no such merchant' }
          : { valid: true },
      ),

    notification: async (service, message) => {
      const { webhook_secret: secret } = await service.secrets()
      return openNotification(message, { secret, now: now(service.merchantAccountId) })
    },
  }
}

/** A charge that is refused later leaves the reservation, and says so. */
const standing = (answer: Answer, isReserved: boolean): Answer =>
  isReserved && answer.result !== 'approved' ? { ...answer, isAuthorized: true } : answer

/** Authorizations of one merchant account that arrive together share a statement and its commit. */
const store = gathering<NewAuthorization, OperationRow | undefined>(
  async (db, [account = ''], authorizations) => {
    const rows = await insertAuthorizations(db, account, authorizations)
    const byReference = new Map(rows.map((row) => [row.reference, row]))
    return authorizations.map(({ operation }) => byReference.get(operation.reference))
  },
  // A statement cannot meet the same row twice.
  { keyOf: ({ operation }) => operation.reference },
)

const habitsOf = (kind: FollowUp['kind']) => ({
  later: forcesOf(kind, 'pending'),
  lost: forcesOf(kind, 'unknown'),
  refusals: refusalsOf(kind),
})
const habits = {
  capture: habitsOf('capture'),
  void: habitsOf('void'),
  refund: habitsOf('refund'),
  cancel: habitsOf('cancel'),
}

const answersTo = (id: string, refusals: ReadonlyMap<number, Refusal>) => ({
  approved: approved(id),
  refused: Object.fromEntries([...refusals].map(([amount, refusal]) => [amount, refused(id, refusal)])),
  noSuchPayment: refused(id, houseRules.noSuchPayment),
  otherCurrency: refused(id, houseRules.otherCurrency),
  notAllowed: refused(id, houseRules.notInThisState),
  lapsed: refused(id, houseRules.authorizationExpired),
  tooMuch: refused(id, houseRules.tooMuch),
})

/** What the caller hears: of a reference that was there before, what was said then, if it was about the same. */
export function answer(
  row: OperationRow | undefined,
  asked: { id: string; paymentId: string | null; kind: OperationRow['kind']; amount: number | null },
): Outcome {
  if (!row) return unknown
  if (row.id === asked.id) return row.lost ? unknown : outcomeOf(row)
  const isSame =
    row.kind === asked.kind &&
    (asked.amount === null || row.amount === asked.amount) &&
    (asked.paymentId === null || row.payment_id === null || row.payment_id === asked.paymentId)
  return isSame ? outcomeOf(row) : refused(null, houseRules.usedReference)
}

function outcomeOf({ outcome, amount }: OperationRow): Outcome {
  if (!outcome) return refused(null, houseRules.usedReference)
  return outcome.result === 'approved' ? { ...outcome, amount } : outcome
}

/** A processor that cannot be reached, or not in time, leaves the caller without an answer. */
export async function answering<Result>(signal: AbortSignal, work: () => Promise<Result>): Promise<Result | Unknown> {
  if (signal.aborted) return unknown
  const { promise, resolve } = Promise.withResolvers<Unknown>()
  const giveUp = () => resolve(unknown)
  signal.addEventListener('abort', giveUp, { once: true })
  try {
    return await Promise.race([work(), promise])
  } catch (error) {
    if (isUnavailable(error)) return unknown
    throw error
  } finally {
    signal.removeEventListener('abort', giveUp)
  }
}
