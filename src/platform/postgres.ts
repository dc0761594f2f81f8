import { SpanKind, SpanStatusCode, trace } from '@opentelemetry/api'
import pg from 'pg'
import { type Accounts, accountsSetting, whollyWithin, within } from './accounts.ts'
import { OverloadedError } from './batch.ts'
import { type Sql, sql, toQuery, toText } from './sql.ts'

/** Where statements go: the pool, or the one connection of a transaction. */
export interface Db {
  readonly inTransaction: boolean
  run<Row>(statement: Sql): Promise<Row[]>
}

export interface Database extends Db {
  readonly pool: pg.Pool
  close(): Promise<void>
}

/** The database may or may not have committed; nobody must be told that it did. */
export class CommitUnknownError extends Error {
  override name = 'CommitUnknownError'
}

// Sums and counts are bigint in SQL and number in code; anything a number cannot hold exactly is a bug, not a rounding.
pg.types.setTypeParser(pg.types.builtins.INT8, (text) => {
  const value = Number(text)
  if (!Number.isSafeInteger(value)) throw new RangeError(`bigint out of range: ${text}`)
  return value
})

const tracer = trace.getTracer('florin')

async function execute<Row>(client: pg.Pool | pg.PoolClient, statement: Sql): Promise<Row[]> {
  const query = toQuery(statement)
  if (!trace.getActiveSpan()?.isRecording()) return (await client.query(query)).rows as Row[]
  return await tracer.startActiveSpan(
    'postgresql',
    { kind: SpanKind.CLIENT, attributes: { 'db.system.name': 'postgresql', 'db.query.text': query.text } },
    async (span) => {
      try {
        return (await client.query(query)).rows as Row[]
      } catch (error) {
        span.setStatus({ code: SpanStatusCode.ERROR })
        throw error
      } finally {
        span.end()
      }
    },
  )
}

export interface DatabaseOptions {
  url: string
  applicationName: string
  poolSize: number
  onError: (error: Error) => void
}

/**
 * No session state and no named statements, so that a transaction pooler may stand between. Timeouts are settings of the
 * database roles (migrations/roles.sql) for the same reason.
 */
export function connect({ url, applicationName, poolSize, onError }: DatabaseOptions): Database {
  const pool = new pg.Pool({
    connectionString: url,
    application_name: applicationName,
    max: poolSize,
    connectionTimeoutMillis: 5_000,
    idleTimeoutMillis: 60_000,
    keepAlive: true,
  })
  pool.on('error', onError)
  // The pool listens to idle connections only. One that breaks between two statements of a transaction would end the process
  // unheard, and print what broke; as it is, the next statement fails.
  pool.on('connect', (client) => client.on('error', () => undefined))
  return {
    pool,
    inTransaction: false,
    run: (statement) => execute(pool, statement),
    close: () => pool.end(),
  }
}

/** `visible` adds the store's predicate and makes the scan wait for the setting that row level security reads. */
export interface Visible {
  (accountColumn: Sql): Sql
  wholly(accountsColumn: Sql): Sql
  /** The same for one of the accounts, which the statement takes from them itself. */
  of(accountColumn: Sql, account: Sql): Sql
}

/**
 * One read in one round trip under row level security: the setting is local to the statement's own transaction, and the
 * lateral join makes PostgreSQL set it before it scans. A statement that forgets `visible` sees no rows.
 */
export function read<Row>(db: Db, accounts: Accounts, build: (visible: Visible) => Sql): Promise<Row[]> {
  return db.run<Row>(reading(accounts, build))
}

/** The statement of such a read. */
export function reading(accounts: Accounts, build: (visible: Visible) => Sql): Sql {
  const visible = Object.assign((column: Sql) => sql`walls.set_config is not null and ${within(accounts, column)}`, {
    wholly: (column: Sql) => sql`walls.set_config is not null and ${whollyWithin(accounts, column)}`,
    of: (column: Sql, account: Sql) => sql`walls.set_config is not null and ${column} = ${account}`,
  })
  return sql`
    select found.*
    from (select set_config('florin.accounts', ${accountsSetting(accounts)}, true) offset 0) as walls,
      lateral (${build(visible)}) as found`
}

/**
 * One change and what goes with it, in one statement: one round trip and one commit. Each part must take its rows from what
 * it is given (`insert … select … from ${walls}`), because that makes PostgreSQL set the accounts before it checks a row
 * against them. A change that does not is refused by row level security; what follows sees only the rows that were changed.
 */
export async function write<Row>(
  db: Db,
  accounts: Accounts,
  change: (walls: Sql) => Sql,
  follow: (changed: Sql) => Sql,
): Promise<Row[]> {
  const statement = sql`
    with walls as materialized (select set_config('florin.accounts', ${accountsSetting(accounts)}, true)),
      changed as (${change(sql`walls`)}),
      following as (${follow(sql`changed`)})
    select * from changed`
  if (db.inTransaction) return db.run<Row>(statement)
  return await onOwnConnection(db, (client) => committing(client, () => execute<Row>(client, statement)))
}

/**
 * One statement with many parts under row level security, in one round trip and one commit. Unlike `write` it may update rows by
 * joining them: the accounts are set by a statement before it, and nothing depends on the order in which PostgreSQL scans. Both
 * travel as one text of the simple protocol, which makes them one transaction.
 */
export async function writeAtOnce<Row>(db: Db, accounts: Accounts, statement: Sql): Promise<Row[]> {
  if (db.inTransaction) return db.run<Row>(statement)
  const walls = `select set_config('florin.accounts', ${pg.escapeLiteral(accountsSetting(accounts))}, true)`
  const text = `${walls};${toText(statement, pg.escapeLiteral)}`
  return await onOwnConnection(db, async (client) => {
    const results = (await committing(client, () => client.query(text))) as unknown as pg.QueryResult[]
    return results[1]?.rows as Row[]
  })
}

async function onOwnConnection<Result>(db: Db, work: (client: pg.PoolClient) => Promise<Result>): Promise<Result> {
  const client = await (db as Database).pool.connect()
  let broken: Error | undefined
  try {
    return await work(client)
  } catch (error) {
    if (error instanceof CommitUnknownError) broken = error
    throw error
  } finally {
    client.release(broken)
  }
}

/**
 * Runs `work` in a transaction that sees the accounts of the context, joining one that is already open. Nothing inside may
 * talk to the network.
 */
export async function transact<Ctx extends { db: Db; accounts: Accounts }, Result>(
  ctx: Ctx,
  work: (ctx: Ctx) => Promise<Result>,
): Promise<Result> {
  if (ctx.db.inTransaction) return work(ctx)
  const client = await (ctx.db as Database).pool.connect()
  let broken: Error | undefined
  try {
    // One round trip; the value is a literal because the simple protocol carries no parameters.
    const accounts = pg.escapeLiteral(accountsSetting(ctx.accounts))
    await client.query(`begin; select set_config('florin.accounts', ${accounts}, true)`)
    const db: Db = { inTransaction: true, run: (statement) => execute(client, statement) }
    const result = await work({ ...ctx, db })
    await commit(client)
    return result
  } catch (error) {
    if (error instanceof CommitUnknownError) broken = error
    else await client.query('rollback').catch((rollbackError: Error) => (broken = rollbackError))
    throw error
  } finally {
    client.release(broken)
  }
}

async function commit(client: pg.PoolClient): Promise<void> {
  const { command } = await committing(client, () => client.query('commit'))
  // A transaction that failed earlier answers COMMIT with ROLLBACK.
  if (command !== 'COMMIT') throw new Error(`commit answered ${command}`)
}

/** Runs what commits; throws `CommitUnknownError` when nobody can say whether it did. */
async function committing<Result>(client: pg.PoolClient, run: () => Promise<Result>): Promise<Result> {
  let doubtful: string | undefined
  // With synchronous replication a cancelled wait answers COMMIT with success and this warning only: the row may vanish.
  const onNotice = (notice: { code?: string | undefined; message?: string | undefined }) => {
    if (notice.code === '01000' && notice.message?.includes('synchronous replication')) doubtful = notice.message
  }
  client.on('notice', onNotice)
  try {
    const result = await run()
    if (doubtful) throw new CommitUnknownError(doubtful)
    return result
  } catch (error) {
    if (error instanceof pg.DatabaseError || error instanceof CommitUnknownError) throw error
    throw new CommitUnknownError('the connection was lost while committing', { cause: error })
  } finally {
    client.off('notice', onNotice)
  }
}

export const violates = (error: unknown, constraint: string) =>
  error instanceof pg.DatabaseError && error.constraint === constraint

/** Whether the values or locks of a statement made it fail, so that the same with other rows might not. */
export const isRowFault = (error: unknown) =>
  error instanceof pg.DatabaseError && /^(22|23|40|55)/.test(error.code ?? '')

/** Whether a statement was cut because it took too long. */
export const isOutOfTime = (error: unknown) => error instanceof pg.DatabaseError && error.code === '57014'

const unavailableCodes = new Set(['57014', '57P01', '57P02', '57P03', '53300', '55P03', '25006', '40001', '40P01'])

/** Whether the database could not answer in time, as opposed to refusing the statement. */
export function isUnavailable(error: unknown): boolean {
  if (error instanceof CommitUnknownError || error instanceof OverloadedError) return true
  if (error instanceof pg.DatabaseError)
    return unavailableCodes.has(error.code ?? '') || error.code?.startsWith('08') === true
  if (!(error instanceof Error)) return false
  const code = (error as NodeJS.ErrnoException).code
  return (
    ['ECONNREFUSED', 'ECONNRESET', 'EPIPE', 'ETIMEDOUT', 'ENOTFOUND', 'EAI_AGAIN', 'ENOENT'].includes(code ?? '') ||
    /timeout exceeded when trying to connect|Connection terminated|connection is closed|is not queryable/i.test(
      error.message,
    )
  )
}
