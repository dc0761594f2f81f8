import type { Accounts } from './platform/accounts.ts'
import { type Db, read, type Visible } from './platform/postgres.ts'
import { type Sql, sql } from './platform/sql.ts'
import type { Collection } from './schema.ts'

/** Where a page begins: everything on one side of an id, the id itself included or not. */
export interface Position {
  direction: 'older' | 'newer'
  inclusive: boolean
  id: string
}

/** The page a caller asks for, with its cursor opened. Lists are in creation order, newest first. */
export interface PageRequest {
  limit: number
  position: Position | undefined
  seal: (position: Position) => string
}

/** What a store returns for a page: the rows in the order of reading, one more than asked for if there are more. */
export interface PageRows<Row> {
  rows: Row[]
  /** Whether there is a row on the other side of the position. */
  hasBehind: boolean
}

/** The conditions, order and limit that make a statement return a page. `id` is the column that lists are ordered by. */
export function pageClauses(
  { limit, position }: PageRequest,
  id: Sql,
): { ahead: Sql; behind: Sql; order: Sql; orderBehind: Sql; limit: Sql } {
  const newer = position?.direction === 'newer'
  const [ascending, descending] = [sql`order by ${id}`, sql`order by ${id} desc`]
  return {
    ahead: position ? compare(id, newer, position.inclusive, position.id) : sql`true`,
    behind: position ? compare(id, !newer, !position.inclusive, position.id) : sql`false`,
    order: newer ? ascending : descending,
    orderBehind: newer ? descending : ascending,
    limit: sql`limit ${limit + 1}`,
  }
}

function compare(id: Sql, greater: boolean, inclusive: boolean, value: string): Sql {
  if (greater) return inclusive ? sql`${id} >= ${value}::uuid` : sql`${id} > ${value}::uuid`
  return inclusive ? sql`${id} <= ${value}::uuid` : sql`${id} < ${value}::uuid`
}

/** A collection from the rows of a page; the cursors are null exactly at the ends of the list. */
export function toCollection<Row, Item>(
  page: PageRequest,
  { rows, hasBehind }: PageRows<Row>,
  idOf: (row: Row) => string,
  present: (row: Row) => Item,
): Collection<Item> {
  const inOrder = rows.slice(0, page.limit)
  if (page.position?.direction === 'newer') inOrder.reverse()
  const [newest, oldest] = [inOrder.at(0), inOrder.at(-1)]
  return {
    items: inOrder.map(present),
    ...cursorsOf(page, {
      hasAhead: rows.length > page.limit,
      hasBehind,
      newest: newest && idOf(newest),
      oldest: oldest && idOf(oldest),
    }),
  }
}

/** What is known of a page without looking at its items: whether there is more on either side, and the places of its edges. */
export interface PageEdges {
  hasAhead: boolean
  hasBehind: boolean
  newest: string | undefined
  oldest: string | undefined
}

/** The rest of a collection, beside its items. */
export function cursorsOf(
  page: PageRequest,
  { hasAhead, hasBehind, newest, oldest }: PageEdges,
): Omit<Collection<never>, 'items'> {
  const newer = page.position?.direction === 'newer'
  const [hasNext, hasPrevious] = newer ? [hasBehind, hasAhead] : [hasAhead, hasBehind]
  return {
    limit: page.limit,
    next_cursor: hasNext ? page.seal(edge('older', page, oldest)) : null,
    previous_cursor: hasPrevious ? page.seal(edge('newer', page, newest)) : null,
  }
}

/** Beyond the outermost item; on a page that turned out empty, the position itself, so that nothing is skipped. */
function edge(direction: Position['direction'], page: PageRequest, id: string | undefined): Position {
  if (id !== undefined) return { direction, inclusive: false, id }
  if (!page.position) throw new Error('an empty first page has no edge')
  return { direction, inclusive: !page.position.inclusive, id: page.position.id }
}

/** A page of rows that are in memory, all of them, oldest first. */
export function pageOf<Row>(
  all: readonly Row[],
  { limit, position }: PageRequest,
  idOf: (row: Row) => string,
): PageRows<Row> {
  const newer = position?.direction === 'newer'
  const isAhead = (id: string) => !position || (id === position.id ? position.inclusive : newer === id > position.id)
  const ahead = (newer ? all : all.toReversed()).filter((row) => isAhead(idOf(row)))
  return { rows: ahead.slice(0, limit + 1), hasBehind: ahead.length < all.length }
}

/** Each account adds a scan to the plan; a key pair bound to more is served by one scan over all of them. */
const mostScans = 50

/**
 * One page in one round trip. `where` holds the store's predicate and filters; `id` is not null in any row. A list with an index
 * on account and id names its `account`: the index has the order of one account only, so several are read apart and merged.
 */
export async function readPage<Row>(
  db: Db,
  accounts: Accounts,
  page: PageRequest,
  {
    columns,
    from,
    where,
    id,
    account,
  }: { columns: Sql; from: Sql; where: (visible: Visible) => Sql; id: Sql; account?: Sql },
): Promise<PageRows<Row>> {
  const clauses = pageClauses(page, id)
  const apart = account && accounts !== 'all' && accounts.length > 1 && accounts.length <= mostScans
  const scans = apart ? accounts.map((one) => sql`and ${account} = ${one}`) : [sql``]
  const found = await read<Row & { page_id: string | null; has_behind: boolean }>(db, accounts, (visible) => {
    const condition = where(visible)
    const ahead = scans.map(
      (scan) => sql`(
        select ${id} as page_id, ${columns} from ${from}
        where ${condition} ${scan} and ${clauses.ahead} ${clauses.order} ${clauses.limit})`,
    )
    const items = sql`select * from (${unionAll(ahead)}) as ahead ${pageClauses(page, sql`page_id`).order} ${clauses.limit}`
    // On a first page nobody has to look.
    if (!page.position) return sql`select false as has_behind, item.* from (${items}) as item`
    // The nearest row behind, counted: for `exists` PostgreSQL may read the table from its other end, and once per row of the page.
    const behind = scans.map(
      (scan) =>
        sql`(select from ${from} where ${condition} ${scan} and ${clauses.behind} ${clauses.orderBehind} limit 1)`,
    )
    return sql`
      select probe.has_behind, item.*
      from (select count(*) > 0 as has_behind from (${unionAll(behind)}) as behind) as probe
        left join lateral (${items}) as item on true`
  })
  return { rows: found.filter((row) => row.page_id !== null), hasBehind: found[0]?.has_behind ?? false }
}

const unionAll = (selects: readonly Sql[]): Sql => selects.reduce((left, right) => sql`${left} union all ${right}`)
