import { testNumbers } from '../src/cards/test-numbers.ts'
import type { Action, Refusal } from '../src/connectors/sandbox/mock-card/amounts.ts'
import { type CatalogueEntry, catalogue, houseRules, pendingMs } from '../src/connectors/sandbox/mock-card/catalogue.ts'
import { mockCardDefinition } from '../src/connectors/sandbox/mock-card/definition.ts'

const seconds = pendingMs / 1000
const rules: readonly Refusal[] = Object.values(houseRules)

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
const delaying = of('card_number').filter(({ error_code }) => error_code === null)

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

No other numbers are taken, but for those in the two lists below.

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

## Messages from the processor

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
      card_numbers: testNumbers.map(({ number, scheme, additionalSchemes, cardType, country }) => ({
        number,
        scheme,
        additional_schemes: additionalSchemes,
        card_type: cardType,
        country,
      })),
      catalogue,
      rules,
    },
    null,
    2,
  )}\n`
