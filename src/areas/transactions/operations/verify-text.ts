import { compile } from '../../../platform/validator.ts'
import { Transaction } from '../schema/transaction.ts'
import type { TransactionRow } from '../store/rows.ts'
import { rendering, renderAgain, renderTransaction } from './render.ts'
import type { Checks, Value } from './verify-checks.ts'

const problemsOf = compile(Transaction)
type Fields = Record<string, unknown>

/** The stored text against a fresh rendering, byte by byte, and the whole answer against its schema. */
export function checkText(checks: Checks, row: TransactionRow): void {
  checks.same('rendering', rendering, row.rendering)
  let fresh: ReturnType<typeof renderAgain>
  let answer: unknown
  try {
    fresh = renderAgain(row)
    answer = JSON.parse(renderTransaction(row))
  } catch {
    checks.same('stored text', 'JSON', 'something else')
    return
  }
  compare(checks, 'summary', `{${fresh.summary}}`, `{${row.summary}}`)
  compare(checks, 'details', `{${fresh.details}}`, `{${row.details}}`)
  compare(checks, 'payment_method', fresh.payment_method, row.payment_method)
  compare(checks, 'payment_service', fresh.payment_service, row.payment_service)
  const [first] = problemsOf(answer)
  const problem = first ? `${first.instancePath} ${first.message ?? 'is wrong'}`.trim() : null
  checks.same('answer fits its schema', null, problem)
}

/** Names the first field that differs. Names and addresses of buyers are not for terminals and logs: of what is no plain value nothing is shown. */
function compare(checks: Checks, name: string, expected: string | null, found: string | null): void {
  if (expected === found || expected === null || found === null) {
    checks.same(`${name} is there`, expected !== null, found !== null)
    return
  }
  const [fresh, stored] = [expected, found].map((text) => JSON.parse(text) as Fields)
  const field = Object.keys(fresh ?? {}).find((key) => JSON.stringify(fresh?.[key]) !== JSON.stringify(stored?.[key]))
  if (field === undefined) {
    checks.holds(name, false, `the same ${expected.length} characters`, `${found.length} others`)
    return
  }
  checks.holds(`${name}.${field}`, false, shown(fresh?.[field]), shown(stored?.[field]))
}

function shown(value: unknown): Value {
  if (typeof value === 'object' && value !== null) return 'an object'
  return typeof value === 'string' ? value.slice(0, 60) : ((value ?? null) as Value)
}
