import { paymentSources, transactionStatuses } from '../../src/areas/transactions/rules.ts'
import { reconciliationIdOf } from '../../src/ids.ts'
import { type FilterName, type Filters, filterNames } from './oracle.ts'
import type { Random } from './random.ts'
import { accounts, type Made, type Pair } from './transactions.ts'

/** Who asks. Without accounts of its own a key pair reaches all. */
export const callers = {
  all: [],
  some: [accounts.small, accounts.tiny, accounts.empty],
  two: [accounts.large, accounts.small],
  one: [accounts.tiny],
} as const satisfies Record<string, readonly string[]>
export type CallerName = keyof typeof callers

export interface Query {
  caller: CallerName
  /** The merchant account header. */
  header: string | undefined
  /** The accounts that it acts upon. */
  accounts: readonly string[]
  filters: Filters
  /** The filters as they are sent. */
  parameters: readonly Parameter[]
  /** Pages after the first, and the limit of each; undefined: none is sent. */
  steps: readonly { way: 'next' | 'previous'; limit: number | undefined }[]
  limit: number | undefined
}
type Parameter = readonly [name: FilterName, text: string]

/** A query is mostly about one transaction, which its filters are likely to let through. */
interface Subject {
  random: Random
  target: Made
  all: readonly Made[]
}
type Field = { [Name in keyof Made]: Made[Name] extends string | null ? Name : never }[keyof Made]

/** The ones with most that can be wrong come more often. */
const often: readonly FilterName[] = [...filterNames, 'search', 'search', 'buyer_search', 'metadata', 'metadata']

export function makeQuery(random: Random, all: readonly Made[]): Query {
  const subject = { random, all, target: random.pick(all) }
  const names = random.some(often, random.pick([1, 1, 1, 2, 2, 3, 4, 5, 6]))
  // Together they may be of two gift cards, which chance alone would hardly ever ask.
  if (names.includes('gift_card_id') && random.chance(0.5)) names.push('gift_card_last4')
  const filters: Filters = Object.fromEntries(names.map((name) => [name, makers[name](subject)]))
  const limit = makeLimit(random)
  const way = (name: 'next' | 'previous', most: number) =>
    Array.from({ length: random.below(most + 1) }, () => ({
      way: name,
      limit: random.chance(0.9) ? limit : makeLimit(random),
    }))
  return {
    ...makeReach(random, subject.target),
    filters,
    parameters: parametersOf(random, filters),
    limit,
    steps: [...way('next', 7), ...way('previous', 4), ...way('next', 1)],
  }
}

/** Without the filter of this name. */
export const without = (query: Query, name: FilterName): Query => ({
  ...query,
  filters: Object.fromEntries(Object.entries(query.filters).filter(([other]) => other !== name)),
  parameters: query.parameters.filter(([other]) => other !== name),
})

function makeLimit(random: Random): number | undefined {
  return random.pick([1, 2, 3, 5, 10, 19, 20, 21, 100, 500, 1 + random.below(30), 1 + random.below(500), undefined])
}

function makeReach(random: Random, target: Made): Pick<Query, 'caller' | 'header' | 'accounts'> {
  const caller = random.pick(Object.keys(callers) as CallerName[])
  const own: readonly string[] = callers[caller]
  const reach = own.length === 0 ? Object.values(accounts) : own
  const header = random.pick([
    undefined,
    '*',
    '*',
    '*',
    random.pick(reach),
    target.merchant_account_id,
    target.merchant_account_id,
  ])
  if (header === '*') return { caller, header, accounts: reach }
  if (header === undefined || !reach.includes(header)) {
    return { caller, header: undefined, accounts: [own[0] ?? accounts.large] }
  }
  return { caller, header, accounts: [header] }
}

/** The target's own text, or that of another; sometimes in another case or with a letter more or less. */
const like =
  (field: Field) =>
  ({ random, target, all }: Subject): string => {
    const others = all.flatMap((transaction) => transaction[field] ?? [])
    const own = random.chance(0.85) ? target[field] : null
    const text = own ?? (others.length > 0 ? random.pick(others) : 'nothing')
    return random.chance(0.8) ? text : changed(random, text)
  }

function changed(random: Random, text: string): string {
  const capitals = text.toUpperCase()
  return random.pick([
    capitals,
    capitals,
    capitals,
    text.toLowerCase(),
    `${text}x`,
    `${text} `,
    text.slice(0, -1) || 'x',
  ])
}

/** The same for what must be a UUID. */
const likeId =
  (field: Field) =>
  (subject: Subject): string => {
    const { random, target, all } = subject
    const others = all.flatMap((transaction) => transaction[field] ?? [])
    const id = (random.chance(0.85) ? target[field] : null) ?? random.pick([...others, someId])
    return random.chance(0.9) ? id : `${id.slice(0, -1)}${id.endsWith('e') ? 'd' : 'e'}`
  }
const someId = '01950000-0000-7000-8000-000000000000'

/** One to several of those that make one. */
const several =
  (make: (subject: Subject) => string) =>
  (subject: Subject): string[] =>
    Array.from({ length: subject.random.pick([1, 1, 2, 3, 5]) }, () => make(subject))

const oneOf =
  (field: Field, all: readonly string[]) =>
  ({ random, target }: Subject): string =>
    (random.chance(0.6) ? target[field] : null) ?? random.pick(all)

const flag =
  (value: (target: Made) => boolean) =>
  ({ random, target }: Subject): boolean =>
    random.chance(0.85) ? value(target) : random.chance(0.5)

const nearAmount = ({ random, target, all }: Subject): number =>
  Math.max(0, random.pick([target, target, random.pick(all)]).amount + random.pick([-1, 0, 0, 1]))

/** On the millisecond, one beside it, or between two. */
const nearMoment =
  (field: 'created_at' | 'updated_at') =>
  ({ random, target, all }: Subject): bigint => {
    const moment = random.pick([target, target, random.pick(all)])[field] + random.pick([-1, 0, 0, 0, 1])
    return BigInt(moment) * 1_000_000n + BigInt(random.pick([0, 0, 0, -1, 1, -1_000, 1_000, 499_000, 500_000, 999_000]))
  }

/** Of the target, and sometimes one more or another value; a name may come twice, and then the last value counts. */
function nearMetadata({ random, target, all }: Subject): Pair[][] {
  const every = all.flatMap(({ metadata }) => metadata ?? [])
  const own = target.metadata ?? []
  const wanted = random.some(own, random.below(own.length + 1))
  if (random.chance(0.25) || wanted.length === 0) wanted.push(random.pick(every))
  if (random.chance(0.1)) wanted.push([random.pick(every)[0], 'nothing has this'])
  const outdone = wanted.filter(() => random.chance(0.15)).map(([name]): Pair => [name, random.pick(every)[1]])
  const pairs = [...outdone, ...wanted]
  const objects: Pair[][] = [[]]
  for (const pair of pairs) {
    if (random.chance(0.4)) objects.push([])
    objects.at(-1)?.push(pair)
  }
  return objects
}

/** Of the target's gift cards, or of another's, or of none. */
const nearGiftCard =
  (field: 'gift_card_id' | 'last4', ofNone: string) =>
  ({ random, target, all }: Subject): string => {
    const of = ({ gift_card_redemptions }: Made) =>
      gift_card_redemptions.flatMap((redemption) => redemption[field] ?? [])
    const own = random.chance(0.85) ? of(target) : []
    const texts = own.length > 0 ? own : [...all.flatMap(of), ofNone]
    return random.chance(0.95) ? random.pick(texts) : ofNone
  }

const makers: { [Name in FilterName]: (subject: Subject) => NonNullable<Filters[Name]> } = {
  created_at_gte: nearMoment('created_at'),
  created_at_lte: nearMoment('created_at'),
  updated_at_gte: nearMoment('updated_at'),
  updated_at_lte: nearMoment('updated_at'),
  amount_eq: nearAmount,
  amount_gte: nearAmount,
  amount_lte: nearAmount,
  id: likeId('id'),
  reconciliation_id: (subject) => {
    const text = reconciliationIdOf(likeId('id')(subject))
    if (subject.random.chance(0.8)) return text
    return subject.random.pick([`0${text}`, `${text}-`, text.toLowerCase(), 'z'.repeat(22)])
  },
  external_identifier: like('external_identifier'),
  buyer_id: like('buyer_id'),
  buyer_external_identifier: like('buyer_external_identifier'),
  buyer_email_address: like('buyer_email_address'),
  buyer_search: (subject) =>
    several((of) =>
      like(of.random.pick(['buyer_id', 'buyer_external_identifier', 'buyer_email_address'] as const))(of),
    )(subject),
  search: (subject) =>
    like(
      subject.random.pick([
        'buyer_external_identifier',
        'buyer_id',
        'external_identifier',
        'id',
        'id',
        'payment_service_transaction_id',
      ] as const),
    )(subject),
  checkout_session_id: likeId('checkout_session_id'),
  payment_link_id: likeId('id'),
  reauthorized_from_transaction_id: likeId('id'),
  ip_address: () => '192.0.2.1',
  gift_card_id: nearGiftCard('gift_card_id', someId),
  gift_card_last4: nearGiftCard('last4', '9999'),
  has_gift_card_redemptions: flag(({ gift_card_redemptions }) => gift_card_redemptions.length > 0),
  has_refunds: flag(({ refunded_amount }) => refunded_amount > 0),
  has_settlements: flag(({ settled }) => settled),
  used_3ds: flag(({ has_three_d_secure }) => has_three_d_secure),
  pending_review: flag(({ pending_review }) => pending_review),
  disputed: flag(({ disputed }) => disputed),
  is_subsequent_payment: flag(({ is_subsequent_payment }) => is_subsequent_payment),
  merchant_initiated: flag(({ merchant_initiated }) => merchant_initiated),
  status: several(oneOf('status', transactionStatuses)),
  currency: several(oneOf('currency', ['EUR', 'USD', 'GBP', 'JPY', 'XXX'])),
  country: several(oneOf('country', ['DE', 'US', 'GB', 'FR'])),
  method: several(oneOf('method', ['card', 'ideal', 'klarna', 'id', 'paypal'])),
  error_code: several(like('error_code')),
  payment_source: several(oneOf('payment_source', paymentSources)),
  payment_service_id: several(likeId('payment_service_id')),
  payment_service_transaction_id: like('payment_service_transaction_id'),
  payment_method_id: likeId('payment_method_id'),
  payment_method_label: like('payment_method_label'),
  payment_method_scheme: several(oneOf('payment_method_scheme', ['visa', 'mastercard', 'amex', 'jcb'])),
  payment_method_country: oneOf('payment_method_country', ['DE', 'US', 'GB', 'FR']),
  payment_method_bin: like('payment_method_bin'),
  payment_method_fingerprint: like('payment_method_fingerprint'),
  metadata: nearMetadata,
}

function parametersOf(random: Random, filters: Filters): Parameter[] {
  return Object.entries(filters).flatMap(([name, value]: [string, unknown]) => {
    const values = Array.isArray(value) ? (value as unknown[]) : [value]
    return values.map((one) => [name as FilterName, spell(random, one)] as const)
  })
}

function spell(random: Random, value: unknown): string {
  if (typeof value === 'bigint') return spellMoment(random, value)
  return Array.isArray(value) ? spellObject(value as Pair[]) : String(value)
}

/** By hand, because JSON.stringify cannot say a name twice. */
const spellObject = (pairs: readonly Pair[]) =>
  `{${pairs.map(([name, value]) => `${JSON.stringify(name)}: ${JSON.stringify(value)}`).join(', ')}}`

/** In some time zone, with as many digits as are needed or more, at most 9. */
function spellMoment(random: Random, moment: bigint): string {
  const [zone, minutes] = random.pick([
    ['Z', 0],
    ['+00:00', 0],
    ['+02:00', 120],
    ['-11:30', -690],
    ['+14:00', 840],
  ] as const)
  const milliseconds = Number(moment / 1_000_000n) + minutes * 60_000
  const [seconds = ''] = new Date(milliseconds).toISOString().split('.')
  const nanoseconds = (moment % 1_000_000_000n).toString().padStart(9, '0')
  const digits = (nanoseconds.replace(/0+$/, '') + random.pick(['', '', '0', '000'])).slice(0, 9)
  return `${seconds}${digits === '' ? '' : `.${digits}`}${zone}`
}
