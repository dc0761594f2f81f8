import type { TransactionFilters } from '../../src/areas/transactions/schema/filters.ts'
import type { Search } from '../../src/areas/transactions/store/search.ts'
import type { Collection } from '../../src/schema.ts'
import type { Ask } from './compare.ts'
import { type FilterName, type Meanings, meanings } from './oracle.ts'
import type { Query } from './queries.ts'

/** Mistakes on purpose: the list and the oracle then differ, and the comparison must notice. */
export interface Planted {
  /** As in "the comparison finds …". */
  name: string
  /** What a difference comes down to. */
  filters: readonly FilterName[]
  by?: Partial<Meanings>
  /** Changes the query that is expected to be answered. */
  reach?: (query: Query) => Query['accounts']
  /** Changes what the list looks for. */
  search?: (search: Search, filters: TransactionFilters) => Search
  /** Changes the statements of the list; each of them must be met, so that none goes stale unnoticed. */
  rewrites?: readonly [search: RegExp, replacement: string][]
  /** Changes the answers. */
  answer?: (page: Collection<unknown>, cursor: string | null) => Collection<unknown>
}

const millisecond = 1_000_000n
const nanoseconds = (milliseconds: number) => BigInt(milliseconds) * millisecond

export const planted: readonly Planted[] = [
  {
    name: 'created_at_gte that takes the millisecond its bound lies in',
    filters: ['created_at_gte'],
    by: { created_at_gte: ({ created_at }, bound) => nanoseconds(created_at) >= bound - (bound % millisecond) },
  },
  {
    name: 'updated_at_lte that is rounded to the next millisecond',
    filters: ['updated_at_lte'],
    by: { updated_at_lte: ({ updated_at }, bound) => nanoseconds(updated_at) <= bound + millisecond / 2n },
  },
  {
    name: 'a status filter that takes only its first value',
    filters: ['status'],
    by: { status: ({ status }, [first]) => status === first },
  },
  {
    name: 'a filter by country that lets through what has none',
    filters: ['country'],
    by: { country: ({ country }, wanted) => country === null || wanted.includes(country) },
  },
  {
    name: 'metadata of which one pair is enough',
    filters: ['metadata'],
    by: {
      metadata: ({ metadata }, objects) => {
        const wanted = [...new Map(objects.flat())]
        const has = new Map(metadata ?? [])
        return wanted.length === 0 || wanted.some(([name, value]) => has.get(name) === value)
      },
    },
  },
  {
    name: 'metadata of which the first value of a name counts',
    filters: ['metadata'],
    by: { metadata: (transaction, objects) => meanings.metadata(transaction, [objects.flat().toReversed()]) },
  },
  {
    name: 'metadata without names that objects have by themselves',
    filters: ['metadata'],
    by: {
      metadata: (transaction, objects) =>
        meanings.metadata(transaction, [objects.flat().filter(([name]) => name !== '__proto__')]),
    },
  },
  {
    name: 'a search that forgets the id of the payment service',
    filters: ['search'],
    by: {
      search: (transaction, text) => meanings.search({ ...transaction, payment_service_transaction_id: null }, text),
    },
  },
  {
    name: 'a search that knows an id in capital letters',
    filters: ['search'],
    by: { search: (transaction, text) => meanings.search(transaction, text) || transaction.id === text.toLowerCase() },
  },
  {
    name: 'a search for buyers that looks at the first text only',
    filters: ['buyer_search'],
    by: { buyer_search: (transaction, wanted) => meanings.buyer_search(transaction, wanted.slice(0, 1)) },
  },
  {
    name: 'gift cards that count only where they paid',
    filters: ['has_gift_card_redemptions'],
    by: {
      has_gift_card_redemptions: ({ gift_card_redemptions }, wanted) =>
        gift_card_redemptions.some(({ status }) => status === 'succeeded') === wanted,
    },
  },
  {
    name: 'the last digits of the first gift card only',
    filters: ['gift_card_last4'],
    by: { gift_card_last4: ({ gift_card_redemptions: [first] }, wanted) => first?.last4 === wanted },
  },
  {
    name: 'created_at_lte without its last millisecond, in what is looked for',
    filters: ['created_at_lte'],
    search: ({ ids, ...search }) => ({ ...search, ids: { ...ids, to: ids.to && ids.to - 1 } }),
  },
  {
    name: 'amount_gte that is one too high, in what is looked for',
    filters: ['amount_gte'],
    search: ({ amount, ...search }, { amount_gte }) => ({
      ...search,
      amount: amount_gte === undefined ? amount : { ...amount, from: amount_gte + 1 },
    }),
  },
  {
    name: 'currencies of which only the first is looked for',
    filters: ['currency'],
    search: ({ facts: { currency, ...facts }, ...search }) => ({
      ...search,
      facts: { ...facts, ...(currency && { currency: currency.slice(0, 1) }) },
    }),
  },
  {
    name: 'metadata of which only the last pair is looked for',
    filters: ['metadata'],
    search: (search) => ({ ...search, metadata: search.metadata.slice(-1) }),
  },
  {
    name: 'gift cards that are looked for where there must be none',
    filters: ['has_gift_card_redemptions'],
    search: ({ facts: { has_gift_card_redemptions: wanted, ...facts }, ...search }) => ({
      ...search,
      facts: { ...facts, ...(wanted?.includes(true) && { has_gift_card_redemptions: wanted }) },
    }),
  },
  {
    name: 'a gift card that is not looked for when its last digits are',
    filters: ['gift_card_id', 'gift_card_last4'],
    search: (search) => ({
      ...search,
      giftCards: search.giftCards.last4 === undefined ? search.giftCards : { ...search.giftCards, id: undefined },
    }),
  },
  {
    name: 'an e-mail address that is looked for as it is given',
    filters: ['buyer_email_address'],
    search: ({ facts, ...search }, { buyer_email_address }) => ({
      ...search,
      facts: { ...facts, ...(buyer_email_address !== undefined && { buyer_email_address: [buyer_email_address] }) },
    }),
  },
  {
    name: 'updated_at_lte that leaves out its bound, in SQL',
    filters: ['updated_at_lte'],
    rewrites: [[/states\.updated_at <= /g, 'states.updated_at < ']],
  },
  {
    name: 'a payment that is found once for each gift card of the same last digits, in SQL',
    filters: ['gift_card_last4'],
    rewrites: [
      [
        /transaction_gift_cards as gift_card_last4/g,
        `(select merchant_account_id, 'last4' as name, last4 as value, transaction_id as id from gift_card_redemptions) as gift_card_last4`,
      ],
    ],
  },
  {
    name: 'an id and last digits that must be of the same gift card, in SQL',
    filters: ['gift_card_id', 'gift_card_last4'],
    rewrites: [
      [
        /gift_card_last4\.id = gift_card_id\.id/g,
        `$& and exists (select from gift_card_redemptions as one where one.transaction_id = gift_card_id.id
          and one.gift_card_id::text = gift_card_id.value and one.last4 = gift_card_last4.value)`,
      ],
    ],
  },
  {
    name: 'a list without any wall between accounts',
    filters: [],
    rewrites: [
      [/\b(\w+\.)?merchant_account_id = (\$\d+(::text)?|reached\.id)/g, '($&) is not null'],
      [/set_config\('florin\.accounts', (\$\d+), true\)/, "set_config('florin.accounts', '*' || left($1, 0), true)"],
    ],
  },
  {
    name: 'a cursor that repeats a row',
    filters: [],
    rewrites: [[/\bid < (?=\$\d+::uuid)/g, 'id <= ']],
  },
  {
    name: 'a missing account predicate',
    filters: [],
    reach: ({ accounts }) => [...accounts, 'default'],
  },
  {
    name: 'an account that is left out of all',
    filters: [],
    reach: ({ accounts }) => (accounts.length > 1 ? accounts.slice(1) : accounts),
  },
  {
    name: 'a cursor that skips a row',
    filters: [],
    answer: (page, cursor) => (cursor === null ? page : { ...page, items: page.items.slice(1) }),
  },
  {
    name: 'a cursor too many at the end',
    filters: [],
    answer: (page) => ({ ...page, next_cursor: page.next_cursor ?? 'more' }),
  },
  {
    name: 'pages back that are not turned round',
    filters: [],
    answer: (page, cursor) =>
      cursor !== null && page.next_cursor !== null ? { ...page, items: page.items.toReversed() } : page,
  },
]

/** The same, with its answers changed. */
export const changing =
  (ask: Ask, answer: NonNullable<Planted['answer']>): Ask =>
  async (caller, header, parameters) => {
    const { status, text } = await ask(caller, header, parameters)
    if (status !== 200) return { status, text }
    const page = JSON.parse(text) as Collection<unknown>
    return { status, text: JSON.stringify(answer(page, parameters.get('cursor'))) }
  }
