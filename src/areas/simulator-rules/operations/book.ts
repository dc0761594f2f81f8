import { BoundedMap } from '../../../bounded-map.ts'
import type { SimulatorRule, SimulatorRules } from '../../../connectors/simulator.ts'
import type { Db } from '../../../platform/postgres.ts'
import { findRulesInForce, takeUse } from '../store.ts'

/** Rules are asked for with every payment of the sandbox, so each process keeps them for a second. */

const keptMs = 1_000
const mostAccounts = 10_000

interface Page {
  readAt: number
  rules: Promise<readonly SimulatorRule[]>
}

/** By the pool that they were read from: what this process changes, it forgets at once. */
const books = new WeakMap<Db, BoundedMap<string, Page>>()

export function createRuleBook(db: Db): SimulatorRules {
  const pages = new BoundedMap<string, Page>(mostAccounts)
  books.set(db, pages)
  return {
    of(merchantAccountId) {
      const kept = pages.get(merchantAccountId)
      if (kept && performance.now() - kept.readAt < keptMs) return kept.rules
      const page = { readAt: performance.now(), rules: load(db, merchantAccountId) }
      pages.set(merchantAccountId, page)
      page.rules.catch(() => pages.get(merchantAccountId) === page && pages.delete(merchantAccountId))
      return page.rules
    },
    use: (merchantAccountId, ruleId) => takeUse(db, merchantAccountId, ruleId),
  }
}

export const forgetRules = (db: Db, merchantAccountId: string): void => books.get(db)?.delete(merchantAccountId)

async function load(db: Db, merchantAccountId: string): Promise<readonly SimulatorRule[]> {
  const rows = await findRulesInForce(db, merchantAccountId)
  return rows.map(({ id, conditions, outcome, notifications, remaining_uses }) => ({
    id,
    conditions,
    outcome,
    notifications,
    isCounted: remaining_uses !== null,
  }))
}
