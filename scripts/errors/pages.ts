import { errorTable, type ErrorCode } from '../../src/errors.ts'
import { giftCardErrorCodes } from '../../src/connectors/gift-card.ts'
import { approvalRules } from '../../src/connectors/sandbox/approvals/refusals.ts'
import { catalogue, houseRules } from '../../src/connectors/sandbox/mock-card/catalogue.ts'
import { apiCodes, detailTypes } from './api-codes.ts'
import { giftCardAttempt, paymentAttempt } from './attempts.ts'
import { again, type Attempt, type Explanation } from './explanation.ts'
import { giftCardCodes } from './gift-card-codes.ts'
import { paymentCodes } from './payment-codes.ts'

const generated = '<!-- Generated from scripts/errors by `npm run generate`; do not edit. -->'

const bullets = (lines: readonly string[]) => lines.map((line) => `- ${line}`).join('\n')
const sentences = (lines: readonly string[]) => lines.join('\n\n')
const block = (language: string, text: string) => `\`\`\`${language}\n${text}\n\`\`\``

const table = (heads: readonly string[], rows: readonly (readonly string[])[]) =>
  [heads, heads.map(() => '---'), ...rows].map((cells) => `| ${cells.join(' | ')} |`).join('\n')

const shown = ({ command, expect, answer }: Attempt, words: string) => `${words}

${block(expect === undefined ? 'sh' : `sh expect=${expect}`, command)}

${block('json', JSON.stringify(answer, null, 2))}`

const page = (code: string, { means, causes, cure, again: when }: Explanation, ...rest: (string | undefined)[]) =>
  `${[
    `# ${code}`,
    generated,
    means,
    `**Send it again?** ${again[when]}`,
    '## What causes it',
    bullets(causes),
    '## What to do',
    sentences(cure),
    ...rest.filter((part) => part !== undefined),
  ].join('\n\n')}\n`

function apiPage(code: ErrorCode): string {
  const [status, message, meaning] = errorTable[code]
  const { attempt, ...explanation } = apiCodes[code]
  const answer = { type: 'error', code, status, message, details: [], ...(status === 409 && { resource_id: null }) }
  return page(
    code,
    { means: `HTTP status ${status}. ${meaning}`, ...explanation },
    '## An answer',
    attempt
      ? shown(attempt, 'Bring it about:')
      : block(`json schema=${status === 409 ? 'ErrorConflict' : 'Error'}`, JSON.stringify(answer, null, 2)),
    ...(code === 'bad_request'
      ? [
          '## Types of details',
          table(
            ['`type`', 'Meaning'],
            detailTypes.map(([type, words]) => [`\`${type}\``, words]),
          ),
        ]
      : []),
  )
}

const rules = [...Object.values(houseRules), ...Object.values(approvalRules)]

/** Codes that Florin gives by itself, without a provider. */
const ownCodes = ['all_attempts_skipped']

export const paymentErrorCodes: readonly string[] = [
  ...new Set([...catalogue, ...rules].flatMap(({ error_code }) => error_code ?? []).concat(ownCodes)),
].toSorted()

const outcomesOf = (code: string) => [
  ...new Set([...catalogue, ...rules].filter(({ error_code }) => error_code === code).map(({ outcome }) => outcome)),
]

const ofPayment =
  '`error_code` of a transaction, a capture or a refund, `code` of a void. The answer is 201 or 200: the request was right, the payment was not made.'

function ofPaymentOrRefund(code: string): string {
  const actions = catalogue.filter(({ error_code }) => error_code === code).flatMap(({ applies_to }) => applies_to)
  if (actions.length > 0 && actions.every((action) => action === 'refund')) return '`error_code` of a refund.'
  const statuses = outcomesOf(code).map((outcome) => `\`authorization_${outcome}\``)
  return `${ofPayment} A payment that ends so has the status ${statuses.join(' or ') || '`authorization_failed`'}.`
}

/** Where a reader may have met the code. */
function places(code: string, ofPayments: boolean, ofGiftCards: boolean): string {
  const isRetriable = catalogue.some(({ error_code, retriable }) => error_code === code && retriable)
  return bullets([
    ...(ofPayments ? [ofPaymentOrRefund(code)] : []),
    ...(ofGiftCards
      ? [
          `\`error_code\` of a gift card redemption, \`balance_error_code\` of a balance, and \`value_error.${code}\` as the type of a detail where a gift card is stored, activated or issued (400 [\`bad_request\`](bad_request.md)).`,
        ]
      : []),
    ...(isRetriable ? ['Where there are other payment services for it, Florin has asked them already.'] : []),
  ])
}

function outcomePage(code: string): string {
  const ofPayments = paymentErrorCodes.includes(code)
  const ofGiftCards = giftCardErrorCodes.some((known) => known === code)
  const row = paymentCodes[code] ?? giftCardCodes[code as (typeof giftCardErrorCodes)[number]]
  if (!row) throw new Error(`${code} is explained nowhere in scripts/errors`)
  const [means, cause, cure, when] = row
  const payment = ofPayments ? paymentAttempt(code) : undefined
  const giftCard = ofGiftCards ? giftCardAttempt(code) : undefined
  return page(
    code,
    { means, causes: [cause], cure: [cure], again: when },
    '## Where you meet it',
    places(code, ofPayments, ofGiftCards),
    ...(payment || giftCard ? ['## In the sandbox'] : []),
    payment && shown(payment, 'A payment:'),
    giftCard && shown(giftCard, 'A gift card:'),
    payment || giftCard ? 'Everything else that the sandbox can do: [The sandbox](../sandbox.md).' : undefined,
  )
}

const apiErrorCodes = Object.keys(errorTable) as ErrorCode[]
export const outcomeCodes = [...new Set([...paymentErrorCodes, ...giftCardErrorCodes])].toSorted()

const meaningOf = (code: string) => (paymentCodes[code] ?? giftCardCodes[code as keyof typeof giftCardCodes])?.[0] ?? ''
const link = (code: string) => `[\`${code}\`](${code}.md)`

const overview = () => `# Error codes

${generated}

Every error answer has the header \`Link: </docs/errors/<code>>; rel="help"\`, which leads to the page of its code; so has the answer about a payment, a capture or a refund with an \`error_code\`. [Errors](../guides/errors.md) says how to handle them.

## Of answers

The request was refused. \`code\` in the body:

${table(
  ['Status', '`code`', 'Meaning'],
  apiErrorCodes.map((code) => [String(errorTable[code][0]), link(code), errorTable[code][2]]),
)}

## Of payments

The request was right and the answer is 201, but the payment was refused. \`error_code\` of the transaction, the capture or the refund:

${table(
  ['`error_code`', 'Meaning'],
  paymentErrorCodes.map((code) => [link(code), meaningOf(code)]),
)}

## Of gift cards

\`error_code\` of a redemption, \`balance_error_code\` of a balance:

${table(
  ['Code', 'Meaning'],
  giftCardErrorCodes.map((code) => [link(code), meaningOf(code)]),
)}
`

/** `docs/errors/<code>.md` for every code, and the list of all. */
export function renderErrors(): Record<string, string> {
  return Object.fromEntries([
    ['docs/errors/index.md', overview()],
    ...apiErrorCodes.map((code) => [`docs/errors/${code}.md`, apiPage(code)]),
    ...outcomeCodes.map((code) => [`docs/errors/${code}.md`, outcomePage(code)]),
  ])
}
