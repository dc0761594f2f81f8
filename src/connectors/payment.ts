/**
 * A payment provider as Florin sees it. Every call names itself by `reference`, the id of our attempt: a provider that gets the
 * same reference twice answers what it answered before, and `sync` asks what became of it. No call runs inside a transaction.
 */
export interface PaymentConnector {
  readonly definition: PaymentServiceDefinition
  authorize(call: AuthorizeCall): Promise<Outcome>
  capture(call: FollowUpCall & { amount: number; final: boolean }): Promise<Outcome>
  void(call: FollowUpCall): Promise<Outcome>
  refund(call: FollowUpCall & { amount: number; reason: string | null }): Promise<Outcome>
  /** Takes back a payment that is not authorized yet; `approved` means it will not happen. */
  cancel(call: FollowUpCall): Promise<Outcome>
  /** What became of an earlier call. `never_arrived` is final: the provider has not done it and will not. */
  sync(call: SyncCall): Promise<Outcome | { result: 'never_arrived' }>
  /** Asks the buyer to let the merchant charge a redirect method again and again. Only of methods in mode `redirect`. */
  enrol?(call: EnrolCall): Promise<Outcome>
  /** What was paid out, taken back or disputed of one payment, all of it, oldest first. Only with `settlement_reporting`. */
  statement?(call: StatementCall): Promise<StatementLine[] | Unknown>
  /** Of the sandbox's own: it goes by rules of the merchant, and these are the refusals that a rule can name. */
  readonly simulates?: { readonly errorCodes: readonly string[] }
  /** Whether the credentials are good. */
  verify(service: ServiceAccess): Promise<Verification>
  /** What a message from the provider says; undefined when it is not the provider's, or not for this service. */
  notification(service: ServiceAccess, message: InboundMessage): Promise<Notification | undefined>
}

/** A merchant's own access to the provider. */
export interface ServiceAccess {
  merchantAccountId: string
  serviceId: string
  /** Fields that are no secrets. */
  fields: Readonly<Record<string, string>>
  /** Where the provider may send its messages; null where nobody knows our address. */
  notificationUrl: string | null
  /** Asks the vault; only for connectors that need them. */
  secrets(): Promise<Readonly<Record<string, string>>>
}

interface Call {
  service: ServiceAccess
  /** Of this call, made by us. */
  reference: string
  signal: AbortSignal
}

export interface AuthorizeCall extends Call {
  amount: number
  currency: string
  country: string | null
  /** `capture`: charge at once, in one step. */
  intent: 'authorize' | 'capture'
  /** With `capture`: answer `pending` and charge later. */
  asyncCapture: boolean
  /** Null for a redirect method. */
  card: CardToCharge | null
  buyer: {
    firstName: string | null
    lastName: string | null
    emailAddress: string | null
    postalCode: string | null
  }
  /** The merchant's own reference of the payment. */
  externalIdentifier: string | null
  /** Null: the buyer cannot be asked, because nobody is there or there is no way back. */
  approval: Approval | null
  /** Of a redirect method that the buyer has enrolled: what `enrol` answered. No approval is needed then. */
  enrolment: string | null
  paymentSource: 'ecommerce' | 'moto' | 'recurring' | 'installment' | 'card_on_file'
  merchantInitiated: boolean
  isSubsequentPayment: boolean
  previousSchemeTransactionId: string | null
  statementDescriptor: Readonly<Record<string, string | null>> | null
  /** Settings of this provider alone, under its definition id in the request. */
  options: Readonly<Record<string, unknown>>
}

/** How a buyer may be asked. */
export interface Approval {
  /** Where the provider's page sends the buyer when it is done, whatever came of it. */
  returnUrl: string
  /** Whoever has not decided by then has not approved. */
  expiresAt: Date
  /** Whether the merchant wants 3-D Secure of this provider. */
  threeDSecure: boolean
}

export interface EnrolCall extends Call {
  currency: string
  country: string
  approval: Approval
}

export interface CardToCharge {
  number: string
  expirationDate: string
  securityCode: string | null
  scheme: string | null
}

export interface FollowUpCall extends Call {
  /** The provider's own id of the payment, as `authorize` answered it. */
  paymentReference: string
  currency: string
}

export interface StatementCall extends Omit<Call, 'reference'> {
  /** The provider's own id of the payment. */
  paymentReference: string
}

/** A line of the provider's report. */
export interface StatementLine {
  kind: 'settlement' | 'refund-settlement' | 'chargeback' | 'chargeback-reversal'
  /** The provider's own, of this line. */
  id: string
  /** Of the report that it is in. */
  reportId: string
  /** Of our call that moved the money: a refund's, for its settlement. */
  reference: string | null
  postedAt: Date
  currency: string
  amount: number
  exchangeRate: number | null
  commission: number
  interchange: number | null
  markup: number | null
  schemeFee: number | null
}

export interface SyncCall extends Omit<Call, 'reference'> {
  /** Of the call that is asked about. */
  reference: string
}

/** What every answer may tell. */
export interface Answered {
  /** The provider's own id of what it did. */
  providerReference: string | null
  rawCode: string | null
  rawDescription: string | null
  /** Where there was 3-D Secure. */
  threeDSecure?: ThreeDSecureOutcome
}

/** What came of 3-D Secure, in the words of the API. */
export interface ThreeDSecureOutcome {
  version: string | null
  status: 'setup_error' | 'error' | 'declined' | 'cancelled' | 'complete' | null
  method: 'challenge' | 'frictionless' | null
  /** Only of an authentication that succeeded or was attempted. */
  response_data: {
    version: string
    authentication_response: string | null
    directory_response: string | null
    directory_transaction_id: string | null
    cavv: string | null
    eci: string | null
  } | null
}

export interface Approved extends Answered {
  result: 'approved'
  /** May be less than asked for. */
  amount: number
  authorizationCode: string | null
  avs:
    | 'match'
    | 'no_match'
    | 'partial_match_address'
    | 'partial_match_postcode'
    | 'partial_match_name'
    | 'unavailable'
    | null
  cvv: 'match' | 'no_match' | 'unavailable' | 'not_provided' | null
  schemeTransactionId: string | null
}

export interface Refused extends Answered {
  /** `declined`: somebody said no. `failed`: it could not be done. */
  result: 'declined' | 'failed'
  errorCode: string
  /** Whether another provider may be asked. */
  retriable: boolean
  /** Only the charge was refused: the money that it was to take stays reserved. */
  isAuthorized?: boolean
  avs?: Approved['avs']
  cvv?: Approved['cvv']
  merchantAdviceCode?: string | null
}

/** The provider has it and will know later. */
export interface Pending extends Answered {
  result: 'pending'
  /** The money is reserved already; only the charge that was asked for with it is still to come. */
  isAuthorized?: boolean
  /** When to ask again, if the provider says so. */
  askAfterMs?: number
}

/** The buyer must approve at this address first. */
export interface Redirect extends Answered {
  result: 'redirect'
  url: string
}

/** Nobody knows: the provider did not answer in time, or not understandably. It may have done it. */
export interface Unknown {
  result: 'unknown'
}

export type Outcome = Approved | Refused | Pending | Redirect | Unknown

export type Verification = { valid: true } | { valid: false; errorCode: string; rawDescription: string | null }

export interface InboundMessage {
  headers: Readonly<Record<string, string | undefined>>
  body: Buffer
}

export interface Notification {
  /** The provider's own id of the message, for recognising one that comes twice. */
  id: string
  /** Of our call that it is about, or that the report is about. */
  reference: string
  /** `operation`: ask what became of it. `report`: there is more in the statement of its payment. */
  kind: 'operation' | 'report'
}

export interface DefinitionField {
  key: string
  display_name: string
  required: boolean
  format: 'text' | 'multiline' | 'file' | 'number' | 'timezone' | 'boolean'
  secret: boolean
  verifiable: boolean
}

export interface PaymentServiceDefinition {
  /** Provider, dash, method. */
  id: string
  display_name: string
  method: string
  mode: 'card' | 'redirect'
  fields: readonly DefinitionField[]
  reporting_fields: readonly DefinitionField[]
  supported_currencies: readonly string[]
  supported_countries: readonly string[]
  icon_url: string | null
  supported_features: Readonly<Record<Feature, boolean>>
  required_checkout_fields: readonly {
    required_fields: readonly string[]
    conditions: Readonly<Record<string, unknown>>
  }[]
  configuration: {
    approval_ui_target: 'any' | 'new_window'
    approval_ui_height: string
    approval_ui_width: string
    cart_items_limit: number
    cart_items_required: boolean
    cart_items_should_match_amount: boolean
  }
  supported_integration_clients: readonly ('redirect' | 'web' | 'android' | 'ios')[]
}

export const features = [
  'delayed_capture',
  'digital_wallets',
  'multi_capture',
  'network_tokens_default',
  'network_tokens_toggle',
  'open_loop',
  'open_loop_toggle',
  'over_capture',
  'partial_capture',
  'partial_refunds',
  'payment_method_tokenization',
  'payment_method_tokenization_toggle',
  'refunds',
  'requires_webhook_setup',
  'settlement_reporting',
  'three_d_secure_hosted',
  'three_d_secure_pass_through',
  'transaction_cancel',
  'transaction_sync',
  'verify_credentials',
  'void',
] as const
export type Feature = (typeof features)[number]

/** The providers of this instance, by definition id. */
export type Connectors = ReadonlyMap<string, PaymentConnector>
