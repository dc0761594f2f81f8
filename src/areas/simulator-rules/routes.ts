import { route } from '../../http/route.ts'
import {
  createSimulatorRule,
  deleteSimulatorRule,
  getSimulatorRule,
  listSimulatorRules,
  updateSimulatorRule,
} from './operations/rules.ts'
import {
  ListSimulatorRulesQuery,
  NewSimulatorRule,
  SimulatorRule,
  SimulatorRulePath,
  SimulatorRules,
  SimulatorRuleUpdate,
} from './schema.ts'

const path = '/simulator-rules/{simulator_rule_id}'

export const simulatorRuleRoutes = [
  route({
    id: 'listSimulatorRules',
    method: 'GET',
    path: '/simulator-rules',
    summary: 'List simulator rules',
    description: 'The simulator rules of a merchant account, newest first, which is the order in which they are tried.',
    scope: 'payment-services.read',
    merchantAccount: 'list',
    query: ListSimulatorRulesQuery,
    paged: true,
    returns: [200, SimulatorRules],
    handle: (ctx, { page }) => listSimulatorRules(ctx, page),
  }),
  route({
    id: 'createSimulatorRule',
    method: 'POST',
    path: '/simulator-rules',
    summary: 'Create a simulator rule',
    description:
      'Only in the sandbox. What its card processor does with calls that meet all conditions, whatever amount and card say. Of several rules that fit, the newest applies. Other processes of the instance go by a change within a second.',
    scope: 'payment-services.write',
    merchantAccount: 'one',
    body: NewSimulatorRule,
    example: () => ({
      description: 'The next two captures of 47.11 euros fail',
      conditions: { action: 'capture' as const, amount: 4711, currency: 'EUR' },
      outcome: { result: 'failed' as const, error_code: 'service_error' },
      remaining_uses: 2,
    }),
    returns: [201, SimulatorRule],
    handle: (ctx, { body }) => createSimulatorRule(ctx, body),
  }),
  route({
    id: 'getSimulatorRule',
    method: 'GET',
    path,
    summary: 'Get a simulator rule',
    scope: 'payment-services.read',
    merchantAccount: 'one',
    params: SimulatorRulePath,
    returns: [200, SimulatorRule],
    handle: (ctx, { params }) => getSimulatorRule(ctx, params.simulator_rule_id),
  }),
  route({
    id: 'updateSimulatorRule',
    method: 'PUT',
    path,
    summary: 'Update a simulator rule',
    description:
      'What is left out keeps its value. `conditions`, `outcome` and `notifications`, when sent, are replaced as a whole.',
    scope: 'payment-services.write',
    merchantAccount: 'one',
    params: SimulatorRulePath,
    body: SimulatorRuleUpdate,
    example: () => ({
      outcome: { result: 'pending' as const, decide_after_seconds: 30, final: { result: 'approved' as const } },
      notifications: { delivery: 'duplicated' as const, count: 3 },
      remaining_uses: 5,
    }),
    returns: [200, SimulatorRule],
    handle: (ctx, { params, body }) => updateSimulatorRule(ctx, params.simulator_rule_id, body),
  }),
  route({
    id: 'deleteSimulatorRule',
    method: 'DELETE',
    path,
    summary: 'Delete a simulator rule',
    scope: 'payment-services.write',
    merchantAccount: 'one',
    params: SimulatorRulePath,
    returns: [204],
    handle: (ctx, { params }) => deleteSimulatorRule(ctx, params.simulator_rule_id),
  }),
]
