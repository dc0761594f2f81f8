import { type PageRequest, type PageRows, readPage } from '../../page.ts'
import { type Accounts, within } from '../../platform/accounts.ts'
import { type Db, read } from '../../platform/postgres.ts'
import { orKept, sql } from '../../platform/sql.ts'
import type { Conditions, Outcome } from './schema.ts'

export interface ThreeDSScenarioRow {
  merchant_account_id: string
  id: string
  conditions: Conditions
  outcome: Outcome
  created_at: Date
  updated_at: Date
}

const columns = sql`merchant_account_id, id, conditions, outcome, created_at, updated_at`

export function listThreeDSScenarioRows(
  db: Db,
  accounts: Accounts,
  page: PageRequest,
): Promise<PageRows<ThreeDSScenarioRow>> {
  return readPage(db, accounts, page, {
    columns,
    from: sql`three_ds_scenarios`,
    where: (visible) => visible(sql`merchant_account_id`),
    id: sql`id`,
    account: sql`merchant_account_id`,
  })
}

/** All of an account, newest first. */
export function findThreeDSScenarios(db: Db, merchantAccountId: string): Promise<ThreeDSScenarioRow[]> {
  return read(
    db,
    [merchantAccountId],
    (visible) =>
      sql`select ${columns} from three_ds_scenarios where ${visible(sql`merchant_account_id`)} order by id desc`,
  )
}

export async function insertThreeDSScenario(
  db: Db,
  row: Omit<ThreeDSScenarioRow, 'updated_at'>,
): Promise<ThreeDSScenarioRow | undefined> {
  const [inserted] = await db.run<ThreeDSScenarioRow>(sql`
    insert into three_ds_scenarios (merchant_account_id, id, conditions, outcome, created_at, updated_at)
    values (${row.merchant_account_id}, ${row.id}, ${JSON.stringify(row.conditions)}, ${JSON.stringify(row.outcome)}, ${row.created_at},
      ${row.created_at})
    returning ${columns}`)
  return inserted
}

/** Replaces what is given. Undefined when there is no such scenario within reach. */
export async function updateThreeDSScenarioRow(
  db: Db,
  accounts: Accounts,
  id: string,
  { conditions, outcome }: { conditions: Conditions | undefined; outcome: Outcome | undefined },
  updatedAt: Date,
): Promise<ThreeDSScenarioRow | undefined> {
  const [updated] = await db.run<ThreeDSScenarioRow>(sql`
    update three_ds_scenarios
    set conditions = ${orKept(toJson(conditions), sql`conditions`)}, outcome = ${orKept(toJson(outcome), sql`outcome`)},
      updated_at = ${updatedAt}
    where ${within(accounts, sql`merchant_account_id`)} and id = ${id}
    returning ${columns}`)
  return updated
}

/** The scenario as it was; undefined when there is none within reach. */
export async function deleteThreeDSScenarioRow(
  db: Db,
  accounts: Accounts,
  id: string,
): Promise<ThreeDSScenarioRow | undefined> {
  const [deleted] = await db.run<ThreeDSScenarioRow>(sql`
    delete from three_ds_scenarios where ${within(accounts, sql`merchant_account_id`)} and id = ${id} returning ${columns}`)
  return deleted
}

const toJson = (value: object | undefined) => value && JSON.stringify(value)
