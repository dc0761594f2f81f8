import { searchOf } from '../../src/areas/transactions/operations/filters.ts'
import type { TransactionFilters } from '../../src/areas/transactions/schema/filters.ts'
import { readList } from '../../src/areas/transactions/store/list.ts'
import { cursorsOf, type PageRequest, type Position } from '../../src/page.ts'
import type { Accounts } from '../../src/platform/accounts.ts'
import type { Database } from '../../src/platform/postgres.ts'
import { sql } from '../../src/platform/sql.ts'
import type { Collection } from '../../src/schema.ts'
import { channels, currencies, startWriters, walkAccounts, type Writers, type Written } from './writers.ts'

/** Walks through the list of transactions while others are written: what was committed before a walk began is seen exactly once. */

export interface Report {
  walks: number
  pages: number
  rows_seen: number
  inserted: number
  moved: number
  inserted_per_second: number
  missed: number
  repeated: number
  /** Seen, although the filter does not match it or nobody wrote it. */
  strange: number
}

interface Walk {
  pages: number
  seen: Set<string>
  missed: number
  repeated: number
}

export type Mistake = 'none' | 'offsets instead of places' | 'the edge is read again' | 'a row is skipped'

/** A list that somebody walks through. */
interface List {
  accounts: Accounts
  filters: TransactionFilters
  holds: (row: Written) => boolean
  /** Whether what changes its status on the way may be seen or not. */
  isOfStatus?: boolean
}

const filtersOfLists: readonly Omit<List, 'accounts'>[] = [
  { filters: {}, holds: () => true },
  { filters: { currency: [currencies[0]] }, holds: ({ currency }) => currency === currencies[0] },
  {
    filters: { metadata: [JSON.stringify({ channel: channels[0] })] },
    holds: ({ channel }) => channel === channels[0],
  },
  { filters: { status: ['processing'] }, holds: () => true, isOfStatus: true },
]
const lists: readonly List[] = filtersOfLists.flatMap((list) => [
  { ...list, accounts: [walkAccounts[0]], holds: (row) => row.account === walkAccounts[0] && list.holds(row) },
  { ...list, accounts: walkAccounts },
  { ...list, accounts: 'all' as const },
])

const smallestPage = 20

interface How {
  seconds: number
  perSecond: number
  /** There before the first walk. */
  rows: number
  largestPage: number
  mistake?: Mistake
}

/** Each list is walked through at least once, and again until the time is over. */
export async function runWalks(
  { api, writer, admin }: { api: Database; writer: Database; admin: Database },
  how: How,
): Promise<Report> {
  await admin.run(sql`
    insert into merchant_accounts (id, list_id, display_name, account_updater_enabled, async_network_tokens_enabled, created_at, updated_at)
    select id, gen_random_uuid(), id, false, false, now(), now() from unnest(${walkAccounts}::text[]) as made (id) on conflict do nothing`)
  const writers = startWriters(writer, how.perSecond)
  const report = { walks: 0, pages: 0, rows_seen: 0, missed: 0, repeated: 0 }
  const strangers = new Map<string, List>()
  while (writers.rows.length < how.rows) await writers.nextCommit()

  const [began, alreadyThere] = [performance.now(), writers.rows.length]
  const isOver = () => performance.now() - began >= how.seconds * 1000
  async function read(list: List): Promise<void> {
    do {
      const { seen, pages, missed, repeated } = await walk(api, list, writers, how)
      report.walks += 1
      report.pages += pages
      report.rows_seen += seen.size
      report.missed += missed
      report.repeated += repeated
      for (const row of writers.rows) if (list.holds(row)) seen.delete(row.id)
      for (const id of seen) strangers.set(id, list)
    } while (!isOver())
  }
  await Promise.all(lists.map(read))
  const seconds = (performance.now() - began) / 1000
  const inserted = writers.rows.length - alreadyThere
  await writers.stop()
  // A row can be seen before its writer hears of its commit.
  for (const row of writers.rows) if (strangers.get(row.id)?.holds(row)) strangers.delete(row.id)
  const moved = writers.rows.filter((row) => row.moved).length
  return { ...report, strange: strangers.size, inserted, moved, inserted_per_second: Math.round(inserted / seconds) }
}

async function walk(
  api: Database,
  list: List,
  writers: Writers,
  { largestPage, mistake = 'none' }: How,
): Promise<Walk> {
  const mustBeSeen = (row: Written) => list.holds(row) && !(list.isOfStatus && row.moved)
  const before = writers.rows.filter(mustBeSeen)
  const seen: string[] = []
  let pages = 0
  let cursor: string | null = null
  do {
    const limit = smallestPage + Math.floor(Math.random() * (largestPage - smallestPage + 1))
    const position = cursor === null ? undefined : (JSON.parse(cursor) as Position)
    const page = await readPage(api, list, { limit, position, seal: JSON.stringify }, { mistake, passed: seen.length })
    for (const id of page.items) seen.push(id)
    pages += 1
    cursor = page.next_cursor
    // Between any two pages something is written.
    await writers.nextCommit()
  } while (cursor !== null)
  const distinct = new Set(seen)
  return {
    pages,
    seen: distinct,
    missed: before.filter((row) => mustBeSeen(row) && !distinct.has(row.id)).length,
    repeated: seen.length - distinct.size,
  }
}

/** A page of ids, by the code of the service; with a mistake in it, if wanted. */
async function readPage(
  api: Database,
  { accounts, filters }: List,
  page: PageRequest,
  { mistake, passed }: { mistake: Mistake; passed: number },
): Promise<Collection<string>> {
  const search = searchOf(filters)
  if (!search) throw new Error('nothing can match this filter')
  const read = async (request: PageRequest): Promise<Collection<string>> => {
    const { items, ...edges } = await readList(api, accounts, search, request)
    const found = JSON.parse(`[${items}]`) as { id: string }[]
    return { items: found.map(({ id }) => id), ...cursorsOf(request, edges) }
  }
  const { limit, position } = page
  switch (mistake) {
    case 'none':
      return read(page)
    case 'offsets instead of places': {
      const { items, next_cursor, ...frame } = await read({ ...page, limit: passed + limit, position: undefined })
      // Cut, because it would not end where more is written than read.
      return { ...frame, items: items.slice(passed), next_cursor: passed > 300 ? null : next_cursor }
    }
    case 'the edge is read again':
      return read({ ...page, position: position && { ...position, inclusive: true } })
    case 'a row is skipped': {
      const { items, ...frame } = await read({ ...page, limit: limit + 1 })
      return { ...frame, items: items.slice(0, limit) }
    }
  }
}
