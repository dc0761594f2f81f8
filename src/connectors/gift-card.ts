import type { ServiceAccess } from './payment.ts'

/**
 * A provider of gift cards as Florin sees it. Calls that move money name themselves by `reference`, made by us: a provider that gets the same
 * reference twice answers what it answered before. No call runs inside a transaction.
 */
export interface GiftCardConnector {
  readonly definition: GiftCardServiceDefinition
  /** What is on the card now. */
  balance(call: CardCall): Promise<BalanceAnswer>
  /** Takes money from the card. Of any number at once, only so many succeed as the card can pay. */
  redeem(call: CardCall & { reference: string; amount: number; currency: string }): Promise<GiftCardOutcome>
  /**
   * Takes back a redemption, whatever became of it, and may be asked again. A redemption that has not arrived is refused should it come
   * later, so that after a yes the card has its money, for good.
   */
  reverse(call: GiftCardCall & { redemptionReference: string }): Promise<GiftCardOutcome>
  /** Gives back a part of a redemption. */
  refund(
    call: GiftCardCall & { reference: string; redemptionReference: string; amount: number; currency: string },
  ): Promise<GiftCardOutcome>
  /** Makes a card usable, with an amount on it or with what it has. */
  activate(call: ActivateCall): Promise<GiftCardOutcome>
  /** Makes a new card, which its owner fetches at the address. */
  issue(
    call: GiftCardCall & { reference: string; theme: string; amount: number; currency: string },
  ): Promise<IssueAnswer>
}

export interface GiftCardCall {
  service: ServiceAccess
  signal: AbortSignal
}

/** What a buyer types. */
export interface GiftCardToCharge {
  number: string
  pin: string
  /** Keyed, of the number: for a provider that has to know a card again and must not keep its number. */
  fingerprint: string
}

export interface CardCall extends GiftCardCall {
  card: GiftCardToCharge
}

export interface ActivateCall extends GiftCardCall {
  reference: string
  card: Omit<GiftCardToCharge, 'pin'> & { pin: string | null }
  /** Null: what the card was made with. */
  value: { amount: number; currency: string } | null
}

export const giftCardErrorCodes = [
  'invalid_gift_card',
  'expired_card',
  'inactive_card',
  'invalid_service_credentials',
  'invalid_amount',
  'incorrect_currency',
  'insufficient_funds',
  'invalid_service_configuration',
  'operation_canceled',
  'service_error',
  'service_network_error',
  'unknown_error',
  'max_gift_cards_reached',
  'suspected_fraud',
  'canceled_payment_method',
  'duplicate_transaction',
  'unexpected_state',
] as const
export type GiftCardErrorCode = (typeof giftCardErrorCodes)[number]

/** It was not done, and will not be. */
export interface GiftCardRefusal {
  result: 'failed'
  errorCode: GiftCardErrorCode
  rawCode: string | null
  rawMessage: string | null
}

/** Nobody knows: the provider did not answer in time, or not understandably. It may have done it. */
export interface GiftCardUnknown {
  result: 'unknown'
}

/** `providerReference`: the provider's own id of what it did. */
export type GiftCardOutcome = { result: 'succeeded'; providerReference: string | null } | GiftCardRefusal

export type BalanceAnswer =
  | { result: 'succeeded'; balance: number; currency: string | null; expiresAt: Date | null }
  | GiftCardRefusal

export type IssueAnswer = { result: 'succeeded'; providerReference: string; url: string } | GiftCardRefusal

export interface GiftCardServiceDefinition {
  id: string
  display_name: string
  fields: readonly { key: string; display_name: string; required: boolean; secret: boolean }[]
}

/** The providers of this instance, by definition id. */
export type GiftCardConnectors = ReadonlyMap<string, GiftCardConnector>
