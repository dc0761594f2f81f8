import { Type } from 'typebox'
import { Body, Enum, Nullable, optional } from '../../../schema.ts'
import { AddressInput } from '../../buyers/schema.ts'

/** What a merchant may tell about a payment. Kept as it was given. */

const text = (maxLength: number, minLength = 1) => Nullable(Type.String({ minLength, maxLength }))
const country = () => Nullable(Type.String({ pattern: '^[A-Z]{2}$' }))
const phone = () => Nullable(Type.String({ pattern: '^\\+[1-9]\\d{1,14}$' }))
const date = () => Nullable(Type.String({ pattern: '^\\d{4}-(0[1-9]|1[0-2])-(0[1-9]|[12]\\d|3[01])$' }))

export const StatementDescriptor = Nullable(
  Body(
    optional({
      name: text(22, 5),
      description: text(22, 5),
      city: text(50),
      country: country(),
      phone_number: phone(),
      url: text(50),
      postal_code: text(50),
    }),
    { title: 'StatementDescriptor' },
  ),
)

export const BrowserInfo = Nullable(
  Body(
    {
      javascript_enabled: Type.Boolean(),
      java_enabled: Type.Boolean(),
      language: Type.String({ maxLength: 100 }),
      color_depth: Type.Integer(),
      screen_height: Type.Integer(),
      screen_width: Type.Integer(),
      time_zone_offset: Type.Integer(),
      user_agent: Type.String({ maxLength: 5000 }),
      user_device: Enum(['desktop', 'mobile']),
      accept_header: Type.Optional(text(5000)),
    },
    { title: 'BrowserInfo' },
  ),
)

export const Recipient = Nullable(
  Body(
    {
      first_name: Type.String({ minLength: 1, maxLength: 255 }),
      last_name: Type.String({ minLength: 1, maxLength: 255 }),
      ...optional({ address: Nullable(AddressInput), account_number: text(255), date_of_birth: date() }),
    },
    { title: 'Recipient' },
  ),
)

export const ConnectionOptions = Nullable(
  Type.Unsafe<Record<string, Record<string, unknown>>>({
    type: 'object',
    maxProperties: 20,
    propertyNames: { maxLength: 50 },
    additionalProperties: { type: 'object', maxProperties: 50 },
    description: 'Settings for single providers, by the id of their definition.',
  }),
)
