import { type Chance, chanceOf, hex8, mix, skewed } from './chance.ts'
import { lateUpdate, marks } from './values.ts'
import { accountIds, accountOf, bigAccount, idOf, idOfThing, isOldest, momentOf } from './world.ts'

/** What a payment of the given number is like. Shares as in shops that sell to several countries; on the big account also the values of values.ts. */

export interface Buyer {
  id: string | null
  reference: string | null
  email: string
  number: number
}

interface Card {
  id: string | null
  label: string
  scheme: string
  bin: string
  fingerprint: string
  country: string
}

interface GiftCard {
  id: string
  last4: string
}

export interface Drawn {
  account: string
  id: string
  createdAt: number
  updatedAt: number
  amount: number
  currency: string
  country: string | null
  method: string
  status: string
  errorCode: string | null
  source: string
  isMerchantInitiated: boolean
  isSubsequent: boolean
  isReviewed: boolean
  isDisputed: boolean
  isRefunded: boolean
  isSettled: boolean
  isAuthenticated: boolean
  reference: string | null
  providerReference: string | null
  serviceId: string
  sessionId: string | null
  buyer: Buyer | null
  hasShipping: boolean
  card: Card | null
  items: number
  metadata: readonly (readonly [name: string, value: string])[]
  giftCard: GiftCard | null
}

const currency = skewed([
  ['EUR', 50],
  ['USD', 20],
  ['GBP', 14],
  ['PLN', 5],
  ['SEK', 4],
  ['CHF', 3],
  ['DKK', 2],
  ['NOK', 1],
  ['CZK', 1],
])
const country = skewed<string | null>([
  ['DE', 50],
  ['US', 10],
  ['GB', 9],
  ['FR', 7],
  [null, 7],
  ['NL', 5],
  ['PL', 4],
  ['SE', 3],
  ['AT', 3],
  ['CH', 2],
])
const otherCountry = skewed([
  ['FR', 30],
  ['GB', 25],
  ['US', 20],
  ['NL', 15],
  ['PL', 10],
])
/** With the card itself or from a wallet: 85 %. */
const method = skewed([
  ['card', 50],
  ['applepay', 21],
  ['googlepay', 14],
  ['paypal', 7],
  ['ideal', 4],
  ['klarna', 3],
  ['sepa', 1],
])
const walletsAndCards = new Set(['card', 'applepay', 'googlepay'])
const scheme = skewed([
  ['mastercard', 62],
  ['amex', 18],
  ['maestro', 10],
  ['discover', 6],
  ['jcb', 4],
])
/** The big account asks for the same money again and again, and is refused often. */
const statusOfBig = skewed([
  ['capture_succeeded', 47],
  ['authorization_declined', 45],
  ['authorization_succeeded', 3],
  ['authorization_failed', 2],
  ['authorization_voided', 1.5],
  ['capture_pending', 1],
  ['processing', 0.5],
])
const statusOfSmall = skewed([
  ['capture_succeeded', 72],
  ['authorization_declined', 12],
  ['authorization_succeeded', 7],
  ['authorization_failed', 3],
  ['authorization_voided', 3],
  ['capture_pending', 2],
  ['buyer_approval_pending', 0.5],
  ['processing', 0.5],
])
const declined = skewed([
  ['insufficient_funds', 97],
  ['refused_transaction', 2],
  ['suspected_fraud', 1],
])
const failed = skewed([
  ['service_network_error', 60],
  ['invalid_service_response', 40],
])
const source = skewed([
  ['ecommerce', 50],
  ['card_on_file', 28],
  ['recurring', 22],
])

/** Prices have a long tail; half of all is one price. */
function amountOf(chance: Chance): number {
  if (chance.happens(0.5)) return marks.amount.half
  return 1_000 + Math.floor(9_000 * Math.exp(1.6 * (chance.next() + chance.next() - 1)))
}

/** About eight payments each. */
const buyersOf = (rows: number, isBig: boolean) => Math.max(10, Math.floor(rows / (isBig ? 40 : 1_600)))

function buyerOf(chance: Chance, account: number, rows: number, isBig: boolean): Buyer | null {
  if (isBig && chance.happens(0.5))
    return {
      id: marks.buyer_id.half,
      reference: marks.buyer_external_identifier.half,
      email: marks.buyer_email_address.half,
      number: 3,
    }
  const number = account * 10_000_000 + chance.below(buyersOf(rows, isBig))
  const email = `customer.${number}@example.com`
  // 30 % of all are guests, and a few of them tell nothing.
  if (!chance.happens(isBig ? 0.6 : 0.3))
    return { id: idOfThing('buyer', number), reference: `customer-${number}`, email, number }
  return chance.happens(0.1) ? null : { id: null, reference: null, email, number }
}

function cardOf(chance: Chance, holder: number, isBig: boolean): Card {
  if (isBig && chance.happens(0.6))
    return {
      id: marks.payment_method_id.half,
      label: marks.payment_method_label.half,
      scheme: marks.payment_method_scheme.half,
      bin: marks.payment_method_bin.half,
      fingerprint: marks.payment_method_fingerprint.half,
      country: marks.payment_method_country.half,
    }
  const own = chanceOf(holder ^ 0x0ca2d)
  const prints = Array.from({ length: 8 }, (_, index) => hex8(mix(holder, 300 + index)))
  return {
    id: chance.happens(0.6) ? idOfThing('method', holder) : null,
    label: String(1_000 + own.below(9_000)),
    scheme: !isBig && own.happens(0.5) ? 'visa' : scheme(own),
    bin: String(51_000_000 + own.below(400) * 1_000),
    fingerprint: prints.join(''),
    country: otherCountry(own),
  }
}

function metadataOf(chance: Chance, row: number): [string, string][] {
  const channel = chance.next()
  const entries: [string, string][] = []
  if (channel < 0.5) entries.push(['channel', 'web'])
  else if (channel < 0.8) entries.push(['channel', channel < 0.75 ? 'app' : 'till'])
  if (chance.happens(0.6)) entries.push(['order', String(row)])
  if (chance.happens(0.1)) entries.push(['campaign', `autumn-${chance.below(20)}`])
  return entries
}

/** One payment in 50 elsewhere. */
function giftCardOf(chance: Chance, row: number, isBig: boolean): GiftCard | null {
  if (isBig) return chance.happens(0.5) ? { id: marks.gift_card_id.half, last4: marks.gift_card_last4.half } : null
  if (!chance.happens(0.02)) return null
  return { id: idOfThing('giftCard', row), last4: String(5_000 + chance.below(5_000)) }
}

const errorOf = (chance: Chance, status: string) =>
  status === 'authorization_declined' ? declined(chance) : status === 'authorization_failed' ? failed(chance) : null

export function drawRow(row: number, rows: number): Drawn {
  const chance = chanceOf(row)
  const account = accountOf(row, chance)
  const isBig = account === bigAccount
  const accountNumber = accountIds.indexOf(account)
  const buyer = buyerOf(chance, accountNumber, rows, isBig)
  const paidBy = method(chance)
  const status = (isBig ? statusOfBig : statusOfSmall)(chance)
  const from = source(chance)
  const isCaptured = status === 'capture_succeeded'
  const createdAt = momentOf(row, rows)
  const half = <Value>(value: Value, otherwise: Value): Value => (isBig && chance.happens(0.5) ? value : otherwise)
  const drawn: Drawn = {
    account,
    id: idOf(row, rows),
    createdAt,
    updatedAt: createdAt + 400 + chance.below(isCaptured ? 259_200_000 : 2_000),
    amount: amountOf(chance),
    currency: currency(chance),
    country: country(chance),
    method: paidBy,
    status,
    errorCode: errorOf(chance, status),
    source: from,
    isMerchantInitiated: !isBig && from === 'recurring',
    isSubsequent: from !== 'ecommerce',
    isReviewed: !isBig && chance.happens(0.002),
    isDisputed: !isBig && isCaptured && chance.happens(0.004),
    isRefunded: !isBig && isCaptured && chance.happens(0.04),
    isSettled: isCaptured,
    isAuthenticated: chance.happens(0.5),
    reference: half(marks.external_identifier.half, chance.happens(0.9) ? `order-${row}` : null),
    providerReference: half(
      marks.payment_service_transaction_id.half,
      `ch_${hex8(mix(row, 400))}${hex8(mix(row, 401))}`,
    ),
    serviceId: half(marks.payment_service_id.half, idOfThing('service', accountNumber * 10 + chance.below(4))),
    sessionId: half<string | null>(
      marks.checkout_session_id.half,
      chance.happens(0.4) ? idOfThing('session', row) : null,
    ),
    buyer,
    hasShipping: chance.happens(0.25),
    card: walletsAndCards.has(paidBy) ? cardOf(chance, buyer?.number ?? row, isBig) : null,
    items: chance.below(3),
    metadata: metadataOf(chance, row),
    giftCard: giftCardOf(chance, row, isBig),
  }
  return isOldest(row) ? markOldest(drawn) : drawn
}

function markOldest(drawn: Drawn): Drawn {
  return {
    ...drawn,
    updatedAt: lateUpdate,
    amount: marks.amount.oldest,
    currency: marks.currency.oldest,
    country: marks.country.oldest,
    method: marks.method.oldest,
    status: marks.status.oldest,
    errorCode: marks.error_code.oldest,
    source: marks.payment_source.oldest,
    isMerchantInitiated: true,
    isReviewed: true,
    isRefunded: true,
    reference: marks.external_identifier.oldest,
    providerReference: marks.payment_service_transaction_id.oldest,
    serviceId: marks.payment_service_id.oldest,
    sessionId: marks.checkout_session_id.oldest,
    buyer: {
      id: marks.buyer_id.oldest,
      reference: marks.buyer_external_identifier.oldest,
      email: marks.buyer_email_address.oldest,
      number: 2,
    },
    card: {
      id: marks.payment_method_id.oldest,
      label: marks.payment_method_label.oldest,
      scheme: marks.payment_method_scheme.oldest,
      bin: marks.payment_method_bin.oldest,
      fingerprint: marks.payment_method_fingerprint.oldest,
      country: marks.payment_method_country.oldest,
    },
    metadata: [Object.entries(marks.metadata.oldest)[0] ?? ['', '']],
    giftCard: { id: marks.gift_card_id.oldest, last4: marks.gift_card_last4.oldest },
  }
}
