import { type Static, Type } from 'typebox'
import { Body, Collection, Constant, DateTime, Nullable, optional, PageQuery, Uuid } from '../../schema.ts'

const DefinitionId = Type.String({
  minLength: 1,
  maxLength: 50,
  description: 'Id of the anti-fraud service definition.',
  example: 'mock-anti-fraud',
})
const DisplayName = Type.String({
  minLength: 1,
  maxLength: 200,
  description: 'A name to show to people.',
  example: 'Fraud checks',
})
const Active = Type.Boolean({
  default: true,
  description: 'Whether payments are shown to it. One service of a merchant account is active at most.',
})
const Reviews = Type.Boolean({
  default: true,
  description: 'Whether payments may wait for a review. False: what is to be reviewed counts as accepted.',
})
const Fields = Type.Array(Type.Object({}), { maxItems: 0, description: 'Empty: no provider needs any so far.' })

export const AntiFraudService = Type.Object(
  {
    type: Constant('anti-fraud-service'),
    id: Uuid(),
    merchant_account_id: Type.String({ example: 'default' }),
    anti_fraud_service_definition_id: DefinitionId,
    display_name: DisplayName,
    active: Active,
    reviews_enabled: Reviews,
    fields: Fields,
    created_at: DateTime(),
    updated_at: DateTime(),
  },
  { title: 'AntiFraudService' },
)
export type AntiFraudService = Static<typeof AntiFraudService>

export const AntiFraudServices = Collection(AntiFraudService, { title: 'AntiFraudServices' })

export const NewAntiFraudService = Body(
  {
    anti_fraud_service_definition_id: DefinitionId,
    display_name: DisplayName,
    ...optional({ active: Nullable(Active), reviews_enabled: Nullable(Reviews), fields: Nullable(Fields) }),
  },
  { title: 'AntiFraudServiceCreate' },
)
export type NewAntiFraudService = Static<typeof NewAntiFraudService>

export const AntiFraudServiceUpdate = Body(
  optional({
    display_name: Nullable(DisplayName),
    active: Nullable(Active),
    reviews_enabled: Nullable(Reviews),
    fields: Nullable(Fields),
  }),
  { title: 'AntiFraudServiceUpdate' },
)
export type AntiFraudServiceUpdate = Static<typeof AntiFraudServiceUpdate>

export const AntiFraudServicePath = Type.Object({
  anti_fraud_service_id: Uuid({ description: 'Id of the anti-fraud service.' }),
})

export const ListAntiFraudServicesQuery = Type.Object(PageQuery)
