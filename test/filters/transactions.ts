import type { methods } from '../../src/methods.ts'
import { paymentSources, transactionStatuses } from '../../src/areas/transactions/rules.ts'
import type { Redeemed } from '../redemptions.ts'
import type { Random } from './random.ts'

/** A transaction as the filters see it, under the names that the API has for its fields. */
export interface Made {
  merchant_account_id: string
  id: string
  /** Milliseconds since 1970, as `updated_at`. */
  created_at: number
  updated_at: number
  amount: number
  currency: string
  country: string | null
  status: (typeof transactionStatuses)[number]
  payment_source: (typeof paymentSources)[number]
  merchant_initiated: boolean
  is_subsequent_payment: boolean
  pending_review: boolean
  disputed: boolean
  settled: boolean
  refunded_amount: number
  has_three_d_secure: boolean
  method: (typeof methods)[number] | null
  payment_method_id: string | null
  payment_method_label: string | null
  payment_method_scheme: 'visa' | 'mastercard' | 'amex' | null
  payment_method_country: string | null
  payment_method_bin: string | null
  payment_method_fingerprint: string | null
  payment_service_id: string | null
  payment_service_transaction_id: string | null
  error_code: string | null
  checkout_session_id: string | null
  external_identifier: string | null
  buyer_id: string | null
  buyer_external_identifier: string | null
  buyer_email_address: string | null
  metadata: readonly Pair[] | null
  gift_card_redemptions: readonly Redeemed[]
}
export type Pair = readonly [name: string, value: string]

export const accounts = { large: 'default', small: 'other', tiny: 'tiny', empty: 'empty' } as const

const day = 24 * 60 * 60 * 1000
const begin = Date.UTC(2026, 1, 27, 23, 59, 59, 998)
/** Around the turn of a second, of a day and of a month, and some that are far apart. */
const moments = [0, 1, 2, 3, 4, 1_000, 1_001, 1_002, 1_003, day, day + 1, day + 2, 30 * day, 30 * day + 1].map(
  (after) => begin + after,
)

const uuid = (number: number) => `0195${number.toString(16).padStart(4, '0')}-0000-7000-8000-00000000000${number % 10}`
const uuids = (first: number) => [0, 1, 2, 3].map((index) => uuid(first + index))
const pools = {
  buyers: uuids(0x100),
  methods: uuids(0x200),
  services: uuids(0x300),
  giftCards: uuids(0x400),
  sessions: ['7d4f0c1e-3a52-4c58-9a4e-0d6f3f0b7a11', '7d4f0c1e-3a52-4c58-9a4e-0d6f3f0b7a12'],
}

/** References of all kinds come from here, so that the same text is one transaction's reference and another's buyer. */
const references = [
  'order-1',
  'order-2',
  'Order-1',
  'order-1 ',
  'order-10',
  "o'rder",
  'ord\u00e9r',
  'orde\u0301r',
  '100%',
  'order_1',
  '\\',
  '"',
  '\u{1f600}',
  'null',
  'ada@example.com',
  'ADA@example.com',
  ...pools.buyers.slice(0, 2),
  ...pools.buyers.slice(0, 2).map((id) => id.toUpperCase()),
]
const emails = [
  'ada@example.com',
  'Ada@Example.com',
  'ADA@EXAMPLE.COM',
  'ada@example.co',
  'ada@example.comm',
  'eva@example.com',
  // Lower case is one letter more here, and depends on the place of the letter there.
  '\u0130da@example.com',
  '\u039f\u03a3@example.com',
  '\u03bf\u03c2@example.com',
  '\u00c9va@example.com',
  '\u00e9va@example.com',
  'a%a@example.com',
]
const names = ['order', 'Order', 'shop', 'a"b', "a'b", '\u00fcber', '__proto__', 'constructor', '0', '{}', 'a b']
const values = ['', '1', '2', '10', 'true', 'null', 'A', 'a', '"', '\\', 'caf\u00e9', 'cafe\u0301', '\u{1f600}']

/** Random transactions that have much in common, oldest first. */
export function makeTransactions(random: Random): Made[] {
  const sizes = [
    [accounts.large, 200 + random.below(250)],
    [accounts.small, 40 + random.below(80)],
    [accounts.tiny, 1 + random.below(6)],
  ] as const
  const ids = new Set<string>()
  const made = sizes.flatMap(([account, size]) =>
    Array.from({ length: size }, () => makeTransaction(random, account, newId(random, ids))),
  )
  refer(random, made)
  return made.sort((left, right) => (left.id < right.id ? -1 : 1))
}

/** UUIDv7 of a moment, often the first or the last that there is in its millisecond. */
function newId(random: Random, taken: Set<string>): string {
  for (;;) {
    const time = random.pick(moments).toString(16).padStart(12, '0')
    const hex = (length: number) => Array.from({ length }, () => random.below(16).toString(16)).join('')
    const rest = random.pick([
      '7000-8000-000000000000',
      '7000-8000-000000000001',
      '7fff-bfff-ffffffffffff',
      '7fff-bfff-fffffffffffe',
      `7${hex(3)}-8000-000000000000`,
      `7${hex(3)}-${random.pick(['8', '9', 'a', 'b'])}${hex(3)}-${hex(12)}`,
    ])
    const id = `${time.slice(0, 8)}-${time.slice(8)}-${rest}`
    if (!taken.has(id)) {
      taken.add(id)
      return id
    }
  }
}

function makeTransaction(random: Random, account: string, id: string): Made {
  const or = <Value>(items: readonly Value[], isNull = 0.25) => (random.chance(isNull) ? null : random.pick(items))
  const createdAt = Number.parseInt(id.slice(0, 8) + id.slice(9, 13), 16)
  const later = moments.filter((moment) => moment >= createdAt)
  // By another clock, which may be almost a day behind.
  const earlier = [createdAt - 1, createdAt - day + 1]
  const hasMethod = random.chance(0.9)
  const ofMethod = <Value>(items: readonly Value[]) => (hasMethod ? or(items) : null)
  const hasBuyer = random.chance(0.8)
  const ofBuyer = <Value>(items: readonly Value[]) => (hasBuyer ? or(items) : null)
  return {
    merchant_account_id: account,
    id,
    created_at: createdAt,
    updated_at: random.pick(random.chance(0.8) ? later : earlier),
    amount: random.pick([0, 1, 99, 100, 101, 1299, 1300, 99_999_998, 99_999_999]),
    currency: random.pick(['EUR', 'EUR', 'USD', 'GBP', 'JPY']),
    country: or(['DE', 'DE', 'US', 'GB']),
    status: random.pick(transactionStatuses),
    payment_source: random.pick(paymentSources),
    merchant_initiated: random.chance(0.4),
    is_subsequent_payment: random.chance(0.4),
    pending_review: random.chance(0.3),
    disputed: random.chance(0.3),
    settled: random.chance(0.4),
    refunded_amount: random.pick([0, 0, 1, 100]),
    has_three_d_secure: random.chance(0.4),
    method: hasMethod ? random.pick(['card', 'card', 'ideal', 'klarna', 'id']) : null,
    payment_method_id: ofMethod(pools.methods),
    payment_method_label: ofMethod(['1111', '1112', '0000', 'ada@example.com', 'Ada@example.com']),
    payment_method_scheme: ofMethod(['visa', 'visa', 'mastercard', 'amex']),
    payment_method_country: ofMethod(['DE', 'US', 'GB']),
    payment_method_bin: ofMethod(['411111', '41111111', '41111112', '555555']),
    payment_method_fingerprint: ofMethod(['a', 'b'].flatMap((letter) => [letter.repeat(64), `${letter.repeat(63)}c`])),
    payment_service_id: or(pools.services),
    payment_service_transaction_id: or(references, 0.5),
    error_code: or(['insufficient_funds', 'expired_payment_method', 'service_error'], 0.5),
    checkout_session_id: or(pools.sessions, 0.6),
    external_identifier: or(references),
    buyer_id: ofBuyer(pools.buyers),
    buyer_external_identifier: ofBuyer(references),
    buyer_email_address: ofBuyer(emails),
    metadata: or([[], ...Array.from({ length: 6 }, () => makeMetadata(random))], 0.3),
    gift_card_redemptions: Array.from({ length: random.pick([0, 0, 0, 1, 2, 3]) }, () => ({
      gift_card_id: or(pools.giftCards),
      last4: random.pick(['1111', '1112', '0000', '0001']),
      status: random.pick(['created', 'succeeded', 'succeeded', 'failed', 'skipped'] as const),
    })),
  }
}

const makeMetadata = (random: Random): Pair[] =>
  random.some(names, 1 + random.below(4)).map((name) => [name, random.pick(values)] as const)

/** Some are referred to by the id of another, in either case. */
function refer(random: Random, made: readonly Made[]): void {
  for (const transaction of made) {
    if (!random.chance(0.08)) continue
    const { id } = random.pick(made)
    const field = random.pick(['external_identifier', 'payment_service_transaction_id'] as const)
    transaction[field] = random.chance(0.7) ? id : id.toUpperCase()
  }
}
