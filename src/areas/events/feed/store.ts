import type { Accounts } from '../../../platform/accounts.ts'
import { type Db, read } from '../../../platform/postgres.ts'
import { sql } from '../../../platform/sql.ts'

export interface ConsumerRow {
  name: string
  position: string
  created_at: Date
  updated_at: Date
}

const columns = sql`name, position, created_at, updated_at`

/** The account '*' stands for all of them. */
export async function findConsumer(
  db: Db,
  accounts: Accounts,
  account: string,
  name: string,
): Promise<ConsumerRow | undefined> {
  const [row] = await read<ConsumerRow>(
    db,
    accounts,
    (visible) => sql`
      select ${columns} from event_consumers
      where ${visible.of(sql`merchant_account_id`, sql`${account}`)} and name = ${name}`,
  )
  return row
}

interface Move {
  account: string
  name: string
  /** Without one, a consumer that is known stays where it is. */
  position: string | undefined
  /** Where one that is new begins. */
  start: string
  now: Date
}

export async function moveConsumer(
  db: Db,
  { account, name, position, start, now }: Move,
): Promise<ConsumerRow | undefined> {
  const [row] = await db.run<ConsumerRow>(sql`
    insert into event_consumers as known (merchant_account_id, name, position, created_at, updated_at)
    values (${account}, ${name}, ${position ?? start}, ${now}, ${now})
    on conflict (merchant_account_id, name) do update
    set position = ${position === undefined ? sql`known.position` : sql`excluded.position`}, updated_at = excluded.updated_at
    returning ${columns}`)
  return row
}
