import { approvalRules } from '../../src/connectors/sandbox/approvals/refusals.ts'
import { catalogue, houseRules } from '../../src/connectors/sandbox/mock-card/catalogue.ts'
import { refusalsByPin } from '../../src/connectors/sandbox/mock-gift-card/catalogue.ts'
import type { Attempt } from './explanation.ts'

/** How to bring about a code of a payment or a gift card in the sandbox, as a command. */

const spaced = (body: object) => JSON.stringify(body).replaceAll('":', '": ').replaceAll(',"', ', "')

const call = (path: string, body: object, ...headers: string[]) =>
  [
    `curl -s http://127.0.0.1:8080${path} -H "Authorization: Bearer $(npx florin token)"`,
    ["-H 'content-type: application/json'", ...headers].join(' '),
    `-d '${spaced(body)}'`,
  ].join(' \\\n  ')

const kept = (name: string, value: string, command: string) =>
  `${name}=$(${command} \\\n  | node -p 'JSON.parse(require("fs").readFileSync(0)).${value}')`

const card = { method: 'card', number: '4111111111111111', expiration_date: '12/30' }
const returning = { ...card, redirect_url: 'https://example.com/thanks' }
const price = { amount: 1299, currency: 'EUR' }
const paymentOf = (change: object) =>
  kept('payment', 'id', call('/transactions', { ...price, payment_method: card, ...change }))

const failed = (rule: { outcome: string; error_code: string; raw_code: string }) => ({
  status: `authorization_${rule.outcome}`,
  error_code: rule.error_code,
  raw_response_code: rule.raw_code,
})

const special: Readonly<Record<string, Attempt>> = {
  failed_buyer_approval: {
    command: call('/transactions', { ...price, payment_method: { ...returning, number: '4000000000005027' } }),
    answer: failed(approvalRules.notAuthenticated),
  },
  incomplete_buyer_approval: {
    command: `payment=$(${call('/transactions', { ...price, payment_method: returning })})
curl -s -o /dev/null "$(node -p 'JSON.parse(process.argv[1]).payment_method.approval_url' "$payment")" -d decision=expired
curl -s -X POST "http://127.0.0.1:8080/transactions/$(node -p 'JSON.parse(process.argv[1]).id' "$payment")/sync" \\
  -H "Authorization: Bearer $(npx florin token)"`,
    answer: { status: 'authorization_failed', error_code: 'incomplete_buyer_approval' },
  },
  missing_redirect_url: {
    command: call('/transactions', { ...price, payment_method: { ...card, number: '4000000000005050' } }),
    answer: failed(approvalRules.noWayBack),
  },
  canceled: {
    command: `${paymentOf({ payment_method: { ...card, number: '4000000000002008' } })}
curl -s -o /dev/null -X POST "http://127.0.0.1:8080/transactions/$payment/cancel" \\
  -H "Authorization: Bearer $(npx florin token)"
curl -s "http://127.0.0.1:8080/transactions/$payment" -H "Authorization: Bearer $(npx florin token)"`,
    answer: { status: 'authorization_failed', error_code: houseRules.canceled.error_code },
  },
  refund_already_satisfied: {
    command: `${paymentOf({ amount: 600000, intent: 'capture' })}
${call('/transactions/$payment/refunds', { amount: 520004 }).replace(/(http\S+)/, '"$1"')}`,
    answer: { type: 'refund', status: 'failed', error_code: 'refund_already_satisfied' },
  },
  all_attempts_skipped: {
    command: `account="shop-$RANDOM$RANDOM"
curl -s -o /dev/null http://127.0.0.1:8080/merchant-accounts -H "Authorization: Bearer $(npx florin token)" \\
  -H 'content-type: application/json' -d '{"id": "'"$account"'", "display_name": "Without a service"}'
${call('/transactions', { ...price, payment_method: card }, '-H "X-Service-Merchant-Account-ID: $account"')}`,
    answer: { status: 'authorization_failed', error_code: 'all_attempts_skipped' },
  },
}

/** By an amount, the most direct way, or by what the table above says. */
export function paymentAttempt(code: string): Attempt | undefined {
  const entry = catalogue.find(
    ({ trigger, error_code, applies_to }) =>
      trigger === 'amount' && error_code === code && applies_to.includes('authorize'),
  )
  if (!entry) return special[code]
  return {
    command: call('/transactions', { amount: entry.value, currency: 'EUR', payment_method: card }),
    answer: {
      status: `authorization_${entry.outcome}`,
      error_code: code,
      raw_response_code: entry.raw_code,
      raw_response_description: entry.description,
    },
  }
}

export function giftCardAttempt(code: string): Attempt | undefined {
  const [digits] = Object.entries(refusalsByPin).find(([, refusal]) => refusal === code) ?? []
  if (digits === undefined) return undefined
  return {
    command: call('/gift-cards/balances', { items: [{ number: '6035000000001234', pin: `1${digits}` }] }),
    answer: { items: [{ type: 'gift-card', last4: '1234', balance: null, balance_error_code: code }] },
  }
}
