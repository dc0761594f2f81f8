import type { Accounts } from '../../../platform/accounts.ts'
import { type Db, read } from '../../../platform/postgres.ts'
import { sql } from '../../../platform/sql.ts'

export interface ConsumerRow {
  id: string
  position: string
  created_at: Date
  updated_at: Date
}

const columns = sql`id, position, created_at, updated_at`

/** The account '*' stands for all of them. */
export async function findConsumer(
  db: Db,
  accounts: Accounts,
  account: string,
  id: string,
): Promise<ConsumerRow | undefined> {
  const [row] = await read<ConsumerRow>(
    db,
    accounts,
    (visible) => sql`
      select ${columns} from event_consumers
      where ${visible.of(sql`merchant_account_id`, sql`${account}`)} and id = ${id}`,
  )
  return row
}

interface Place {
  account: string
  id: string
  position: string
  now: Date
}

/** Undefined when there is one of that id. */
export async function insertConsumer(db: Db, { account, id, position, now }: Place): Promise<ConsumerRow | undefined> {
  const [row] = await db.run<ConsumerRow>(sql`
    insert into event_consumers (merchant_account_id, id, position, created_at, updated_at)
    values (${account}, ${id}, ${position}, ${now}, ${now})
    on conflict (merchant_account_id, id) do nothing
    returning ${columns}`)
  return row
}

export async function moveConsumer(db: Db, { account, id, position, now }: Place): Promise<ConsumerRow | undefined> {
  const [row] = await db.run<ConsumerRow>(sql`
    update event_consumers set position = ${position}, updated_at = ${now}
    where merchant_account_id = ${account} and id = ${id}
    returning ${columns}`)
  return row
}
