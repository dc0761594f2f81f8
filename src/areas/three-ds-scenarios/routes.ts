import { route } from '../../http/route.ts'
import {
  createThreeDSScenario,
  deleteThreeDSScenario,
  listThreeDSScenarios,
  updateThreeDSScenario,
} from './operations.ts'
import {
  ListThreeDSScenariosQuery,
  NewThreeDSScenario,
  ThreeDSScenario,
  ThreeDSScenarioPath,
  ThreeDSScenarios,
  ThreeDSScenarioUpdate,
} from './schema.ts'

export const threeDSScenarioRoutes = [
  route({
    id: 'listThreeDSScenarios',
    method: 'GET',
    path: '/three-ds-scenarios',
    summary: 'List 3DS scenarios',
    description:
      'The 3DS scenarios of a merchant account, newest first, which is the order in which they are tried. Only in the sandbox.',
    scope: 'three-ds-scenarios.read',
    merchantAccount: 'list',
    query: ListThreeDSScenariosQuery,
    paged: true,
    returns: [200, ThreeDSScenarios],
    handle: (ctx, { page }) => listThreeDSScenarios(ctx, page),
  }),
  route({
    id: 'createThreeDSScenario',
    method: 'POST',
    path: '/three-ds-scenarios',
    summary: 'Create a 3DS scenario',
    description:
      'What 3-D Secure says of payments that meet all conditions, whatever the card says. Of several scenarios that fit, the newest applies. Only in the sandbox.',
    scope: 'three-ds-scenarios.write',
    merchantAccount: 'one',
    body: NewThreeDSScenario,
    example: () => ({
      conditions: { email_address: 'ada@example.com', card_number: '4111111111111111' },
      outcome: {
        version: '2.2.0',
        authentication: { transaction_status: 'C' as const },
        result: { transaction_status: 'N' as const },
      },
    }),
    returns: [201, ThreeDSScenario],
    handle: (ctx, { body }) => createThreeDSScenario(ctx, body),
  }),
  route({
    id: 'updateThreeDSScenario',
    method: 'PUT',
    path: '/three-ds-scenarios/{three_ds_scenario_id}',
    summary: 'Update a 3DS scenario',
    description: 'What is left out keeps its value. `conditions` and `outcome`, when sent, are replaced as a whole.',
    scope: 'three-ds-scenarios.write',
    merchantAccount: 'one',
    params: ThreeDSScenarioPath,
    body: ThreeDSScenarioUpdate,
    example: () => ({ outcome: { authentication: { transaction_status: 'Y' as const } } }),
    returns: [200, ThreeDSScenario],
    handle: (ctx, { params, body }) => updateThreeDSScenario(ctx, params.three_ds_scenario_id, body),
  }),
  route({
    id: 'deleteThreeDSScenario',
    method: 'DELETE',
    path: '/three-ds-scenarios/{three_ds_scenario_id}',
    summary: 'Delete a 3DS scenario',
    scope: 'three-ds-scenarios.write',
    merchantAccount: 'one',
    params: ThreeDSScenarioPath,
    returns: [204],
    handle: (ctx, { params }) => deleteThreeDSScenario(ctx, params.three_ds_scenario_id),
  }),
]
