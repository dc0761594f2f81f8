import type { GiftCardErrorCode } from '../../gift-card.ts'

/** What the sandbox's gift card provider can be made to do. The connector decides from these rows, and docs/sandbox.md shows them. */

/** The first digit of a PIN of five. All three refuse; they differ in what the provider says of it. */
export const refusingDigits = {
  '1': { kind: 'validation error', rawCode: 'VALIDATION_ERROR', rawMessage: 'The request is not valid' },
  '2': { kind: 'server error', rawCode: 'SERVER_ERROR', rawMessage: 'The provider could not do it' },
  '3': { kind: 'client error', rawCode: 'CLIENT_ERROR', rawMessage: 'The request was refused' },
} as const
export type RefusingDigit = keyof typeof refusingDigits

/** The four digits after a refusing one. Any others are `unknown_error`. */
export const refusalsByPin: Readonly<Record<string, GiftCardErrorCode>> = {
  '0000': 'invalid_gift_card',
  '0001': 'expired_card',
  '0002': 'inactive_card',
  '0003': 'invalid_service_credentials',
  '0004': 'invalid_amount',
  '0005': 'incorrect_currency',
  '0006': 'insufficient_funds',
  '0007': 'invalid_service_configuration',
  '0008': 'operation_canceled',
  '0009': 'service_error',
  '0010': 'service_network_error',
  '0011': 'unknown_error',
}

/** The last digit of the amount of a refund that is refused, as the first digit of a PIN would have it. */
export const refundRefusal: GiftCardErrorCode = 'service_error'

/** How a number ends. Any other belongs to a card that works and is good for three years. */
export const endings = {
  expired: '0',
  silent: '9991',
  lost: '9992',
} as const

/** The currency of a balance before a redemption or an activation has fixed it. */
export const unfixedCurrency = 'USD'
