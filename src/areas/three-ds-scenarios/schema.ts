import { type Static, Type } from 'typebox'
import { Body, Collection, Constant, DateTime, Enum, Nullable, optional, PageQuery, Uuid } from '../../schema.ts'

const text = (description: string, example: string) => Nullable(Type.String({ minLength: 1, description, example }))

const conditions = {
  first_name: text('First name of the buyer.', 'Ada'),
  last_name: text('Last name of the buyer.', 'Lovelace'),
  email_address: text('Email address of the buyer.', 'ada@example.com'),
  amount: Nullable(
    Type.Integer({ minimum: 0, maximum: 99_999_999, description: 'Amount of the payment.', example: 1299 }),
  ),
  external_identifier: text("The merchant's own id of the payment.", 'order-42'),
  card_number: text("Number of the card: one of the sandbox's test numbers.", '4111111111111111'),
}

const authentication = Type.Object(
  {
    transaction_status: Enum(['Y', 'N', 'A', 'R', 'U', 'C', 'timeout'], {
      description:
        'What the first question says: `Y` authenticated, `A` attempted, `N` not authenticated, `R` rejected by the issuer, `U` unavailable, `C` a challenge, `timeout` no answer.',
      example: 'C',
    }),
  },
  { title: 'ThreeDSecureScenarioOutcomeAuthentication', additionalProperties: false },
)
const result = Type.Object(
  {
    transaction_status: Enum(['Y', 'N', 'timeout'], {
      description: 'How the challenge ends: `Y` passed, `N` failed, `timeout` never.',
      example: 'Y',
    }),
  },
  { title: 'ThreeDSecureScenarioOutcomeResult', additionalProperties: false },
)
const version = Nullable(
  Type.String({ pattern: '^[12](\\.\\d+){0,2}$', description: 'Of 3-D Secure; 2.2.0 without it.', example: '2.2.0' }),
)
const resultOfChallenge = Nullable({
  ...result,
  description: 'Whatever the buyer does. Required with a challenge, and there alone.',
})

export const ThreeDSScenario = Type.Object(
  {
    type: Constant('three-d-secure-scenario'),
    id: Uuid(),
    merchant_account_id: Type.String({ example: 'default' }),
    conditions: Type.Object(conditions, { title: 'ThreeDSecureScenarioConditions' }),
    outcome: Type.Object(
      { version, authentication, result: resultOfChallenge },
      { title: 'ThreeDSecureScenarioOutcome' },
    ),
    created_at: DateTime(),
    updated_at: DateTime(),
  },
  { title: 'ThreeDSecureScenario' },
)
export type ThreeDSScenario = Static<typeof ThreeDSScenario>

export const ThreeDSScenarios = Collection(ThreeDSScenario, { title: 'ThreeDSecureScenarios' })

const Conditions = Body(optional(conditions), {
  title: 'ThreeDSecureScenarioConditionsInput',
  description: 'All that are given must hold. Without any, every payment fits.',
})
export type Conditions = Static<typeof Conditions>

const Outcome = Body(
  { ...optional({ version }), authentication, ...optional({ result: resultOfChallenge }) },
  { title: 'ThreeDSecureScenarioOutcomeInput' },
)
export type Outcome = Static<typeof Outcome>

export const NewThreeDSScenario = Body(
  { conditions: Conditions, outcome: Outcome },
  { title: 'ThreeDSecureScenarioCreate' },
)
export type NewThreeDSScenario = Static<typeof NewThreeDSScenario>

export const ThreeDSScenarioUpdate = Body(
  optional({
    conditions: Nullable({ ...Conditions, title: 'ThreeDSecureScenarioConditionsUpdate' }),
    outcome: Nullable({ ...Outcome, title: 'ThreeDSecureScenarioOutcomeUpdate' }),
  }),
  { title: 'ThreeDSecureScenarioUpdate' },
)
export type ThreeDSScenarioUpdate = Static<typeof ThreeDSScenarioUpdate>

export const ThreeDSScenarioPath = Type.Object({
  three_ds_scenario_id: Uuid({ description: 'Id of the 3DS scenario.' }),
})

export const ListThreeDSScenariosQuery = Type.Object(PageQuery)
