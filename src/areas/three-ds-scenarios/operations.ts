import { isTestNumber } from '../../cards/test-numbers.ts'
import { accountOf, type Context } from '../../context.ts'
import { notFound, ValidationFailure } from '../../errors.ts'
import { timeOfId } from '../../ids.ts'
import { type PageRequest, toCollection } from '../../page.ts'
import { type Db, transact } from '../../platform/postgres.ts'
import type { Collection } from '../../schema.ts'
import { audit } from '../audit-logs/operations.ts'
import { scenarioProblems } from './rules.ts'
import type { NewThreeDSScenario, ThreeDSScenario, ThreeDSScenarioUpdate } from './schema.ts'
import {
  deleteThreeDSScenarioRow,
  findThreeDSScenarios,
  insertThreeDSScenario,
  listThreeDSScenarioRows,
  type ThreeDSScenarioRow,
  updateThreeDSScenarioRow,
} from './store.ts'

/** What the sandbox's 3-D Secure goes by, newest first. */
export const loadThreeDSScenarios = (db: Db, merchantAccountId: string): Promise<ThreeDSScenarioRow[]> =>
  findThreeDSScenarios(db, merchantAccountId)

/** Only the sandbox has clocks that move, and only there 3-D Secure can be told what to say. */
function admit({ clocks }: Pick<Context, 'clocks'>): void {
  if (!clocks.canMove) throw notFound()
}

export async function listThreeDSScenarios(ctx: Context, page: PageRequest): Promise<Collection<ThreeDSScenario>> {
  admit(ctx)
  return toCollection(page, await listThreeDSScenarioRows(ctx.db, ctx.accounts, page), ({ id }) => id, present)
}

export async function createThreeDSScenario(ctx: Context, input: NewThreeDSScenario): Promise<ThreeDSScenario> {
  admit(ctx)
  refuseWrong(input)
  const id = ctx.newId()
  const { conditions, outcome } = input
  return await transact(ctx, async (ctx) => {
    const owner = { merchant_account_id: accountOf(ctx), id, created_at: timeOfId(id) }
    return record(ctx, 'created', await insertThreeDSScenario(ctx.db, { ...owner, conditions, outcome }))
  })
}

export async function updateThreeDSScenario(
  ctx: Context,
  id: string,
  input: ThreeDSScenarioUpdate,
): Promise<ThreeDSScenario> {
  admit(ctx)
  refuseWrong(input)
  const change = { conditions: input.conditions ?? undefined, outcome: input.outcome ?? undefined }
  return await transact(ctx, async (ctx) =>
    record(ctx, 'updated', await updateThreeDSScenarioRow(ctx.db, ctx.accounts, id, change, ctx.now())),
  )
}

export async function deleteThreeDSScenario(ctx: Context, id: string): Promise<void> {
  admit(ctx)
  await transact(ctx, async (ctx) => record(ctx, 'deleted', await deleteThreeDSScenarioRow(ctx.db, ctx.accounts, id)))
}

function refuseWrong(input: ThreeDSScenarioUpdate): void {
  const problems = scenarioProblems(input, isTestNumber)
  if (problems.length > 0) throw new ValidationFailure(problems)
}

/** The audit row of a change, in its transaction. */
async function record(
  ctx: Context,
  what: 'created' | 'updated' | 'deleted',
  row: ThreeDSScenarioRow | undefined,
): Promise<ThreeDSScenario> {
  if (!row) throw notFound()
  const scenario = present(row)
  const { type, id, merchant_account_id: merchantAccountId } = scenario
  await audit(ctx, what, { type, id, name: id, merchantAccountId })
  return scenario
}

const present = ({ conditions, outcome, ...row }: ThreeDSScenarioRow): ThreeDSScenario => ({
  type: 'three-d-secure-scenario',
  id: row.id,
  merchant_account_id: row.merchant_account_id,
  conditions: {
    first_name: conditions.first_name ?? null,
    last_name: conditions.last_name ?? null,
    email_address: conditions.email_address ?? null,
    amount: conditions.amount ?? null,
    external_identifier: conditions.external_identifier ?? null,
    card_number: conditions.card_number ?? null,
  },
  outcome: {
    version: outcome.version ?? null,
    authentication: outcome.authentication,
    result: outcome.result ?? null,
  },
  created_at: row.created_at.toISOString(),
  updated_at: row.updated_at.toISOString(),
})
