import { type Static, Type } from 'typebox'
import type { NewAuthentication } from './rules.ts'
import { Body, Collection, Constant, Enum, Nullable, optional, PageQuery, Uuid } from '../../schema.ts'

const Url = Type.String({
  minLength: 1,
  maxLength: 2048,
  description: 'Where events are sent. It begins with https:// and leads to the public internet.',
  example: 'https://shop.example.com/webhooks',
})
const Active = Type.Boolean({ default: true, description: 'When false, no events are sent to the URL.' })
const EventNames = Nullable(
  Type.Array(Type.String({ minLength: 1, maxLength: 100 }), {
    minItems: 1,
    maxItems: 100,
    uniqueItems: true,
    description: 'Names of the events that are sent. Null: all of them.',
    example: ['transaction.captured'],
  }),
)

/** They become headers and forms; what would break out of one is refused. */
const Text = (maxLength: number, options: object = {}) =>
  Type.String({ minLength: 1, maxLength, pattern: '^[^\\p{Cc}]*$', ...options })

const Username = Text(255, { example: 'florin' })
const Password = Text(1000, {
  description: 'Shown as `********`; sent like that in an update, it stays as it is.',
  example: 'a-password-of-yours',
})
const client = {
  client_id: Text(255, { example: 'florin' }),
  client_secret: Text(1000, {
    description: 'Shown as `********`; sent like that in an update, it stays as it is.',
    example: 'a-secret-of-yours',
  }),
  token_url: Type.String({
    minLength: 1,
    maxLength: 2048,
    description: 'Where the access token comes from; the same rules as for the URL of the subscription.',
    example: 'https://login.example.com/token',
  }),
  ...optional({ scope: Nullable(Text(1000, { description: 'What to ask for.', example: 'webhooks' })) }),
}

const NewBasic = Body(
  {
    kind: Constant('basic'),
    // A colon would end it.
    username: Type.String({ ...Username, pattern: '^[^:\\p{Cc}]*$' }),
    password: Password,
  },
  { title: 'BasicAuthenticationCreate' },
)
const NewCredentials = Body(
  { kind: Constant('oauth_client_credentials'), ...client },
  { title: 'CredentialsOAuthAuthenticationCreate' },
)
const NewPassword = Body(
  { kind: Constant('oauth_password'), ...client, username: Username, password: Password },
  { title: 'PasswordOAuthAuthenticationCreate' },
)

const AnyAuthentication = Type.Unsafe<NewAuthentication>({
  type: 'object',
  discriminator: { propertyName: 'kind' },
  oneOf: [NewBasic, NewCredentials, NewPassword],
})

const Masked = Type.Optional(Constant('********'))
const Authentication = Type.Object(
  {
    type: Constant('webhook-authentication'),
    kind: Enum(['basic', 'oauth_client_credentials', 'oauth_password']),
    username: Type.Optional(Type.String()),
    password: Masked,
    client_id: Type.Optional(Type.String()),
    client_secret: Masked,
    token_url: Type.Optional(Type.String()),
    scope: Type.Optional(Nullable(Type.String())),
  },
  {
    title: 'WebhookAuthentication',
    description:
      'How deliveries say who they are: by a username and a password, or by an access token that is fetched for them. Secrets are not shown.',
  },
)
export type Authentication = Static<typeof Authentication>

const Creator = Type.Object(
  {
    id: Uuid(),
    name: Type.String(),
    email_address: Nullable(Type.String()),
    thumbprint: Nullable(Type.String()),
  },
  { title: 'WebhookSubscriptionCreator' },
)

export const WebhookSubscription = Type.Object(
  {
    type: Constant('webhook-subscription'),
    id: Uuid(),
    merchant_account_id: Nullable(Type.String({ description: 'Null: of the whole instance.', example: 'default' })),
    active: Active,
    url: Url,
    event_names: EventNames,
    authentication: Nullable(Authentication),
    secret: Nullable(
      Type.String({
        description: 'What deliveries are signed with.',
        example: 'whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw',
      }),
    ),
    rotating: Type.Boolean({ description: 'Whether deliveries are signed with the previous secret, too.' }),
    creator: Nullable(Creator),
  },
  { title: 'WebhookSubscription' },
)
export type WebhookSubscription = Static<typeof WebhookSubscription>

export const WebhookSubscriptions = Collection(WebhookSubscription, { title: 'WebhookSubscriptions' })

export const NewWebhookSubscription = Body(
  {
    url: Url,
    ...optional({
      active: Nullable(Active),
      event_names: EventNames,
      authentication: Nullable(AnyAuthentication),
    }),
  },
  { title: 'WebhookSubscriptionCreate' },
)
export type NewWebhookSubscription = Static<typeof NewWebhookSubscription>

export const WebhookSubscriptionUpdate = Body(
  optional({
    url: Nullable(Url),
    active: Nullable(Active),
    event_names: EventNames,
    authentication: Nullable(AnyAuthentication),
  }),
  { title: 'WebhookSubscriptionUpdate' },
)
export type WebhookSubscriptionUpdate = Static<typeof WebhookSubscriptionUpdate>

const minutesOfAYear = 365 * 24 * 60

export const SecretRotation = Body(
  optional({
    delta: Nullable(
      Type.Integer({
        minimum: 0,
        maximum: minutesOfAYear,
        description:
          'For so many minutes deliveries are signed with the old secret, too. Null or 0: it is dropped at once.',
        example: 60,
      }),
    ),
  }),
  { title: 'WebhookSubscriptionRotateSecret' },
)
export type SecretRotation = Static<typeof SecretRotation>

export const WebhookSubscriptionPath = Type.Object({
  subscription_id: Uuid({ description: 'Id of the webhook subscription.' }),
})

export const ListWebhookSubscriptionsQuery = Type.Object(PageQuery)
