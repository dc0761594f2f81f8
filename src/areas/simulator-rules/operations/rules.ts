import { isTestNumber } from '../../../cards/test-numbers.ts'
import { accountOf, type Context } from '../../../context.ts'
import { notFound, ValidationFailure } from '../../../errors.ts'
import { timeOfId } from '../../../ids.ts'
import { type PageRequest, toCollection } from '../../../page.ts'
import { transact } from '../../../platform/postgres.ts'
import type { Collection } from '../../../schema.ts'
import { audit } from '../../audit-logs/operations.ts'
import { findService } from '../../payment-services/operations/routing.ts'
import { ruleProblems } from '../rules.ts'
import type { NewSimulatorRule, SimulatorRule, SimulatorRuleUpdate } from '../schema.ts'
import {
  deleteSimulatorRuleRow,
  findSimulatorRule,
  insertSimulatorRule,
  listSimulatorRuleRows,
  lockSimulatorRule,
  type RuleSettings,
  type SimulatorRuleRow,
  updateSimulatorRuleRow,
} from '../store.ts'
import { forgetRules } from './book.ts'

/** What rules can refuse with. Where nothing simulates, in production, there is no such thing as a rule. */
function simulatedCodes({ connectors }: Pick<Context, 'connectors'>): ReadonlySet<string> {
  const simulators = [...connectors.values()].flatMap(({ simulates }) => simulates ?? [])
  if (simulators.length === 0) throw notFound()
  return new Set(simulators.flatMap(({ errorCodes }) => errorCodes))
}

export async function listSimulatorRules(ctx: Context, page: PageRequest): Promise<Collection<SimulatorRule>> {
  simulatedCodes(ctx)
  return toCollection(page, await listSimulatorRuleRows(ctx.db, ctx.accounts, page), ({ id }) => id, present)
}

export async function getSimulatorRule(ctx: Context, id: string): Promise<SimulatorRule> {
  simulatedCodes(ctx)
  return present(found(await findSimulatorRule(ctx.db, ctx.accounts, id)))
}

export async function createSimulatorRule(ctx: Context, input: NewSimulatorRule): Promise<SimulatorRule> {
  const id = ctx.newId()
  const settings = {
    conditions: input.conditions,
    outcome: input.outcome,
    description: input.description ?? null,
    notifications: input.notifications ?? null,
    remaining_uses: input.remaining_uses ?? null,
    active: input.active ?? true,
  }
  await refuseWrong(ctx, settings)
  return await changing(ctx, async (ctx) => {
    const owner = { merchant_account_id: accountOf(ctx), id, created_at: timeOfId(id) }
    return record(ctx, 'created', await insertSimulatorRule(ctx.db, { ...settings, ...owner }))
  })
}

/** What is left out keeps its value; uses that are taken meanwhile stay taken. */
export async function updateSimulatorRule(
  ctx: Context,
  id: string,
  input: SimulatorRuleUpdate,
): Promise<SimulatorRule> {
  simulatedCodes(ctx)
  const current = found(await findSimulatorRule(ctx.db, ctx.accounts, id))
  await refuseWrong(ctx, { ...current, ...input })
  return await changing(ctx, async (ctx) => {
    const locked = found(await lockSimulatorRule(ctx.db, ctx.accounts, id))
    const row = await updateSimulatorRuleRow(ctx.db, ctx.accounts, id, { ...locked, ...input }, ctx.now())
    return record(ctx, 'updated', found(row))
  })
}

export async function deleteSimulatorRule(ctx: Context, id: string): Promise<void> {
  simulatedCodes(ctx)
  await changing(ctx, async (ctx) =>
    record(ctx, 'deleted', found(await deleteSimulatorRuleRow(ctx.db, ctx.accounts, id))),
  )
}

async function refuseWrong(ctx: Context, rule: RuleSettings): Promise<void> {
  const problems = ruleProblems(rule, { errorCodes: simulatedCodes(ctx), isTestNumber })
  const { payment_service_id: serviceId } = rule.conditions
  if (serviceId !== undefined && !(await findService(ctx, serviceId))) {
    const message = 'There is no such payment service'
    problems.push({ location: 'body', pointer: '/conditions/payment_service_id', message, type: 'value_error.unknown' })
  }
  if (problems.length > 0) throw new ValidationFailure(problems)
}

/** The next payment of this process goes by the change. Others keep what they have read for a second. */
async function changing(ctx: Context, change: (ctx: Context) => Promise<SimulatorRule>): Promise<SimulatorRule> {
  const rule = await transact(ctx, change)
  forgetRules(ctx.db, rule.merchant_account_id)
  return rule
}

function found(row: SimulatorRuleRow | undefined): SimulatorRuleRow {
  if (!row) throw notFound()
  return row
}

/** The audit row of a change, in its transaction. */
async function record(
  ctx: Context,
  what: 'created' | 'updated' | 'deleted',
  row: SimulatorRuleRow,
): Promise<SimulatorRule> {
  const rule = present(row)
  await audit(ctx, what, {
    type: rule.type,
    id: rule.id,
    name: rule.description ?? rule.id,
    merchantAccountId: rule.merchant_account_id,
  })
  return rule
}

const present = (row: SimulatorRuleRow): SimulatorRule => ({
  type: 'simulator-rule',
  id: row.id,
  merchant_account_id: row.merchant_account_id,
  description: row.description,
  conditions: row.conditions,
  outcome: row.outcome,
  notifications: row.notifications,
  remaining_uses: row.remaining_uses,
  active: row.active,
  created_at: row.created_at.toISOString(),
  updated_at: row.updated_at.toISOString(),
})
