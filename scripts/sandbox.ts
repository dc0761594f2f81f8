import { reviewMs } from '../src/areas/transactions/operations/screen.ts'
import { longestMs } from '../src/areas/transactions/statements/rules.ts'
import { testNumbers } from '../src/cards/test-numbers.ts'
import { approvalRules } from '../src/connectors/sandbox/approvals/refusals.ts'
import type { Action, Refusal } from '../src/connectors/sandbox/mock-card/amounts.ts'
import {
  authorizationMs,
  type CatalogueEntry,
  catalogue,
  houseRules,
  pendingMs,
} from '../src/connectors/sandbox/mock-card/catalogue.ts'
import { mockCardDefinition } from '../src/connectors/sandbox/mock-card/definition.ts'
import { antiFraudWords, mockAntiFraud } from '../src/connectors/sandbox/mock-anti-fraud.ts'
import {
  endings,
  refundRefusal,
  refusalsByPin,
  refusingDigits,
  unfixedCurrency,
} from '../src/connectors/sandbox/mock-gift-card/catalogue.ts'
import { mockGiftCardDefinition } from '../src/connectors/sandbox/mock-gift-card/definition.ts'
import { ruledActions } from '../src/connectors/simulator.ts'
import { mockRedirectDefinition } from '../src/connectors/sandbox/mock-redirect/definition.ts'
import { fees, reportedAfterDays } from '../src/connectors/sandbox/mock-card/statement.ts'

const seconds = pendingMs / 1000
const dayMs = 24 * 60 * 60 * 1000
const longestDays = longestMs / dayMs
const days = (count: number) => (count === 1 ? 'one day' : `${count} days`)
const percent = (thousandths: number) => `${thousandths / 10} %`
const rules: readonly Refusal[] = [...Object.values(houseRules), ...Object.values(approvalRules)]

const authorizationDays = authorizationMs / (24 * 60 * 60 * 1000)

/** What happens by the passing of time. */
const timeRules = [
  [
    'An authorization',
    `${days(authorizationDays)} after it was made, or after the end of the time its buyer had to approve it`,
    'A capture is declined with `expired_authorization`; a void still works',
  ],
  [
    'A card',
    'at the end of its month',
    'A payment is declined with `expired_payment_method`; newer details that wait for a stored one become its own',
  ],
  ['A checkout session', 'at its `expires_at`', 'It is gone, with its card and its security code'],
  [
    'A payment, or a payment method, that a buyer is to approve',
    'at the end of the time for it',
    'The payment fails with `incomplete_buyer_approval`, the method with it',
  ],
  [
    'A call without an answer',
    'after 1 minute, 5 minutes, 1 hour, then daily',
    'The processor is asked what became of it',
  ],
  ['What is not decided at once', `${seconds} seconds later`, 'It is decided when it is asked about'],
  ['An idempotency key', 'after 24 hours', 'It can be used for something else'],
  ['A gift card', 'three years after it was first seen', 'A redemption is refused with `expired_card`'],
  ['A charge, a refund', 'as described above', 'It is settled, charged back, won back'],
  ['A review that nobody made', `after ${days(reviewMs / dayMs)}`, 'It is accepted'],
] as const

const table = (heads: readonly string[], rows: readonly (readonly string[])[]) =>
  [heads, heads.map(() => '---'), ...rows].map((cells) => `| ${cells.join(' | ')} |`).join('\n')

const of = (trigger: CatalogueEntry['trigger']) => catalogue.filter((entry) => entry.trigger === trigger)
const code = (text: string | number | null) => `\`${text}\``
const yes = (is: boolean) => (is ? 'yes' : '')

const amountsOf = (action: Action) =>
  table(
    ['Amount', 'Outcome', 'Error code', 'Retriable', 'Raw code', 'Meaning'],
    of('amount')
      .filter(({ applies_to }) => applies_to.includes(action))
      .map(({ value, outcome, error_code, retriable, raw_code, description }) => [
        code(value),
        String(outcome),
        code(error_code),
        yes(retriable),
        code(raw_code),
        description,
      ]),
  )

const checks = (trigger: 'postal_code' | 'security_code', answer: (entry: CatalogueEntry) => string | null) =>
  table(
    ['When', 'Answer'],
    of(trigger).map((entry) => [entry.description, code(answer(entry))]),
  )

const refusing = of('card_number').filter(({ error_code }) => error_code !== null)
const delaying = of('card_number').filter(({ outcome }) => outcome === 'pending' || outcome === 'unknown')
const disputing = of('card_number').filter(({ forces }) => forces === 'dispute' || forces === 'dispute_won')

/** Every code that the processor can answer, and how to get it. */
function errorCodes(): string {
  const ways = new Map<string, string[]>()
  const add = (error_code: string, way: string) => ways.set(error_code, [...(ways.get(error_code) ?? []), way])
  for (const { trigger, value, error_code, applies_to } of catalogue) {
    if (!error_code) continue
    add(error_code, trigger === 'amount' ? `amount ${value} (${applies_to.join(', ')})` : `card ${value}`)
  }
  for (const { error_code, raw_code } of rules) add(error_code, `rule ${raw_code}`)
  const sorted = [...ways].toSorted(([left], [right]) => left.localeCompare(right))
  return table(
    ['Error code', 'How to get it'],
    sorted.map(([error_code, how]) => [code(error_code), how.join('; ')]),
  )
}

const ruleExample = {
  conditions: { action: 'capture', currency: 'EUR' },
  outcome: { result: 'failed', error_code: 'service_error' },
  remaining_uses: 2,
}

export const renderSandbox = (): string => `# The sandbox

<!-- Generated from src/connectors/sandbox/mock-card by \`npm run generate\`; do not edit. -->

With \`FLORIN_ENVIRONMENT=sandbox\` there is a card processor, \`${mockCardDefinition.id}\`, that moves no money. It is a provider with a memory of its own: it
knows its payments, refuses what does not fit them, and answers the same reference the same way. This page is all that it can be made to do;
[sandbox.json](sandbox.json) is the same for programs.

## How to use it

Make a payment service of the definition \`${mockCardDefinition.id}\`. Its \`merchant_id\` can be anything; \`invalid\` fails the verification of credentials. Then pay with a
test card, such as \`4111111111111111\` with any later expiration date and the security code \`123\`. It is approved, unless the amount, the card or a
connection option says otherwise:

- the **card number** or the **amount** chooses the outcome, the card first;
- the card also chooses **how the answer comes**: at once, later, or not at all. With such a card an amount still chooses what the outcome is, so
  that a decline can be late, or lost;
- the **postal code** of the billing address chooses the AVS answer and the **security code** the CVV answer, of approvals and declines. Neither
  makes a payment fail.

Amounts are in the smallest unit of the currency: \`200011\` is 2000.11 in dollars. "Retriable": another payment service may be asked.

## Cards that are approved

No other numbers are taken, but for those in the three lists below.

${table(
  ['Number', 'Scheme', 'Type', 'Country', 'Note'],
  testNumbers.map(({ number, scheme, additionalSchemes, cardType, country, note }) => [
    code(number),
    [scheme, ...additionalSchemes].join(', '),
    cardType,
    country,
    note,
  ]),
)}

## Cards that are refused

${table(
  ['Number', 'Outcome', 'Error code', 'Retriable', 'Raw code', 'Meaning'],
  refusing.map(({ value, outcome, error_code, retriable, raw_code, description }) => [
    code(value),
    String(outcome),
    code(error_code),
    yes(retriable),
    code(raw_code),
    description,
  ]),
)}

A card whose expiration date has passed is declined with \`expired_payment_method\`, whatever its number.

## Cards whose answers are late or lost

What takes its time takes ${seconds} seconds and is done when it is asked about after that. A lost answer is one that the provider gave and nobody heard: the
connection is not held. Other calls about the same payment are answered as usual.

${table(
  ['Number', 'Forces', 'Calls', 'First answer', 'Asking later says', 'Meaning'],
  delaying.map(({ value, forces, applies_to, outcome, later, description }) => [
    code(value),
    code(forces),
    applies_to.join(', '),
    outcome === 'unknown' ? 'none' : String(outcome),
    String(later),
    description,
  ]),
)}

A sale (intent \`capture\`) with \`async_capture\` is pending for ${seconds} seconds with any card. Its authorization is decided at once, so a declined card is told at
once, and a capture that an amount makes fail is told later.

Asking about a call that the processor never got closes it: should the call come after all, it is refused with \`duplicate_transaction\`.

## 3-D Secure

Where the payment service has \`three_d_secure_enabled\` and the payment a \`redirect_url\`, the buyer of a card is authenticated first, unless the payment is
initiated by the merchant. A 3DS scenario decides what 3-D Secure says, else the card, else it is a challenge: any card that is not in this list is challenged.

${table(
  ['Number', '3-D Secure says', 'Outcome', 'Error code'],
  of('three_d_secure').map(({ value, description, outcome, error_code }) => [
    code(value),
    description,
    outcome ?? 'as without it',
    error_code ? code(error_code) : '',
  ]),
)}

A challenge leaves the transaction at \`buyer_approval_pending\` with an \`approval_url\`: a page of the sandbox, with nothing to fill in. What is pressed there decides:

| Pressed | Outcome | Error code | \`three_d_secure.status\` |
| --- | --- | --- | --- |
| Approve | as without 3-D Secure, by amount and card | | \`complete\` |
| Reject | ${approvalRules.rejected.outcome} | ${code(approvalRules.rejected.error_code)} | \`declined\` |
| Cancel and go back | ${approvalRules.cancelled.outcome} | ${code(approvalRules.cancelled.error_code)} | \`cancelled\` |
| Let it run out now, or nothing until \`approval_expires_at\` | ${approvalRules.expired.outcome} | ${code(approvalRules.expired.error_code)} | \`error\` |

A program can press as well: \`POST\` the form field \`decision\` (\`approved\`, \`rejected\`, \`cancelled\` or \`expired\`) to the \`approval_url\`. The answer, 303, leads back by
way of Florin to the \`redirect_url\`. The first press counts. The pages cannot be framed: send the whole window there.

Nothing is reserved before the approval. With a challenge \`async_capture\` has no effect.

### Scenarios

\`/three-ds-scenarios\` stores conditions and what 3-D Secure says when all of them hold; the newest scenario that fits decides. \`authentication.transaction_status\` is what the
first question says: \`Y\`, \`A\`, \`N\`, \`R\` and \`U\` as the cards above, \`timeout\` no answer at all (the payment fails with ${code(approvalRules.noAnswer.error_code)}, status \`error\`), \`C\` a challenge.
How a challenge ends is then fixed by \`result.transaction_status\`, whatever is pressed: \`Y\` approved, \`N\` rejected, \`timeout\` run out.

## A method that redirects

${code(mockRedirectDefinition.id)} takes payments with the method ${code(mockRedirectDefinition.method)}. Its buyers approve on the same pages, with the same outcomes, and the amounts below choose what an
approved payment comes to. A payment method that is stored is approved once; payments with it ask nobody.

## Amounts of a payment

Of an authorization and of a sale.

${amountsOf('authorize')}

## Amounts of a capture

Of the capture, and of a sale, which is refused as a whole.

${amountsOf('capture')}

## Amounts of a void

Of the payment that is voided.

${amountsOf('void')}

## Amounts of a refund

Of the refund.

${amountsOf('refund')}

## AVS, by postal code

${checks('postal_code', ({ avs }) => avs)}

## CVV, by security code

${checks('security_code', ({ cvv }) => cvv)}

## Connection options

Under \`connection_options["${mockCardDefinition.id}"]\` of a transaction.

${table(
  ['Option', 'Meaning'],
  of('connection_option').map(({ value, description }) => [code(value), description]),
)}

## What it refuses by itself

${table(
  ['Raw code', 'Outcome', 'Error code', 'When'],
  rules.map(({ raw_code, outcome, error_code, description }) => [
    code(raw_code),
    outcome,
    code(error_code),
    description,
  ]),
)}

## Settlements and disputes

Of a payment service with \`settlement_reporting_enabled\` the statements are fetched: a day after a payment, daily while money is on its way, then less
often, for ${longestDays} days; and at once by \`POST /transactions/{id}/sync\`. What a statement says comes from the processor's books:

- every capture and every sale is settled ${days(reportedAfterDays.settlement)} after it was made, in its own currency, with an amount before fees;
- every refund is settled ${days(reportedAfterDays.settlement)} after it was made;
- with the cards below, what was charged is charged back ${days(reportedAfterDays.chargeback)} after it was made, and won back ${days(reportedAfterDays['chargeback-reversal'])} after.

\`settled\` is true from the first settlement on. \`settled_amount\` is what was settled less what was settled of refunds, before fees; chargebacks do not
change it. \`disputed\` is true while there are more chargebacks than reversals.

${table(
  ['Number', 'Forces', 'Meaning'],
  disputing.map(({ value, forces, description }) => [code(value), code(forces), description]),
)}

The commission of a settlement is ${percent(fees.commission)} of the amount and ${fees.fixed} minor units. Part of it are the interchange, ${percent(fees.interchange)}, and the scheme fee, ${percent(fees.schemeFee)}; the rest
is the markup. Percentages are rounded half up to the minor unit, each by itself. A refund costs ${fees.fixed} minor units, a chargeback ${fees.chargeback}, a reversal nothing.

## Fraud checks

An anti-fraud service of the definition \`${mockAntiFraud.id}\` is asked about every payment before a payment service is. What it says depends on what is before the
\`@\` in the buyer's e-mail address. Any other address is accepted; without one nothing is decided, and \`anti_fraud_decision\` is \`skipped\`.

${table(
  ['Before the @', 'What happens'],
  Object.entries(antiFraudWords).map(([word, meaning]) => [code(word), meaning]),
)}

A review ends with \`POST /transactions/{id}/review\`, which plays the people at the provider, or by itself after ${days(reviewMs / dayMs)}, and then it is accepted.
\`pending_review\` is false from then on, and \`anti_fraud_decision\` stays what it was. An accepted review is told by the event \`transaction.review-accepted\`;
after a rejected one it is for the merchant to void or refund the payment.

## Gift cards

A gift card service of the definition \`${mockGiftCardDefinition.id}\` (any \`api_key\`) has a card for every number. Its books are real: the PIN says what is on a card when the card is
first seen, by a balance or by a redemption; redemptions lower it, and reversals and refunds give it back. The currency is that of the first redemption or activation; until then
a balance is in ${code(unfixedCurrency)}. An activation puts its amount on the card, beside what it has.

- A PIN that begins with 0 is good, and the PIN read as a number is the opening balance: \`01234\` is 1234 minor units. A later PIN changes nothing.
- A PIN of five digits that begins with ${Object.entries(refusingDigits)
  .map(([digit, { kind }]) => `${digit} (${kind})`)
  .join(
    ', ',
  )} is refused with the code of its other four digits, whatever the card. The first digit shows in the raw code only.
- Any other PIN is refused with \`invalid_gift_card\`.

${table(
  ['Last four digits of the PIN', 'Error code'],
  [...Object.entries(refusalsByPin), ['any others', 'unknown_error']].map(([digits = '', errorCode = '']) => [
    /\d/.test(digits) ? code(digits) : digits,
    code(errorCode),
  ]),
)}

A refund whose amount ends in ${Object.keys(refusingDigits).join(', ')} is refused with ${code(refundRefusal)}, as a PIN with that first digit would be; any other succeeds, up to what is left of its redemption. A card is not issued
with nothing on it.

${table(
  ['Number ends in', 'Meaning'],
  [
    [
      code(endings.expired),
      'The card expired the day before it was first seen; others are good for three years, by the clock of the account',
    ],
    [code(endings.silent), 'The provider does not answer, and does nothing'],
    [code(endings.lost), 'A redemption or an activation is done, but only the second asking is answered'],
  ],
)}

## Time

Every merchant account of a sandbox has a clock of its own, which shows real time until it is moved: with
\`POST /merchant-accounts/{merchant_account_id}/clock/advance\` or with \`florin clock advance --account default 3d\`. The answer comes when all that fell due has been
done, so a test needs no sleep. Other accounts are untouched. A clock goes forward only: what has expired stays expired, and a test that needs an earlier
time takes another merchant account. Tokens, audit logs, events and the delivery of messages go by real time, whatever the clock says.

${table(
  ['What', 'When, by the clock of the account', 'Then'],
  timeRules.map((cells) => [...cells]),
)}

## Rules of your own

A test suite needs neither amounts nor cards to force something: \`POST /simulator-rules\` says what happens to calls that meet all its conditions. The next two
captures in euros fail:

\`\`\`json
${JSON.stringify(ruleExample, null, 2)}
\`\`\`

- **Conditions**, all that are given: \`payment_service_id\`, \`action\` (${ruledActions.map(code).join(', ')}), \`amount\` or \`amount_gte\` and \`amount_lte\`, \`currency\`; of
  \`authorize\` also \`country\`, \`card_number\`, \`buyer_email_address\` and \`external_identifier\`. A sale is \`authorize\` too. A void and a cancel have no amount.
- **Outcome**: \`result\` is \`approved\`, \`declined\` or \`failed\` (both with an \`error_code\` of the amounts above), \`pending\` (for \`decide_after_seconds\`, then
  \`final\`), \`timeout_before\` (no answer, nothing was done) or \`timeout_after\` (no answer, but \`final\` was done). Without a result it is as usual. \`delay_ms\` keeps the
  answer back, at most five seconds.
- **Notifications**: how the processor's messages about the call travel: \`normal\`, \`late\` by \`delay_seconds\`, \`duplicated\` to \`count\`, \`reordered\` (kept until the next full
  \`delay_seconds\`, then newest first), \`lost\`.
- **Uses**: with \`remaining_uses\` exactly so many calls are hit, however many come at once.

Rules win over amounts, cards and expiration dates; of several that fit, the newest applies. No rule makes a card of a number that is no test number, or moves more money
than there is. The api that took a change goes by it at once, others within a second. The scopes are those of payment services. In production there are no rules.

## Messages from the processor

What is not decided by the first answer is told by a message when it is: the worker posts it to the \`webhook_url\` of the payment service, if the service has a \`webhook_secret\`.
What is not answered with 200 is sent again after ten, twenty, forty and eighty seconds.

They are JSON with \`id\` and \`reference\`, and two headers: \`x-sandbox-timestamp\` (Unix seconds, at most five minutes old) and \`x-sandbox-signature\`, the
HMAC-SHA-256 in hex of \`<timestamp>.<body>\` with the service's \`webhook_secret\`.

## Every error code

${errorCodes()}
`

export const describeSandbox = (): string =>
  `${JSON.stringify(
    {
      definition_id: mockCardDefinition.id,
      pending_ms: pendingMs,
      authorization_ms: authorizationMs,
      card_numbers: testNumbers.map(({ number, scheme, additionalSchemes, cardType, country }) => ({
        number,
        scheme,
        additional_schemes: additionalSchemes,
        card_type: cardType,
        country,
      })),
      catalogue,
      rules,
      gift_cards: {
        definition_id: mockGiftCardDefinition.id,
        pins: refusalsByPin,
        first_digits: refusingDigits,
        number_endings: endings,
      },
    },
    null,
    2,
  )}\n`
