import type { Db } from '../platform/postgres.ts'
import { sql } from '../platform/sql.ts'

interface AppliedMigration {
  name: string
  applied_at: Date
}

/** Oldest first; none in a database that Florin has never seen. */
export async function readAppliedMigrations(db: Db): Promise<AppliedMigration[]> {
  const [table] = await db.run<{ exists: boolean }>(
    sql`select exists (select from pg_tables where schemaname = 'public' and tablename = 'florin_migrations')`,
  )
  if (!table?.exists) return []
  return await db.run<AppliedMigration>(sql`select name, applied_at from florin_migrations order by name`)
}
