import { Crash, type Fault, type FaultName } from './faults.ts'
import { type Decision, type Outcome, type Payment, Provider, type Question } from './provider.ts'
import { type Attempt, isUndecided, newTransaction, type NewTransaction, type Transaction } from './records.ts'

/** What the API must have on record, in memory and one thing at a time. */

const minute = 60_000
export const checkAfter = (checks: number) => [minute, 5 * minute, 60 * minute][Math.min(checks, 3)] ?? 24 * 60 * minute

export class Model {
  readonly provider = new Provider()
  readonly transactions: Transaction[] = []
  /** Calls that are still on their way. */
  readonly late: (() => void)[] = []
  now = 0

  /** The one call of a request: what the request hears of it. */
  call(fault: FaultName | undefined, perform: () => Outcome): Outcome {
    if (fault === 'call lost') return { result: 'unknown' }
    if (fault === 'refused elsewhere') return { result: 'declined', code: 'service_decline', retriable: true }
    if (fault === 'call late') {
      this.late.push(perform)
      return { result: 'unknown' }
    }
    const outcome = perform()
    return fault === 'answer lost' ? { result: 'unknown' } : outcome
  }

  /** `onBegun`: with the intent; `onSettled`: with the outcome. Throws when the process dies. */
  create(
    input: NewTransaction,
    { id, createdAt, fault }: { id: string; createdAt: number; fault: Fault | undefined },
    onBegun: (transaction: Transaction) => void,
    onSettled: (transaction: Transaction) => void,
  ): Transaction {
    const { services, asking, patienceMs = 0 } = input.profile
    const transaction = newTransaction(id, input, this.now)
    const { approvalExpiresAt } = transaction
    this.transactions.push(transaction)
    onBegun(transaction)
    if (services === 0) onSettled(transaction)
    const openAt = (service: number) =>
      this.open(transaction, 'authorize', { amount: input.amount, service, movement: undefined })
    for (let service = 0, attempt = services > 0 ? openAt(0) : undefined; attempt; service += 1) {
      if (service === 0) attempt.nextCheck = createdAt + checkAfter(0)
      const { reference } = attempt
      const trouble = fault?.nth === service ? fault.name : undefined
      const asks = approvalExpiresAt !== undefined && asking?.includes(service)
      const call = { ...input, asksUntil: asks ? approvalExpiresAt + patienceMs : undefined }
      const outcome = this.converse(transaction, trouble, () => this.provider.authorize(reference, call, this.now))
      const isRefused = outcome.result === 'declined' || outcome.result === 'failed'
      const hasNext = isRefused && outcome.retriable && service + 1 < services
      const isOurs = this.settleAuthorization(transaction, attempt, outcome, { hasNext })
      if (isOurs && !hasNext) onSettled(transaction)
      attempt = isOurs && hasNext ? openAt(service + 1) : undefined
      if (attempt) transaction.service = service + 1
      if (trouble === 'crash after outcome') throw new Crash()
    }
    return transaction
  }

  open(
    transaction: Transaction,
    action: Attempt['action'],
    { amount, service, movement }: Pick<Attempt, 'amount' | 'service' | 'movement'>,
  ): Attempt {
    const attempt: Attempt = {
      reference: `${transaction.id}-${transaction.attempts.length}`,
      action,
      service,
      amount,
      state: 'open',
      result: null,
      error: null,
      checks: 0,
      nextCheck: this.now + checkAfter(0),
      isKnown: false,
      movement,
    }
    transaction.attempts.push(attempt)
    return attempt
  }

  /** From the recorded intent to the provider's answer, with what goes wrong in between. */
  converse(transaction: Transaction, fault: FaultName | undefined, perform: () => Outcome): Outcome {
    if (fault === 'crash at intent') throw new Crash()
    if (fault === 'sync at intent') this.sync(transaction)
    const outcome = this.call(fault, perform)
    if (fault === 'crash after answer') throw new Crash()
    if (fault === 'sync after answer') this.sync(transaction)
    return outcome
  }

  /** False when somebody else has settled it. */
  settleAuthorization(
    transaction: Transaction,
    attempt: Attempt,
    outcome: Outcome | Ending,
    { hasNext }: { hasNext: boolean },
  ): boolean {
    if (!this.#note(transaction, attempt, outcome)) return false
    const { amount } = transaction
    if (hasNext) return true
    // Who has heard less than others meanwhile has nothing to say.
    if (attempt.state !== 'done' && transaction.status !== 'processing') return false
    const sale = transaction.captures[0] ?? { amount, status: 'pending', final: true, error: null }
    switch (outcome.result) {
      case 'approved':
        Object.assign(transaction, { authorized: amount, limit: amount, intentOutcome: 'succeeded', capturing: 0 })
        if (transaction.intent === 'capture') {
          Object.assign(transaction, { status: 'capture_succeeded', captured: amount })
          transaction.captures = [{ ...sale, status: 'succeeded' }]
        } else {
          Object.assign(transaction, { status: 'authorization_succeeded', isCapturable: amount > 0 })
        }
        break
      case 'declined':
      case 'failed':
      case 'never_arrived':
      case 'canceled':
      case 'expired': {
        const error = errorOf(outcome)
        if ('isAuthorized' in outcome && outcome.isAuthorized) {
          // Only the charge was refused: its capture says why, and the money stays reserved.
          const reserved = { authorized: amount, limit: amount, capturing: 0, isCapturable: true }
          Object.assign(transaction, { status: 'authorization_succeeded', intentOutcome: 'failed', ...reserved })
          transaction.captures = [{ ...sale, status: outcome.result === 'declined' ? 'declined' : 'failed', error }]
          break
        }
        const status = outcome.result === 'declined' ? 'authorization_declined' : 'authorization_failed'
        Object.assign(transaction, { status, error, intentOutcome: 'failed' })
        break
      }
      case 'pending':
        if (outcome.isAuthorized) {
          const promised = { authorized: amount, limit: amount, capturing: amount }
          Object.assign(transaction, { status: 'capture_pending', ...promised })
          transaction.captures = [sale]
        }
        break
      case 'redirect':
        transaction.status = 'buyer_approval_pending'
        break
      case 'unknown':
        break
    }
    return true
  }

  /** What becomes of capture, void and refund. False when somebody else has settled it. */
  settleFollowUp(transaction: Transaction, attempt: Attempt, outcome: Outcome): boolean {
    if (!this.#note(transaction, attempt, outcome)) return false
    const { movement, amount } = attempt
    const isApproved = outcome.result === 'approved'
    if (outcome.result === 'pending' || outcome.result === 'unknown') return true
    if (movement) {
      movement.status = isApproved ? 'succeeded' : outcome.result === 'declined' ? 'declined' : 'failed'
      movement.error = errorOf(outcome)
    }
    if (attempt.action === 'refund') {
      transaction.refunding -= amount
      if (isApproved) transaction.refunded += amount
    } else if (attempt.action === 'capture') {
      transaction.capturing -= amount
      if (isApproved) transaction.captured += amount
      if (isApproved && movement?.final) transaction.isCapturable = false
      transaction.status = transaction.captured > 0 ? 'capture_succeeded' : 'authorization_succeeded'
    } else {
      if (isApproved) transaction.isCapturable = false
      transaction.status = isApproved ? 'authorization_voided' : 'authorization_succeeded'
    }
    return true
  }

  /** False when it is closed already. */
  #note(transaction: Transaction, attempt: Attempt, outcome: Outcome | Ending): boolean {
    if (attempt.state === 'done') return false
    if (outcome.result !== 'unknown' && outcome.result !== 'never_arrived') attempt.isKnown = true
    switch (outcome.result) {
      case 'unknown':
        Object.assign(attempt, { state: 'open', nextCheck: this.now + checkAfter(attempt.checks) })
        break
      case 'pending':
        Object.assign(attempt, { state: 'pending', nextCheck: this.now + outcome.askAfterMs })
        break
      case 'redirect':
        Object.assign(attempt, { state: 'pending', nextCheck: this.now + this.#buyersMs(transaction, attempt) })
        break
      case 'approved':
      case 'declined':
      case 'failed':
      case 'never_arrived':
      case 'canceled':
      case 'expired': {
        const result = outcome.result === 'approved' || outcome.result === 'declined' ? outcome.result : 'failed'
        Object.assign(attempt, { state: 'done', result, error: errorOf(outcome), nextCheck: null })
      }
    }
    return true
  }

  /** Until the usual time to ask, but not beyond the end of the buyer's; after that soon again. */
  #buyersMs({ approvalExpiresAt = 0 }: Transaction, { checks }: Attempt): number {
    const left = approvalExpiresAt - this.now
    return left > 0 ? Math.min(left, checkAfter(checks)) : checkAfter(0)
  }

  /** Asks about everything that is open in a transaction. */
  sync(transaction: Transaction, fault?: FaultName): void {
    for (const attempt of transaction.attempts) {
      if (attempt.state !== 'done') this.resolve(transaction, attempt, fault)
    }
  }

  /** True when it is known now. */
  resolve(transaction: Transaction, attempt: Attempt, fault?: FaultName): boolean {
    const outcome = this.call(fault, () => this.provider.sync(attempt.reference, this.now))
    if (outcome.result === 'redirect') this.#waitForBuyer(transaction, attempt, fault)
    else if (outcome.result === 'unknown' || outcome.result === 'pending') this.#note(transaction, attempt, outcome)
    else if (attempt.action === 'authorize') {
      this.settleAuthorization(transaction, attempt, outcome, { hasNext: false })
    } else this.settleFollowUp(transaction, attempt, outcome)
    return attempt.state === 'done'
  }

  /** The buyer has not decided. After their time the payment is taken back, and only if that succeeds it is over. */
  #waitForBuyer(transaction: Transaction, attempt: Attempt, fault: FaultName | undefined): void {
    const { status, approvalExpiresAt = 0 } = transaction
    const isAsked = status === 'buyer_approval_pending'
    const isOver = isAsked && approvalExpiresAt <= this.now && this.takeBack(attempt, fault).result === 'approved'
    this.settleAuthorization(transaction, attempt, { result: isOver ? 'expired' : 'redirect' }, { hasNext: false })
  }

  /** Takes back a payment that is not decided; the fault is that of the call itself. */
  takeBack(attempt: Attempt, fault: FaultName | undefined): Outcome {
    const payment = this.provider.find(attempt.reference)?.payment
    if (!payment) throw new Error('the model knows a payment that the provider does not')
    if (fault === 'cancel lost') return { result: 'unknown' }
    const call = { payment, amount: undefined, closes: false }
    const outcome = this.provider.followUp(`${attempt.reference}-cancel`, 'cancel', call, this.now)
    return fault === 'cancel unheard' ? { result: 'unknown' } : outcome
  }

  /** The buyer answers, and nobody at Florin hears of it. True when it counts. */
  decide(transaction: Transaction, decision: Decision): boolean {
    return transaction.attempts.some(({ reference }) => this.provider.decide(reference, decision, this.now))
  }

  /** What its buyer was asked. */
  questionOf({ attempts }: Transaction): Question | undefined {
    return attempts.map(({ reference }) => this.provider.find(reference)?.question).find((one) => one !== undefined)
  }

  /** A buyer is back: the provider is asked, if it matters. */
  comeBack(transaction: Transaction, fault?: FaultName): void {
    if (isUndecided(transaction)) this.sync(transaction, fault)
  }

  /** The job that asks about what is due. */
  janitor(fault?: FaultName): void {
    for (const transaction of this.transactions) {
      for (const attempt of transaction.attempts) {
        if (attempt.nextCheck === null || attempt.nextCheck > this.now) continue
        attempt.checks += 1
        attempt.nextCheck = this.now + checkAfter(attempt.checks)
        this.resolve(transaction, attempt, fault)
      }
    }
  }

  paymentOf(transaction: Transaction): Payment | undefined {
    // The last one that was asked: it approved, or refused only a charge of what it had reserved.
    const approved = transaction.attempts.findLast(({ action }) => action === 'authorize')
    return approved && this.provider.find(approved.reference)?.payment
  }
}

/** How an authorization ends without an answer to it. */
interface Ending {
  result: 'canceled' | 'expired'
}

function errorOf(outcome: Outcome | Ending): string | null {
  if (outcome.result === 'never_arrived') return 'service_network_error'
  if (outcome.result === 'canceled') return 'canceled'
  if (outcome.result === 'expired') return 'incomplete_buyer_approval'
  return 'code' in outcome ? outcome.code : null
}
