import { type PageRequest, type PageRows, pageClauses, readPage } from '../../page.ts'
import type { Accounts } from '../../platform/accounts.ts'
import { type Db, read, type Visible } from '../../platform/postgres.ts'
import { all, type Sql, sql } from '../../platform/sql.ts'

export interface EventRow {
  id: string
  merchant_account_id: string | null
  name: string
  target: object
  created_at: Date
}

const columns = sql`id, merchant_account_id, name, target, created_at`

/** Which events: no list of names is empty, and ids are bounds that belong to it. */
export interface EventFilter {
  names?: readonly string[] | undefined
  resourceId?: string | undefined
  fromId?: string | undefined
  toId?: string | undefined
}

const boundsOf = ({ fromId, toId }: EventFilter): Sql[] => [
  ...(fromId === undefined ? [] : [sql`id >= ${fromId}::uuid`]),
  ...(toId === undefined ? [] : [sql`id <= ${toId}::uuid`]),
]

export const listEventRows = (
  db: Db,
  accounts: Accounts,
  filter: EventFilter,
  page: PageRequest,
): Promise<PageRows<EventRow>> => listColumns(columns, db, accounts, filter, page)

/** Their ids alone, oldest first: so many of those after one. */
export async function listEventIds(
  db: Db,
  accounts: Accounts,
  filter: EventFilter,
  { after, limit }: { after: string; limit: number },
): Promise<string[]> {
  const position = { direction: 'newer', inclusive: false, id: after } as const
  const page = { limit: limit - 1, position, seal: String }
  const { rows } = await listColumns<{ id: string }>(sql`id`, db, accounts, filter, page)
  return rows.map(({ id }) => id)
}

export const readEvents = (db: Db, accounts: Accounts, ids: readonly string[]): Promise<EventRow[]> =>
  read<EventRow>(
    db,
    accounts,
    (visible) => sql`
      select ${columns} from events where ${visible(sql`merchant_account_id`)} and id = any(${ids}::uuid[]) order by id`,
  )

function listColumns<Row extends { id: string }>(
  columns: Sql,
  db: Db,
  accounts: Accounts,
  filter: EventFilter,
  page: PageRequest,
): Promise<PageRows<Row>> {
  const { names, resourceId } = filter
  if (names && resourceId === undefined) return listByName(columns, db, accounts, { ...filter, names }, page)
  const conditions = [
    ...boundsOf(filter),
    ...(resourceId === undefined ? [] : [sql`resource_id = ${resourceId}`]),
    ...(names ? [sql`name = any(${names}::text[])`] : []),
  ]
  return readPage(db, accounts, page, {
    columns,
    from: sql`events`,
    where: (visible) => sql`${visible(sql`merchant_account_id`)} and ${all(conditions)}`,
    id: sql`id`,
    account: sql`merchant_account_id`,
  })
}

/** Each account and name is a scan of its own: the index has the order of ids within one account and name only. */
async function listByName<Row extends { id: string }>(
  columns: Sql,
  db: Db,
  accounts: Accounts,
  filter: EventFilter & { names: readonly string[] },
  page: PageRequest,
): Promise<PageRows<Row>> {
  const clauses = pageClauses(page, sql`id`)
  const found = await read<Row & { has_behind: boolean }>(db, accounts, (visible) => {
    const scan = (side: Sql, order: Sql) => {
      const one = (account: Sql) => sql`(
        select ${columns} from events
        where ${account} and name = wanted.name and ${all(boundsOf(filter))} and ${side} ${order})`
      const ofAccount = one(visible.of(sql`merchant_account_id`, sql`reached.id`))
      // What belongs to no account has no account to be found by.
      const ofNone = one(
        sql`reached.id is null and ${visible(sql`merchant_account_id`)} and merchant_account_id is null`,
      )
      const found = accounts === 'all' ? sql`${ofAccount} union all ${ofNone}` : ofAccount
      return sql`
        select event.* from ${reached(accounts, visible)}, unnest(${filter.names}::text[]) as wanted (name), lateral (${found}) as event ${order}`
    }
    const items = scan(clauses.ahead, sql`${clauses.order} ${clauses.limit}`)
    if (!page.position) return sql`select false as has_behind, item.* from (${items}) as item`
    return sql`
      select probe.has_behind, item.*
      from (select count(*) > 0 as has_behind from (${scan(clauses.behind, sql`${clauses.orderBehind} limit 1`)}) as behind) as probe
        left join lateral (${items}) as item on true`
  })
  return { rows: found.filter(({ id }) => id !== null), hasBehind: found[0]?.has_behind ?? false }
}

const reached = (accounts: Accounts, visible: Visible): Sql =>
  accounts === 'all'
    ? sql`(select id from merchant_accounts where ${visible(sql`id`)} union all select null) as reached (id)`
    : sql`unnest(${accounts}::text[]) as reached (id)`

export async function findEvent(db: Db, accounts: Accounts, id: string): Promise<EventRow | undefined> {
  const [row] = await read<EventRow>(
    db,
    accounts,
    (visible) => sql`select ${columns} from events where ${visible(sql`merchant_account_id`)} and id = ${id}`,
  )
  return row
}
