import { searchOf } from '../../src/areas/transactions/operations/filters.ts'
import type { TransactionFilters } from '../../src/areas/transactions/schema/filters.ts'
import { listStatement } from '../../src/areas/transactions/store/list.ts'
import { type Search, scansOf } from '../../src/areas/transactions/store/search.ts'
import type { PageRequest } from '../../src/page.ts'
import type { Accounts } from '../../src/platform/accounts.ts'
import type { Sql } from '../../src/platform/sql.ts'
import { bigAccount, smallAccounts } from './big-table.ts'
import { pairs, withEverything } from './pairs.ts'
import type { Work } from './plan.ts'
import { type Share, type Subject, valuesFor } from './values.ts'

/** A list that somebody asks for, and how much may be read for it. */
export interface Case {
  name: string
  statement: Sql
  most: { rows: number; sorted: number }
  /** Why it may read more: the list of what is known not to be bounded. */
  unbounded: string | undefined
}

/** Ids of the big account. */
export interface Places {
  oldest: string
  middle: string
}

interface Asked {
  name: string
  filters: TransactionFilters
  shares: readonly Share[]
}

const limit = 20
const page = limit + 1

type Place = 'first page' | 'older than the middle' | 'newer than the middle'
const everyPlace: readonly Place[] = ['first page', 'older than the middle', 'newer than the middle']

interface Reach {
  reach: string
  accounts: Accounts
  count: number
  places: readonly Place[]
}
const one: Reach = { reach: 'one account', accounts: [bigAccount], count: 1, places: everyPlace }
const ten: Reach = {
  reach: 'ten accounts',
  accounts: [bigAccount, ...smallAccounts.slice(0, 9)],
  count: 10,
  places: everyPlace,
}
const all: Reach = { reach: 'all accounts', accounts: 'all', count: 1 + smallAccounts.length, places: ['first page'] }

function positionAt(place: Place, middle: string): PageRequest['position'] {
  if (place === 'first page') return undefined
  return { direction: place === 'older than the middle' ? 'older' : 'newer', inclusive: false, id: middle }
}

/** Every filter alone. */
export function singles(places: Places): Case[] {
  const asked = Object.entries(valuesFor(places.oldest)).flatMap(([subject, values]) =>
    Object.entries(values).map(
      ([share, filters]): Asked => ({ name: `${subject} (${share})`, filters, shares: [share as Share] }),
    ),
  )
  return casesOf([{ name: 'no filter', filters: {}, shares: [] }, ...asked], [one, ten, all], places)
}

const sharesOfPairs: readonly (readonly [Share, Share])[] = [
  ['nothing', 'many'],
  ['many', 'nothing'],
  ['few', 'many'],
  ['many', 'few'],
  ['many', 'many'],
]

/** The pairs of pairs.ts. */
export function couples(places: Places): Case[] {
  const values = valuesFor(places.oldest)
  const withTime = (Object.keys(values) as Subject[])
    .filter((subject) => !subject.startsWith(withEverything))
    .map((subject) => [withEverything, subject] as const)
  const named = pairs.flatMap(([left, others]) => others.map((right) => [left, right] as const))
  const asked = [...named, ...withTime].flatMap(([left, right]) =>
    sharesOfPairs.flatMap((shares): Asked[] => {
      const [first, second] = [values[left][shares[0]], values[right][shares[1]]]
      if (!first || !second) return []
      return [{ name: `${left} (${shares[0]}) and ${right} (${shares[1]})`, filters: { ...first, ...second }, shares }]
    }),
  )
  return casesOf(asked, [one, { ...ten, places: ['older than the middle'] }, all], places)
}

function casesOf(asked: readonly Asked[], reaches: readonly Reach[], { middle }: Places): Case[] {
  return asked.flatMap(({ name, filters, shares }) => {
    const search = searchOf(filters)
    // Nothing can match: no statement is run.
    if (!search) return []
    return reaches.flatMap(({ reach, accounts, count, places }) =>
      places.map((place) => {
        const position = positionAt(place, middle)
        return {
          name: `${name}, ${reach}, ${place}`,
          statement: listStatement(accounts, search, { limit, position, seal: () => '' }),
          most: mostFor(search, count),
          unbounded: reasonFor(search, { shares, accounts: count, position }),
        }
      }),
    )
  })
}

/**
 * What a list may read. Each account, each alternative and each value of a lone list is a scan that finds one page at most; where half of the rows pass a
 * condition, or half of half pass two, in two tables, luck included, that is twenty pages read for one. A scan that finds nothing counts for one row, on
 * either side of the cursor.
 */
function mostFor(search: Search, accounts: number): Case['most'] {
  const scans = scansOf(search)
  const values = Math.max(...scans.map(({ conditions }) => conditions[0]?.values?.list.length ?? 1))
  return {
    rows: accounts * (2 * values + 20 * page * scans.length),
    sorted: accounts * page * Math.max(values, scans.length),
  }
}

function reasonFor(
  search: Search,
  { shares, accounts, position }: { shares: readonly Share[]; accounts: number; position: PageRequest['position'] },
): string | undefined {
  const tables = new Set(scansOf(search).flatMap((scan) => scan.tables))
  const allMany = shares.every((share) => share === 'many')
  if (accounts > 1 && tables.size > 1 && allMany) {
    return 'PostgreSQL does not know that the ids of an account are the same in two tables, expects few hits and reads all'
  }
  if (
    search.updated.from !== undefined &&
    search.updated.to === undefined &&
    allMany &&
    position?.direction === 'older'
  ) {
    return 'what is older than the bound was changed before it, which no statistics say'
  }
  return undefined
}

/** What is wrong with what a list did; nothing, when it stayed within its bounds. */
export function problemsOf({ name, most, unbounded }: Case, work: Work): string[] {
  const problems = work.seqScans.map((table) => `reads all of ${table}`)
  if (unbounded === undefined) {
    if (work.rows > most.rows) problems.push(`touches ${work.rows} rows, not ${most.rows}`)
    // A look into an index and its table is four blocks at most.
    if (work.blocks > 4 * most.rows) problems.push(`touches ${work.blocks} blocks, not ${4 * most.rows}`)
    if (work.sorted > most.sorted) problems.push(`sorts ${work.sorted} rows, not ${most.sorted}`)
  }
  return problems.map((problem) => [`${name}: ${problem}`, ...work.plan].join('\n'))
}
