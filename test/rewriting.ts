import type { Database } from '../src/platform/postgres.ts'

/** A planted bug: the same database, with its statements changed. */
export function rewriting(db: Database, rewrite: (text: string) => string): Database {
  db.pool.on('connect', (client) => {
    const query = client.query.bind(client) as (...args: unknown[]) => unknown
    const changed = (asked: unknown, ...rest: unknown[]) =>
      query(
        typeof asked === 'string'
          ? rewrite(asked)
          : typeof asked === 'object' && asked !== null && 'text' in asked
            ? { ...asked, text: rewrite(String(asked.text)) }
            : asked,
        ...rest,
      )
    Object.assign(client, { query: changed })
  })
  return db
}
