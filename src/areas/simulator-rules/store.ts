import type { RuleConditions, RuleNotifications, RuleOutcome } from './schema.ts'
import { type PageRequest, type PageRows, readPage } from '../../page.ts'
import { type Accounts, within } from '../../platform/accounts.ts'
import { type Db, read, writeAtOnce } from '../../platform/postgres.ts'
import { sql } from '../../platform/sql.ts'

/** What can be set. */
export interface RuleSettings {
  description: string | null
  conditions: RuleConditions
  outcome: RuleOutcome
  notifications: RuleNotifications | null
  /** Null: for ever. */
  remaining_uses: number | null
  active: boolean
}

export interface SimulatorRuleRow extends RuleSettings {
  merchant_account_id: string
  id: string
  version: number
  created_at: Date
  updated_at: Date
}

const columns = sql`
  merchant_account_id, id, description, conditions, outcome, notifications, remaining_uses, active, version, created_at, updated_at`

export async function findSimulatorRule(db: Db, accounts: Accounts, id: string): Promise<SimulatorRuleRow | undefined> {
  const [row] = await read<SimulatorRuleRow>(
    db,
    accounts,
    (visible) => sql`select ${columns} from simulator_rules where ${visible(sql`merchant_account_id`)} and id = ${id}`,
  )
  return row
}

export function listSimulatorRuleRows(
  db: Db,
  accounts: Accounts,
  page: PageRequest,
): Promise<PageRows<SimulatorRuleRow>> {
  return readPage(db, accounts, page, {
    columns,
    from: sql`simulator_rules`,
    where: (visible) => visible(sql`merchant_account_id`),
    id: sql`id`,
    account: sql`merchant_account_id`,
  })
}

/** Those that can still apply, newest first. */
export function findRulesInForce(db: Db, merchantAccountId: string): Promise<SimulatorRuleRow[]> {
  return read(
    db,
    [merchantAccountId],
    (visible) => sql`
      select ${columns} from simulator_rules
      where ${visible(sql`merchant_account_id`)} and active and remaining_uses is distinct from 0
      order by id desc`,
  )
}

/** False when there is none left, or no such rule any more. */
export async function takeUse(db: Db, merchantAccountId: string, id: string): Promise<boolean> {
  const taken = await writeAtOnce(
    db,
    [merchantAccountId],
    sql`
      update simulator_rules set remaining_uses = remaining_uses - 1
      where merchant_account_id = ${merchantAccountId} and id = ${id} and active and remaining_uses > 0
      returning id`,
  )
  return taken.length > 0
}

export async function insertSimulatorRule(
  db: Db,
  row: RuleSettings & { merchant_account_id: string; id: string; created_at: Date },
): Promise<SimulatorRuleRow> {
  const [inserted] = await db.run<SimulatorRuleRow>(sql`
    insert into simulator_rules (merchant_account_id, id, description, conditions, outcome, notifications, remaining_uses, active,
      created_at, updated_at)
    values (${row.merchant_account_id}, ${row.id}, ${row.description}, ${JSON.stringify(row.conditions)},
      ${JSON.stringify(row.outcome)}, ${toJson(row.notifications)}, ${row.remaining_uses}, ${row.active}, ${row.created_at},
      ${row.created_at})
    returning ${columns}`)
  if (!inserted) throw new Error('a simulator rule was not inserted')
  return inserted
}

/** In a transaction: nobody else changes it until then. */
export async function lockSimulatorRule(db: Db, accounts: Accounts, id: string): Promise<SimulatorRuleRow | undefined> {
  const [row] = await db.run<SimulatorRuleRow>(sql`
    select ${columns} from simulator_rules where ${within(accounts, sql`merchant_account_id`)} and id = ${id} for update`)
  return row
}

export async function updateSimulatorRuleRow(
  db: Db,
  accounts: Accounts,
  id: string,
  settings: RuleSettings,
  updatedAt: Date,
): Promise<SimulatorRuleRow | undefined> {
  const [updated] = await db.run<SimulatorRuleRow>(sql`
    update simulator_rules
    set description = ${settings.description}, conditions = ${JSON.stringify(settings.conditions)},
      outcome = ${JSON.stringify(settings.outcome)}, notifications = ${toJson(settings.notifications)},
      remaining_uses = ${settings.remaining_uses}, active = ${settings.active}, version = version + 1, updated_at = ${updatedAt}
    where ${within(accounts, sql`merchant_account_id`)} and id = ${id}
    returning ${columns}`)
  return updated
}

/** The rule as it was; undefined when there is none within reach. */
export async function deleteSimulatorRuleRow(
  db: Db,
  accounts: Accounts,
  id: string,
): Promise<SimulatorRuleRow | undefined> {
  const [deleted] = await db.run<SimulatorRuleRow>(sql`
    delete from simulator_rules where ${within(accounts, sql`merchant_account_id`)} and id = ${id} returning ${columns}`)
  return deleted
}

const toJson = (value: object | null) => (value ? JSON.stringify(value) : null)
