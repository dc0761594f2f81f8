import { type Static, Type } from 'typebox'
import { Body, Collection, Constant, DateTime, Enum, Nullable, optional, PageQuery, Uuid } from '../../schema.ts'
import { taxIdKinds } from './rules.ts'

const text = (maxLength: number, description: string, example: string) =>
  Nullable(Type.String({ minLength: 1, maxLength, description, example }))
const pattern = (regex: string, description: string, example: string) =>
  Nullable(Type.String({ pattern: regex, description, example }))

const addressFields = {
  city: text(100, 'City.', 'London'),
  country: pattern('^[A-Z]{2}$', 'Two-letter ISO code of the country.', 'GB'),
  postal_code: text(50, 'Postal code.', 'SW1Y 4JH'),
  state: text(255, 'State, county or province.', 'Greater London'),
  state_code: pattern('^[A-Z]{2}-[A-Z0-9]{1,3}$', 'ISO 3166-2 code of the state.', 'GB-LND'),
  house_number_or_name: text(255, 'House number or name.', '12'),
  line1: text(255, 'First line.', "12 St James's Square"),
  line2: text(255, 'Second line.', 'Second floor'),
  organization: text(255, 'Company or organization.', 'Analytical Engines Ltd'),
}
export const Address = Type.Object(addressFields, { title: 'Address' })
export type Address = Static<typeof Address>
export const AddressInput = Body(optional(addressFields), { title: 'AddressInput' })
export type AddressInput = Static<typeof AddressInput>

const TaxId = Body(
  {
    value: Type.String({ minLength: 1, maxLength: 50, description: 'The tax id.', example: 'GB123456789' }),
    kind: Enum(taxIdKinds, { description: 'Country and kind of the tax id.', example: 'gb.vat' }),
  },
  { title: 'TaxId' },
)

/** Who somebody is and how to reach them: part of billing and of shipping details. */
export const contactFields = {
  first_name: text(255, 'First name.', 'Ada'),
  last_name: text(255, 'Last name.', 'Lovelace'),
  email_address: text(320, 'E-mail address.', 'ada@example.com'),
  phone_number: pattern('^\\+[1-9]\\d{1,14}$', 'Phone number, as in E.164.', '+442071234567'),
}

const BillingDetails = Type.Object(
  { type: Constant('billing-details'), ...contactFields, address: Nullable(Address), tax_id: Nullable(TaxId) },
  { title: 'BillingDetails' },
)
export type BillingDetails = Static<typeof BillingDetails>

const BillingDetailsInput = Body(
  optional({ ...contactFields, address: Nullable(AddressInput), tax_id: Nullable(TaxId) }),
  { title: 'BillingDetailsInput', description: 'Replaces the billing details as a whole.' },
)
export type BillingDetailsInput = Static<typeof BillingDetailsInput>

const fields = {
  display_name: text(200, 'A name to show to people.', 'Ada Lovelace'),
  external_identifier: text(200, "The buyer's id in your system; unique within a merchant account.", 'customer-4711'),
  account_number: text(200, "The number of the buyer's account with you.", '4711'),
}

export const Buyer = Type.Object(
  {
    type: Constant('buyer'),
    id: Uuid(),
    reconciliation_id: Type.String({ description: 'The id in base 62.', example: '2y9NQ19jxqPKBR8o57XEk' }),
    merchant_account_id: Type.String({ example: 'default' }),
    ...fields,
    billing_details: Nullable(BillingDetails),
    created_at: DateTime(),
    updated_at: DateTime(),
  },
  { title: 'Buyer' },
)
export type Buyer = Static<typeof Buyer>

export const Buyers = Collection(Buyer, { title: 'Buyers' })

const input = optional({ ...fields, billing_details: Nullable(BillingDetailsInput) })

export const NewBuyer = Body(input, { title: 'BuyerCreate' })
export type NewBuyer = Static<typeof NewBuyer>

export const BuyerUpdate = Body(input, { title: 'BuyerUpdate' })
export type BuyerUpdate = Static<typeof BuyerUpdate>

export const BuyerPath = Type.Object({ buyer_id: Uuid({ description: 'Id of the buyer.' }) })

export const ListBuyersQuery = Type.Object({
  ...PageQuery,
  search: Type.Optional(
    Type.String({
      minLength: 1,
      maxLength: 200,
      description:
        'How the display name or the external identifier begins, in any case. Refused when more than 10,000 begin so.',
    }),
  ),
  external_identifier: Type.Optional(
    Type.String({ minLength: 1, maxLength: 200, description: 'Only the buyer with exactly this external identifier.' }),
  ),
})
export type ListBuyersQuery = Static<typeof ListBuyersQuery>
