import { type Static, Type } from 'typebox'
import { ruledActions } from '../../connectors/simulator.ts'
import { Body, Collection, Constant, DateTime, Enum, Nullable, optional, PageQuery, Uuid } from '../../schema.ts'

const Amount = (description: string) => Type.Integer({ minimum: 0, maximum: 99_999_999, description })

const RuleConditions = Body(
  optional({
    payment_service_id: Uuid({ description: 'The payment service that is asked.' }),
    action: Enum(ruledActions, {
      description: 'What it is asked for. A payment with the intent `capture` is `authorize` too.',
    }),
    amount: Amount('Exactly this amount, in the smallest unit of the currency. A void and a cancel have none.'),
    amount_gte: Amount('At least this amount.'),
    amount_lte: Amount('At most this amount.'),
    currency: Type.String({ pattern: '^[A-Z]{3}$', description: 'ISO 4217.', example: 'EUR' }),
    country: Type.String({
      pattern: '^[A-Z]{2}$',
      description: 'ISO 3166-1. Only of `authorize`, as are the next three.',
      example: 'DE',
    }),
    card_number: Type.String({
      minLength: 12,
      maxLength: 19,
      description: 'A test number of the sandbox; no other is taken.',
      example: '4111111111111111',
    }),
    buyer_email_address: Type.String({ minLength: 1, maxLength: 320, example: 'ada@example.com' }),
    external_identifier: Type.String({
      minLength: 1,
      maxLength: 200,
      description: "The merchant's own reference of the payment.",
      example: 'order-4711',
    }),
  }),
  { title: 'SimulatorRuleConditions', description: 'All that are given must hold; none: every call.' },
)
export type RuleConditions = Static<typeof RuleConditions>

const words = {
  error_code: Type.Optional(
    Type.String({
      minLength: 1,
      maxLength: 60,
      description: 'With `declined` and `failed`: one of the error codes that the page about the sandbox lists.',
      example: 'insufficient_funds',
    }),
  ),
  raw_response_code: Type.Optional(
    Type.String({
      pattern: '^[A-Za-z0-9]{1,10}$',
      description: 'What the provider calls it. Left out: the usual one of the error code.',
      example: '51',
    }),
  ),
}

const RuleOutcome = Body(
  {
    result: Type.Optional(
      Enum(['approved', 'declined', 'failed', 'pending', 'timeout_before', 'timeout_after'], {
        description:
          'Left out: as without the rule. `timeout_before`: no answer, and nothing was done. `timeout_after`: no answer, but it was done.',
      }),
    ),
    ...words,
    delay_ms: Type.Optional(Type.Integer({ minimum: 0, maximum: 5_000, description: 'How long the answer takes.' })),
    decide_after_seconds: Type.Optional(
      Type.Integer({ minimum: 0, maximum: 604_800, description: 'With `pending`: how long it stays so. Left out: 2.' }),
    ),
    final: Type.Optional(
      Body(
        { result: Enum(['approved', 'declined', 'failed']), ...words },
        {
          title: 'SimulatorRuleFinal',
          description: 'With `pending` and `timeout_after`: what it is in the end. Left out: approved.',
        },
      ),
    ),
  },
  { title: 'SimulatorRuleOutcome' },
)
export type RuleOutcome = Static<typeof RuleOutcome>

const RuleNotifications = Body(
  {
    delivery: Enum(['normal', 'late', 'duplicated', 'reordered', 'lost'], {
      description:
        'How the messages about the call travel. `late`: `delay_seconds` after their time. `duplicated`: `count` times at once. `reordered`: kept until the next full `delay_seconds` and then sent newest first. `lost`: not at all.',
    }),
    count: Type.Optional(Type.Integer({ minimum: 2, maximum: 10, description: 'Left out: 2.' })),
    delay_seconds: Type.Optional(Type.Integer({ minimum: 1, maximum: 3_600, description: 'Left out: 10.' })),
  },
  { title: 'SimulatorRuleNotifications' },
)
export type RuleNotifications = Static<typeof RuleNotifications>

const Description = Type.String({
  minLength: 1,
  maxLength: 200,
  description: 'For people.',
  example: 'The next two captures fail',
})
const RemainingUses = Type.Integer({
  minimum: 0,
  maximum: 1_000_000,
  description: 'How many calls it is still good for; exactly so many are hit. Null: for ever.',
})
const Active = Type.Boolean({ default: true, description: 'Whether it applies.' })

export const SimulatorRule = Type.Object(
  {
    type: Constant('simulator-rule'),
    id: Uuid(),
    merchant_account_id: Type.String({ example: 'default' }),
    description: Nullable(Description),
    conditions: RuleConditions,
    outcome: RuleOutcome,
    notifications: Nullable(RuleNotifications),
    remaining_uses: Nullable(RemainingUses),
    active: Active,
    created_at: DateTime(),
    updated_at: DateTime(),
  },
  { title: 'SimulatorRule' },
)
export type SimulatorRule = Static<typeof SimulatorRule>

export const SimulatorRules = Collection(SimulatorRule, { title: 'SimulatorRules' })

export const NewSimulatorRule = Body(
  {
    conditions: RuleConditions,
    outcome: RuleOutcome,
    ...optional({
      description: Nullable(Description),
      notifications: Nullable(RuleNotifications),
      remaining_uses: Nullable(RemainingUses),
      active: Nullable(Active),
    }),
  },
  { title: 'SimulatorRuleCreate' },
)
export type NewSimulatorRule = Static<typeof NewSimulatorRule>

export const SimulatorRuleUpdate = Body(
  optional({
    description: Nullable(Description),
    conditions: RuleConditions,
    outcome: RuleOutcome,
    notifications: Nullable(RuleNotifications),
    remaining_uses: Nullable(RemainingUses),
    active: Active,
  }),
  { title: 'SimulatorRuleUpdate' },
)
export type SimulatorRuleUpdate = Static<typeof SimulatorRuleUpdate>

export const SimulatorRulePath = Type.Object({ simulator_rule_id: Uuid({ description: 'Id of the simulator rule.' }) })

export const ListSimulatorRulesQuery = Type.Object(PageQuery)
