import { firstIdOf, lastIdOf } from '../../../ids.ts'
import { type PageEdges, type PageRequest, pageClauses } from '../../../page.ts'
import { type Accounts, isOne } from '../../../platform/accounts.ts'
import { type Db, reading, type Visible } from '../../../platform/postgres.ts'
import { all, raw, type Sql, sql } from '../../../platform/sql.ts'
import { shownItem } from './rows.ts'
import { type Scan, type Search, scansOf } from './search.ts'

/** Lists of transactions: filters the narrow tables, and fetches one page of the wide one, as the text of the answer. */

export interface ListPage extends PageEdges {
  /** JSON, with commas between. */
  items: string
}

export async function readList(db: Db, accounts: Accounts, search: Search, page: PageRequest): Promise<ListPage> {
  const [found] = await db.run<FoundPage>(listStatement(accounts, search, page))
  return {
    items: found?.items ?? '',
    hasAhead: (found?.count ?? 0) > page.limit,
    hasBehind: found?.has_behind ?? false,
    newest: found?.newest ?? undefined,
    oldest: found?.oldest ?? undefined,
  }
}

interface FoundPage {
  has_behind: boolean
  count: number
  newest: string | null
  oldest: string | null
  items: string | null
}

/** The whole statement of a page: always one row. */
export function listStatement(accounts: Accounts, search: Search, page: PageRequest): Sql {
  return reading(accounts, (visible) => {
    const part = (side: Side) => ({ visible, search, page, side })
    const { order } = pageClauses(page, sql`page_id`)
    // Whether there is more is known by one row more than the page has. `string_agg` takes the rows as they come, and they come in order.
    return sql`
      select ${page.position ? sql`(select count(*) > 0 from (${rowsOf(accounts, part('behind'))}) as behind)` : sql`false`} as has_behind,
        count(*)::integer as count,
        max(page_id::text) filter (where place <= ${page.limit}) as newest,
        min(page_id::text) filter (where place <= ${page.limit}) as oldest,
        string_agg(item, ',') filter (where place <= ${page.limit}) as items
      from (
        select page_id, item, row_number() over (${order}) as place
        from (${rowsOf(accounts, part('ahead'))}) as ahead
        order by page_id desc
      ) as placed`
  })
}

/** Places and texts. */
function rowsOf(accounts: Accounts, part: Part): Sql {
  const { visible, search, page, side } = part
  const scans = scansOf(search)
  const isFiltered = scans.some(({ tables }) => !tables.includes('transactions'))
  const own = visible(sql`transactions.merchant_account_id`)
  if (!isFiltered && (accounts === 'all' || isOne(accounts))) {
    // The key of the table is in the order of the page, and there is nothing to filter.
    const id = sql`transactions.id`
    return sql`
      select ${id} as page_id, ${shownItem} as item from transactions
      where ${own} and ${idBounds(search, id)} and ${pageClauses(page, id)[side]} ${orderOf(part, id)}`
  }
  return sql`
    select transactions.id as page_id, ${shownItem} as item
    from (${hitsOf(accounts, scans, part)}) as hit join transactions
      on transactions.merchant_account_id = hit.account and transactions.id = hit.found_id
    where ${own} ${pageClauses(page, sql`transactions.id`).order}`
}

/** The page itself, or the nearest row on its other side. */
type Side = 'ahead' | 'behind'
interface Part {
  visible: Visible
  search: Search
  page: PageRequest
  side: Side
}

const orderOf = ({ page, side }: Part, id: Sql): Sql => {
  const { order, orderBehind, limit } = pageClauses(page, id)
  return side === 'ahead' ? sql`${order} ${limit}` : sql`${orderBehind} limit 1`
}

/** Accounts and ids. Each account is a scan of its own: an index has the order of ids within one account only. */
function hitsOf(accounts: Accounts, scans: readonly Scan[], part: Part): Sql {
  if (isOne(accounts)) {
    const account = sql`${accounts[0]}::text`
    return sql`select ${account} as account, found.id as found_id from (${ofAccount(account, scans, part)}) as found`
  }
  const reached =
    accounts === 'all'
      ? sql`(select id from merchant_accounts where ${part.visible(sql`id`)}) as reached`
      : sql`unnest(${accounts}::text[]) as reached (id)`
  return sql`
    select reached.id as account, found.id as found_id from ${reached}, lateral (${ofAccount(sql`reached.id`, scans, part)}) as found
    ${orderOf(part, sql`found.id`)}`
}

function ofAccount(account: Sql, scans: readonly Scan[], part: Part): Sql {
  const [first, ...others] = scans.map((scan) => ofScan(scan, account, part))
  if (!first || others.length === 0) return first ?? sql`select null::uuid as id where false`
  // What matches in two ways is found twice.
  const union = others.reduce((left, right) => sql`${left} union (${right})`, sql`(${first})`)
  return sql`select id from (${union}) as either ${orderOf(part, sql`id`)}`
}

function ofScan({ tables, conditions }: Scan, account: Sql, part: Part): Sql {
  const [anchor = ''] = tables
  const idOf = (table: string) => sql`${raw(table)}.id`
  const within = tables.flatMap((table) => [
    part.visible.of(sql`${raw(table)}.merchant_account_id`, account),
    idBounds(part.search, idOf(table)),
    pageClauses(part.page, idOf(table))[part.side],
    ...(table === anchor ? [] : [sql`${idOf(table)} = ${idOf(anchor)}`]),
  ])
  const from = tables.map(tableOf).reduce((left, right) => sql`${left}, ${right}`)
  const [only] = conditions
  if (conditions.length === 1 && only?.values) {
    // PostgreSQL takes the order of ids from an index for one value at a time only, so they are read apart and merged.
    const { column, type, list } = only.values
    return sql`
      select hit.id from unnest(${list}::${type}[]) as wanted (value), lateral (
        select ${idOf(anchor)} from ${from} where ${all(within)} and ${column} = wanted.value ${orderOf(part, idOf(anchor))}) as hit
      ${orderOf(part, sql`hit.id`)}`
  }
  return sql`
    select ${idOf(anchor)} from ${from} where ${all([...within, ...conditions.map(({ text }) => text)])}
    ${orderOf(part, idOf(anchor))}`
}

function tableOf(name: string): Sql {
  if (name === 'facts') return sql`transaction_facts as facts`
  if (name === 'states') return sql`transaction_states as states`
  if (name === 'transactions') return sql`transactions`
  return sql`${raw(name.startsWith('gift_card_') ? 'transaction_gift_cards' : 'transaction_metadata')} as ${raw(name)}`
}

const day = 24 * 60 * 60 * 1000

/** Bounds that the ids have in every table, so that none is read beyond them. */
function idBounds({ ids, updated }: Search, id: Sql): Sql {
  // Nothing changes before it is created; the tables allow two clocks to differ by a day.
  const to = [ids.to, updated.to === undefined ? undefined : updated.to + day].filter((ms) => ms !== undefined)
  return all([
    ...(ids.equals === undefined ? [] : [sql`${id} = ${ids.equals}::uuid`]),
    ...(ids.from === undefined ? [] : [sql`${id} >= ${firstIdOf(ids.from)}::uuid`]),
    ...(to.length === 0 ? [] : [sql`${id} <= ${lastIdOf(Math.min(...to))}::uuid`]),
  ])
}
