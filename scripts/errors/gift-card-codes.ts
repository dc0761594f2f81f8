import type { GiftCardErrorCode } from '../../src/connectors/gift-card.ts'
import type { Again } from './explanation.ts'

type Row = readonly [means: string, cause: string, cure: string, again: Again]

/** Codes that only gift cards have. The others of theirs mean what they mean of payments. */
export const giftCardCodes: Partial<Record<GiftCardErrorCode, Row>> = {
  invalid_gift_card: [
    'There is no such gift card.',
    'The number or the PIN is wrong.',
    'Ask the buyer to type both again. Stop after a few tries.',
    'changed',
  ],
  expired_card: [
    'The gift card has expired.',
    'Its expiration date has passed.',
    'Ask for another gift card or a card.',
    'otherMethod',
  ],
  inactive_card: [
    'The gift card is not active.',
    'It was not activated when it was sold, or has been blocked.',
    'Activate it (`POST /gift-cards/activations`) where you sold it, or ask for another.',
    'otherMethod',
  ],
  operation_canceled: [
    'The redemption was taken back.',
    'Another part of the payment was not paid, so that everything that the gift cards had paid was given back.',
    "Read the transaction's own `error_code` for the reason. The money is on the gift card again.",
    'changed',
  ],
  max_gift_cards_reached: [
    'The buyer has as many gift cards as can be stored.',
    'Ten gift cards of one buyer can be stored.',
    'Delete one that is not used (`DELETE /gift-cards/{gift_card_id}`), or pay without storing it.',
    'changed',
  ],
}
