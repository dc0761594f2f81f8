/** What a merchant can ask for. `sale`: an authorization with intent `capture`, in one step. */
export type Action = 'authorize' | 'sale' | 'capture' | 'void' | 'refund'

/** A refusal: what it is called, and what the processor says. */
export interface Refusal {
  outcome: 'declined' | 'failed'
  error_code: string
  retriable: boolean
  raw_code: string
  description: string
}

export const payments: readonly Action[] = ['authorize', 'sale']

/** An R marks what another processor may be asked. */
const tables: readonly [appliesTo: readonly Action[], table: string][] = [
  [
    payments,
    `
200001 declined   46   canceled_payment_method           The card was canceled
200002 failed     E202 disputed_transaction              The payment is disputed
200003 failed     94   duplicate_transaction             The payment was made already
200004 declined   5C   expired_authorization             The authorization has expired
200005 declined   54   expired_payment_method            The card has expired
200006 declined   A1   incorrect_billing_address         The billing address is not the cardholder's
200007 declined R 62   incorrect_country                 The card cannot be used in this country
200008 declined R 12   incorrect_currency                The card cannot be used in this currency
200009 declined   N7   incorrect_cvv                     The security code is wrong
200010 declined   80   incorrect_expiry_date             The expiration date is wrong
200011 declined   51   insufficient_funds                There is not enough money
200012 declined R 05   issuer_decline                    The issuer declined
200013 declined R 06   other_decline                     Declined for another reason
200014 failed     1A   requires_buyer_authentication     The cardholder must be authenticated first
200015 declined   57   refused_transaction               The issuer does not permit this payment
200016 declined R 92   service_decline                   The processor declined
200017 declined   59   suspected_fraud                   The issuer suspects fraud
200018 failed     78   unavailable_payment_method        The card is blocked
200019 failed   R 14   unknown_payment_method            There is no such card
200020 failed     58   unsupported_transaction           This kind of payment is not supported
200021 failed     E221 unsupported_payment_method        This kind of card is not supported
200022 failed     E222 cancelled_buyer_approval          The buyer stopped the approval
300001 failed   R E301 insufficient_service_permissions  The merchant may not do this
300002 failed   R 13   invalid_amount                    The amount is not valid
300003 failed   R E303 invalid_payment_method            The card is not valid
300004 failed     E304 invalid_service_configuration     The merchant is not set up for this
300005 failed   R E305 invalid_service_credentials       The credentials are wrong
300006 failed   R E306 invalid_service_response          The answer could not be understood
300007 failed     E307 invalid_tax_identifier            The tax identifier is not valid
300008 failed   R E308 missing_billing_address           A billing address is needed
300009 failed   R E309 missing_cvv                       A security code is needed
300010 failed   R E310 missing_shipping_address          A shipping address is needed
300011 failed   R E311 missing_tax_identifier            A tax identifier is needed
300012 failed     E312 refund_period_expired             The time for refunds is over
300013 failed   R 96   service_error                     The processor has a fault
300014 failed   R 91   service_network_error             The issuer cannot be reached
300015 failed   R E315 service_rate_limit                There were too many calls
400001 failed     E401 internal_error                    Something went wrong inside
400002 failed     E402 invalid_billing_address           The billing address is not valid
400003 failed   R E403 invalid_operation                 This cannot be done
400004 failed     E404 invalid_request_parameters        A parameter is not valid
400005 failed   R 30   invalid_service_request           The call could not be understood
400006 failed     E406 invalid_shipping_address          The shipping address is not valid
400007 failed   R E407 service_resource_conflict         Something else is being done with it
400008 failed     E408 unexpected_state                  It is in a state that was not expected
400009 failed     E409 unknown_error                     Nobody knows what went wrong
400010 failed   R E410 unknown_service_resource          There is no such thing
400011 failed   R E411 unsupported_country               The country is not supported
400012 failed   R E412 unsupported_currency              The currency is not supported
400013 failed     E413 unrecognised_country              There is no such country
400014 failed     E414 unrecognised_currency             There is no such currency
400015 failed     E415 unrecognised_payment_method       There is no such kind of card
400016 failed     E416 unrecognised_scheme               There is no such scheme
400017 failed     E417 unsupported_scheme                The scheme is not supported`,
  ],
  [
    ['sale', 'capture'],
    `
500001 failed     91   service_network_error             The issuer cannot be reached
500002 declined   57   refused_transaction               The issuer does not permit the capture`,
  ],
  [
    ['void'],
    `
510001 failed     91   service_network_error             The issuer cannot be reached
510002 declined   05   issuer_decline                    The issuer declined`,
  ],
  [
    ['refund'],
    `
520001 failed     E521 disputed_transaction              The payment is disputed
520002 declined   05   issuer_decline                    The issuer declined
520003 failed     96   service_error                     The processor has a fault
520004 failed     E524 refund_already_satisfied          The money was given back already`,
  ],
]

export interface AmountRefusal {
  amount: number
  appliesTo: readonly Action[]
  refusal: Refusal
}

export const amountRefusals: readonly AmountRefusal[] = tables.flatMap(([appliesTo, table]) =>
  table
    .trim()
    .split('\n')
    .map((line) => {
      const [, amount, outcome, retriable, raw_code = '', error_code = '', description = ''] =
        /^(\d+) (declined|failed) +(R )? *(\S+) +(\S+) +(.+)$/.exec(line) ?? []
      return {
        amount: Number(amount),
        appliesTo,
        refusal: {
          outcome: outcome as Refusal['outcome'],
          error_code,
          retriable: retriable !== undefined,
          raw_code,
          description,
        },
      }
    }),
)
