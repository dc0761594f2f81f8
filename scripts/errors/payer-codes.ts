import type { Again } from './explanation.ts'

type Row = readonly [means: string, cause: string, cure: string, again: Again]

/** Refusals that are about the buyer, the card or its issuer. */
export const payerCodes: Record<string, Row> = {
  canceled_payment_method: [
    'The card was canceled.',
    'The issuer has closed the card, often because it was lost, stolen or replaced.',
    'Ask the buyer for another card, and delete the stored one. The account updater may know the new one.',
    'otherMethod',
  ],
  cancelled_buyer_approval: [
    'The buyer stopped the approval.',
    'The buyer pressed “cancel” on the page of the issuer or of the payment method, or went back.',
    'Offer to pay again, with the same or another method. A new payment asks the buyer again.',
    'otherMethod',
  ],
  disputed_transaction: [
    'The payment is disputed.',
    'The cardholder or the issuer has disputed the payment, so that it cannot be changed or refunded.',
    'Answer the dispute at the provider. Do not refund beside it: the money would go back twice.',
    'never',
  ],
  duplicate_transaction: [
    'The provider has made this payment already.',
    'The provider saw the same card, amount and merchant a moment ago, or the same reference.',
    'Look for the first payment before you charge again: list transactions by `external_identifier`. Send an `Idempotency-Key` with every payment.',
    'never',
  ],
  expired_authorization: [
    'The authorization has expired.',
    'Money stays reserved for some days only, seven in the sandbox. The capture came later.',
    'Make a new payment. Capture sooner, or use the intent `capture` where goods leave at once.',
    'changed',
  ],
  expired_payment_method: [
    'The card has expired.',
    'The expiration date has passed, or the issuer says so.',
    'Ask the buyer for the new date or another card. For stored cards the account updater asks the schemes for newer details.',
    'otherMethod',
  ],
  failed_buyer_approval: [
    'The buyer was not authenticated.',
    'The buyer rejected the payment or failed the challenge of 3-D Secure, the issuer refused without one, or the 3-D Secure server did not answer.',
    'Offer to pay again. `three_d_secure` of the transaction says how far it came.',
    'otherMethod',
  ],
  incomplete_buyer_approval: [
    'The buyer did not approve in time.',
    'The buyer closed the window, or `approval_expires_at` passed before there was an answer.',
    'Offer to pay again. A new payment asks the buyer again.',
    'changed',
  ],
  incorrect_billing_address: [
    "The billing address is not the cardholder's.",
    'The issuer compares the address with its own and declines when they differ.',
    "Ask the buyer for the address on the card's statement.",
    'changed',
  ],
  incorrect_country: [
    'The card cannot be used in this country.',
    'The issuer or the scheme limits the card to other countries.',
    'Ask the buyer for another card. Other payment services are asked by themselves, where there are any.',
    'otherMethod',
  ],
  incorrect_currency: [
    'The card, or the gift card, cannot be used in this currency.',
    'The issuer limits the card to other currencies, or a gift card holds another currency, or a follow-up names another currency than the payment.',
    'Pay in the currency of the card, or ask for another card.',
    'changed',
  ],
  incorrect_cvv: [
    'The security code is wrong.',
    'The buyer mistyped the three or four digits on the card.',
    'Ask for the security code again. Stop after a few tries: issuers block cards that are tried out.',
    'changed',
  ],
  incorrect_expiry_date: [
    'The expiration date is wrong.',
    'The date is not the one that the issuer knows.',
    'Ask the buyer for the date again. A replaced card often has the same number and a new date.',
    'changed',
  ],
  insufficient_funds: [
    'There is not enough money.',
    'The account, the credit limit or the gift card is exhausted.',
    'Ask for another card, or less. A recurring payment may succeed some days later.',
    'otherMethod',
  ],
  issuer_decline: [
    'The issuer declined.',
    'The issuer gives no reason. Limits, risk rules and blocked merchants are usual ones.',
    'Ask the buyer for another card, or to call the bank. Other payment services are asked by themselves, where there are any.',
    'otherMethod',
  ],
  other_decline: [
    'Declined for another reason.',
    'The issuer or the provider gives a reason that has no code of its own; `raw_response_code` has it.',
    'Ask for another card. Look the raw code up in the documents of the provider if it happens often.',
    'otherMethod',
  ],
  refund_already_satisfied: [
    'The money was given back already.',
    'The payment was refunded at the provider itself, or by a chargeback.',
    'Do nothing. Compare with the books of the provider.',
    'never',
  ],
  refused_transaction: [
    'The issuer does not permit this payment.',
    'The card is not allowed for this kind of purchase or this merchant.',
    'Ask for another card.',
    'otherMethod',
  ],
  requires_buyer_authentication: [
    'The cardholder must be authenticated first.',
    'The issuer wants 3-D Secure, and the payment came without it.',
    'Send a `redirect_url`, and turn 3-D Secure on for the payment service: see [Payments with 3-D Secure](../guides/payments-with-3-d-secure.md).',
    'changed',
  ],
  service_decline: [
    'The provider declined.',
    'A risk rule or a limit of the provider, not of the issuer.',
    'Ask for another card, and the provider for the reason. Other payment services are asked by themselves, where there are any.',
    'otherMethod',
  ],
  suspected_fraud: [
    'Fraud is suspected.',
    'The issuer, the provider or your anti-fraud service rejected the payment. `anti_fraud_decision` is `reject` if it was the last.',
    'Do not try again, and do not tell the buyer the reason. Look at the order.',
    'never',
  ],
  unavailable_payment_method: [
    'The card is blocked.',
    'The issuer has blocked the card for now.',
    'Ask for another card, or the buyer to call the bank.',
    'otherMethod',
  ],
  unknown_payment_method: [
    'There is no such card or enrolment.',
    'The issuer does not know the number, or the buyer has not allowed the redirect method for this service.',
    'Ask the buyer to type the card again, or to approve the method again.',
    'otherMethod',
  ],
  canceled: [
    'The payment was canceled before it was decided.',
    'You called `POST /transactions/{transaction_id}/cancel` while it was waiting for a provider or the buyer.',
    'Nothing is to be done: no money was moved. `canceled_at` says when.',
    'never',
  ],
}
