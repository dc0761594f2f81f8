import { type Static, Type } from 'typebox'
import { Body, Collection, Constant, DateTime, Nullable, optional, PageQuery } from '../../schema.ts'
import { CardScheme } from '../card-scheme-definitions/schema.ts'

const MerchantAccountId = (options: object = {}) =>
  Type.String({ minLength: 1, maxLength: 50, pattern: '^[a-zA-Z0-9-]+$', example: 'default', ...options })
const DisplayName = Type.String({
  minLength: 1,
  maxLength: 255,
  description: 'A name to show to people.',
  example: 'Default',
})
const text = (description: string, options: object = {}) =>
  Nullable(Type.String({ maxLength: 10_000, description, ...options }))
const requestor = (scheme: string, what: string) =>
  Nullable(Type.String({ maxLength: 300, description: `${what} for ${scheme} network tokens; both or neither.` }))
const overCapture = (description: string) => Nullable(Type.Integer({ minimum: 0, maximum: 99_999_999, description }))
const deprecated = { deprecated: true }
const together = 'Set all `loon_*` fields or none.'

const settings = {
  account_updater_enabled: Type.Boolean({
    default: false,
    description: 'Whether expiring cards are looked up by the account updater.',
  }),
  account_updater_request_encryption_key: text('Key of the account updater.', deprecated),
  account_updater_request_encryption_key_id: text('Key of the account updater.', deprecated),
  account_updater_response_decryption_key: text('Key of the account updater.', deprecated),
  account_updater_response_decryption_key_id: text('Key of the account updater.', deprecated),
  over_capture_amount: overCapture('How much more than authorized may be captured, in minor units.'),
  over_capture_percentage: overCapture('How much more than authorized may be captured, in percent.'),
  loon_client_key: text(together, deprecated),
  loon_secret_key: text(together, deprecated),
  loon_accepted_schemes: Nullable(Type.Array(CardScheme, { uniqueItems: true, maxItems: 100, description: together })),
  loon_merchant_account_id: text(together),
  visa_network_tokens_requestor_id: requestor('Visa', 'Requestor id'),
  visa_network_tokens_app_id: requestor('Visa', 'App id'),
  amex_network_tokens_requestor_id: requestor('American Express', 'Requestor id'),
  amex_network_tokens_app_id: requestor('American Express', 'App id'),
  mastercard_network_tokens_requestor_id: requestor('Mastercard', 'Requestor id'),
  mastercard_network_tokens_app_id: requestor('Mastercard', 'App id'),
  discover_network_tokens_requestor_id: requestor('Discover', 'Requestor id'),
  discover_network_tokens_app_id: requestor('Discover', 'App id'),
  async_network_tokens_enabled: Type.Boolean({
    default: false,
    description: 'Whether network tokens are made in the background.',
  }),
}

export const MerchantAccount = Type.Object(
  {
    type: Constant('merchant-account'),
    id: MerchantAccountId(),
    display_name: DisplayName,
    ...settings,
    created_at: DateTime(),
    updated_at: DateTime(),
  },
  { title: 'MerchantAccount' },
)
export type MerchantAccount = Static<typeof MerchantAccount>

export const MerchantAccountSummary = Type.Object(
  {
    type: Constant('merchant-account'),
    id: MerchantAccountId(),
    display_name: DisplayName,
    created_at: DateTime(),
    updated_at: DateTime(),
    over_capture_amount: Nullable(Type.Integer()),
    over_capture_percentage: Nullable(Type.Integer()),
  },
  { title: 'MerchantAccountSummary' },
)
export type MerchantAccountSummary = Static<typeof MerchantAccountSummary>

export const MerchantAccounts = Collection(MerchantAccount, { title: 'MerchantAccounts' })

export const NewMerchantAccount = Body(
  {
    id: MerchantAccountId({ description: "The account's own name, chosen by you; it cannot change." }),
    display_name: DisplayName,
    ...optional(settings),
  },
  { title: 'MerchantAccountCreate' },
)
export type NewMerchantAccount = Static<typeof NewMerchantAccount>

export const MerchantAccountUpdate = Body(
  { display_name: Type.Optional(DisplayName), ...optional(settings) },
  { title: 'MerchantAccountUpdate' },
)
export type MerchantAccountUpdate = Static<typeof MerchantAccountUpdate>

export const MerchantAccountPath = Type.Object({
  merchant_account_id: Type.String({ description: 'Id of the merchant account.', example: 'default' }),
})

export const ListMerchantAccountsQuery = Type.Object({
  ...PageQuery,
  search: Type.Optional(
    Type.String({ minLength: 1, maxLength: 255, description: 'Part of the id or the display name, in any case.' }),
  ),
})
export type ListMerchantAccountsQuery = Static<typeof ListMerchantAccountsQuery>
