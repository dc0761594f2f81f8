import type { Again } from './explanation.ts'

type Row = readonly [means: string, cause: string, cure: string, again: Again]

const ask = 'Look `raw_response_code` up in the documents of the provider.'

/** Refusals that are about the request, the setup of a service or the provider. */
export const setupCodes: Record<string, Row> = {
  all_attempts_skipped: [
    'No payment service was asked.',
    'No active payment service of the merchant account takes this method in this currency and country.',
    'Make a payment service, or widen `accepted_currencies` and `accepted_countries` of one that is there: `GET /payment-services`.',
    'mended',
  ],
  insufficient_service_permissions: [
    'The credentials may not do this.',
    'The account at the provider is not enabled for this operation, method or currency.',
    'Ask the provider to enable it.',
    'mended',
  ],
  internal_error: [
    'Something went wrong inside.',
    'A fault between Florin and the provider, with no better name.',
    'Read the events of the transaction (`GET /transactions/{transaction_id}/events`), and ask the operator.',
    'later',
  ],
  invalid_amount: [
    'The amount is not valid.',
    'It is above or below a limit of the provider, or more than is left to be captured, refunded or redeemed.',
    'Compare it with `authorized_amount`, `captured_amount` and `refunded_amount`. Amounts are in the smallest unit of the currency.',
    'changed',
  ],
  invalid_billing_address: [
    'The billing address is not valid.',
    'A part is missing or cannot be, such as a postal code that the country does not have.',
    "Mend `billing_details` of the payment's `buyer`.",
    'changed',
  ],
  invalid_operation: [
    'This cannot be done with the payment as it is.',
    'A capture of what is voided, a void of what is captured, a cancel of what is decided.',
    'Read the transaction. [Statuses](../statuses.md) says what can follow each status.',
    'changed',
  ],
  invalid_payment_method: [
    'The card is not valid.',
    'The number is no card of a scheme that the provider knows. The sandbox takes [test numbers](../sandbox.md) only.',
    'Ask the buyer to type the card again, or use a test number.',
    'otherMethod',
  ],
  invalid_request_parameters: [
    'A parameter is not valid.',
    'The provider refuses a value of the payment.',
    ask,
    'changed',
  ],
  invalid_service_configuration: [
    'The service is not set up for this.',
    'A field of the payment or gift card service is missing or wrong, or there is no active service.',
    'Compare the fields of the service with what the provider gave you.',
    'mended',
  ],
  invalid_service_credentials: [
    'The credentials are wrong.',
    'A key was mistyped, revoked, or is of the other environment.',
    'Store new credentials in the service, and check them: `POST /payment-services/verify`.',
    'mended',
  ],
  invalid_service_request: [
    'The provider could not understand the call.',
    'A value that this provider does not take, in a payment that is otherwise right.',
    ask,
    'changed',
  ],
  invalid_service_response: [
    'The answer of the provider could not be understood.',
    'The provider has changed its answers, or something between has replaced them.',
    'Read the events of the transaction. `POST /transactions/{transaction_id}/sync` asks the provider what became of it.',
    'later',
  ],
  invalid_shipping_address: [
    'The shipping address is not valid.',
    'A part is missing or cannot be.',
    'Mend the shipping details of the buyer or the payment.',
    'changed',
  ],
  invalid_tax_identifier: [
    'The tax identifier is not valid.',
    'Its kind does not fit the country, or a digit is wrong.',
    "Mend `tax_id` in the buyer's billing details.",
    'changed',
  ],
  missing_billing_address: [
    'A billing address is needed.',
    'The provider or the method takes no payment without one.',
    "Send `billing_details` with the payment's `buyer`.",
    'changed',
  ],
  missing_cvv: [
    'A security code is needed.',
    'The provider wants the security code, and the payment has none. It is never stored with a card.',
    'Ask the buyer for it, or mark the payment as initiated by the merchant if nobody is there to ask.',
    'changed',
  ],
  missing_redirect_url: [
    'The buyer must approve and cannot be asked.',
    'The method, or the issuer, wants an approval, and the payment has no `redirect_url`, or the service has 3-D Secure turned off.',
    'Send `redirect_url` with the payment method, and turn on `three_d_secure_enabled` of the payment service.',
    'changed',
  ],
  missing_shipping_address: [
    'A shipping address is needed.',
    'The provider or the method takes no payment without one.',
    'Send shipping details with the payment.',
    'changed',
  ],
  missing_tax_identifier: [
    'A tax identifier is needed.',
    'The method of this country takes no payment without one.',
    "Send `tax_id` in the buyer's billing details.",
    'changed',
  ],
  refund_period_expired: [
    'The time for refunds is over.',
    'The provider refunds for some months only.',
    'Give the money back in another way, such as a bank transfer.',
    'never',
  ],
  service_error: [
    'The provider has a fault.',
    'The provider answered that it could not do it.',
    'Try again later. Other payment services are asked by themselves, where there are any.',
    'later',
  ],
  service_network_error: [
    'The provider, or the issuer behind it, did not answer.',
    'A lost connection or a timeout. What became of the call is asked again until it is known.',
    'Read the transaction again, or `POST /transactions/{transaction_id}/sync`, before you charge again.',
    'sameKey',
  ],
  service_rate_limit: [
    'The provider has too many calls.',
    'More payments a second than the provider allows.',
    'Try again in a moment, and spread batches of payments over time.',
    'later',
  ],
  service_resource_conflict: [
    'Something else is being done with the payment at the provider.',
    'Two changes of one payment at once.',
    'Try again in a moment.',
    'later',
  ],
  unexpected_state: [
    'The payment or gift card is in a state that was not expected.',
    'It was changed at the provider itself.',
    '`POST /transactions/{transaction_id}/sync` asks the provider; then look again.',
    'changed',
  ],
  unknown_error: [
    'Nobody knows what went wrong.',
    'The provider gives a code that has no meaning here; `raw_response_code` has it.',
    ask,
    'later',
  ],
  unknown_service_resource: [
    'The provider has no such payment.',
    'The payment was made with other credentials, or is older than the provider remembers.',
    'Compare the credentials of the payment service with those at the time of the payment.',
    'mended',
  ],
  unrecognised_country: [
    'There is no such country.',
    'The provider does not know the code.',
    'Send the two letters of ISO 3166.',
    'changed',
  ],
  unrecognised_currency: [
    'There is no such currency.',
    'The provider does not know the code.',
    'Send the three letters of ISO 4217.',
    'changed',
  ],
  unrecognised_payment_method: [
    'There is no such kind of card.',
    'The provider does not know the method.',
    'Use another method, or another payment service.',
    'otherMethod',
  ],
  unrecognised_scheme: [
    'There is no such scheme.',
    'The provider cannot tell the scheme of the card.',
    'Ask for another card, or use another payment service.',
    'otherMethod',
  ],
  unsupported_country: [
    'The country is not supported.',
    'The provider takes no payments there.',
    'Use a payment service that does, and limit this one by `accepted_countries`.',
    'mended',
  ],
  unsupported_currency: [
    'The currency is not supported.',
    'The provider takes no payments in it.',
    'Use a payment service that does, and limit this one by `accepted_currencies`.',
    'mended',
  ],
  unsupported_payment_method: [
    'This kind of card is not supported.',
    'The account at the provider is not enabled for it.',
    'Ask for another card, or the provider to enable it.',
    'otherMethod',
  ],
  unsupported_scheme: [
    'The scheme is not supported.',
    'The account at the provider takes other schemes.',
    'Ask for another card, or the provider to enable the scheme.',
    'otherMethod',
  ],
  unsupported_transaction: [
    'This kind of payment is not supported.',
    'A recurring payment, one without a buyer, or another kind that the card or the provider does not take.',
    'Compare `payment_source` and `merchant_initiated` with what the provider allows.',
    'changed',
  ],
}
