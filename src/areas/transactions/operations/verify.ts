import type { Context } from '../../../context.ts'
import { transact } from '../../../platform/postgres.ts'
import {
  findStrangeOperations,
  findWrongBalances,
  type Place,
  readWholeTransactions,
  type WholeTransaction,
} from '../store/verify.ts'
import { type Checks, checkAmounts, checkAttempts, checkLines, checkStatus, type Value } from './verify-checks.ts'
import { checkGiftCards, checkSandbox } from './verify-sandbox.ts'
import { checkFindings } from './verify-findings.ts'
import { checkText } from './verify-text.ts'

/** Something that is said in two places, and not the same. */
export interface Difference {
  merchant_account_id: string
  /** Of the transaction; of the call, where the sandbox was asked for something that no transaction knows. */
  id: string
  what: string
  expected: Value
  found: Value
}

export interface Verification {
  transactions: number
  checks: number
  differences: number
}

const batchSize = 1_000
const mostStrange = 10_000

/** Recomputes everything that can be recomputed, of all transactions of the context's accounts. Changes nothing; the service may run meanwhile. */
export async function verifyTransactions(
  ctx: Pick<Context, 'db' | 'accounts'>,
  {
    onDifference,
    onProgress = () => undefined,
    batch = batchSize,
  }: { onDifference: (difference: Difference) => void; onProgress?: (transactions: number) => void; batch?: number },
): Promise<Verification> {
  const result: Verification = { transactions: 0, checks: 0, differences: 0 }
  const checksOf = (merchant_account_id: string, id: string): Checks => {
    const holds: Checks['holds'] = (what, isRight, expected, found) => {
      result.checks += 1
      if (isRight) return
      result.differences += 1
      onDifference({ merchant_account_id, id, what, expected, found })
    }
    return { holds, same: (what, expected, found) => holds(what, expected === found, expected, found) }
  }
  let after: Place | undefined
  for (;;) {
    const found: WholeTransaction[] = await transact(ctx, ({ db, accounts }) =>
      readWholeTransactions(db, accounts, after, batch),
    )
    for (const whole of found) {
      const checks = checksOf(whole.row.merchant_account_id, whole.row.id)
      checkAmounts(checks, whole)
      checkStatus(checks, whole)
      checkAttempts(checks, whole)
      checkLines(checks, whole)
      checkText(checks, whole.row)
      checkFindings(checks, whole)
      checkSandbox(checks, whole)
      checkGiftCards(checks, whole)
    }
    result.transactions += found.length
    after = found.at(-1)?.row
    if (found.length > 0) onProgress(result.transactions)
    if (found.length < batch) break
  }
  const strange = await transact(ctx, ({ db, accounts }) => findStrangeOperations(db, accounts, mostStrange))
  for (const { merchant_account_id, reference, kind, amount } of strange) {
    const { same } = checksOf(merchant_account_id, reference)
    same('sandbox operation', 'an attempt of ours', `a ${kind} of ${amount}`)
  }
  const wrong = await transact(ctx, ({ db, accounts }) => findWrongBalances(db, accounts, mostStrange))
  for (const { merchant_account_id, fingerprint, expected, balance } of wrong) {
    checksOf(merchant_account_id, fingerprint).same('sandbox gift card balance', expected, balance)
  }
  return result
}
