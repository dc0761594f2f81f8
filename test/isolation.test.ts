import pg from 'pg'
import { afterAll, beforeAll, describe, expect, test, vi } from 'vitest'
import { newId } from '../src/ids.ts'
import { connect, read, transact } from '../src/platform/postgres.ts'
import { sql } from '../src/platform/sql.ts'
import type { Collection } from '../src/schema.ts'
import { type Answer, roleIds, useApi } from './api.ts'
import {
  accountHeader,
  belongsTo,
  buildWorld,
  findLeaks,
  leakTimeoutMs,
  findMixUps,
  readTables,
  type Tables,
  type World,
  walledTables,
} from './isolation-checks.ts'

// Two connections for all callers: what one request sets on a connection, the next one finds there if it is not local.
// Every route is asked hundreds of times.
vi.setConfig({ testTimeout: 300_000 })
const api = useApi({ databasePoolSize: 2 })
let world: World
let tables: Tables
let walled: string[]

beforeAll(async () => {
  world = await buildWorld(api)
  tables = await readTables(api)
  walled = await walledTables(api)
})

describe('over HTTP', () => {
  test('no id, header value, filter or body gets a caller anything of another account, or changes anything there', {
    timeout: leakTimeoutMs,
  }, async () => {
    // All of them ask everything with `npm run proof:isolation`.
    const { asked, ownSeen, problems } = await findLeaks(world, { isShared: !process.env['EVERYBODY_ASKS'] })
    expect(problems).toEqual([])
    expect(asked).toBeGreaterThan(1_000)
    expect(ownSeen).toBeGreaterThan(100)
  })

  test('5,000 requests of different callers at once over two connections are never mixed up', async () => {
    const { asked, ownSeen, problems } = await findMixUps(world, { requests: 5_000, atOnce: 32 })
    expect(problems).toEqual([])
    expect(asked).toBeGreaterThanOrEqual(5_000)
    expect(ownSeen).toBeGreaterThan(100)
  })

  test("a key pair of two accounts sees either by name, both with *, and never the third one's", async () => {
    const [a, b, c] = world.parties.map(({ account }) => account) as [string, string, string]
    const token = await api.makeToken(await api.makeKeyPair({ merchantAccountIds: [a, b] }))
    const accountsListed = async (account?: string) => {
      const headers: Record<string, string> = account === undefined ? {} : { [accountHeader]: account }
      const { status, body } = await api.request<Collection<{ merchant_account_id: string }>>(
        'GET',
        '/transactions?limit=500',
        { token, headers },
      )
      return status === 200 ? [...new Set(body.items.map((item) => item.merchant_account_id))].sort() : status
    }
    expect(await accountsListed()).toEqual([a])
    expect(await accountsListed(a)).toEqual([a])
    expect(await accountsListed(b)).toEqual([b])
    expect(await accountsListed('*')).toEqual([a, b].sort())
    expect(await accountsListed(c)).toBe(404)
    const pairs = await api.request<Collection<{ merchant_accounts: { id: string }[] }>>(
      'GET',
      '/api-key-pairs?limit=100',
      { token },
    )
    const reached = new Set(pairs.body.items.flatMap((pair) => pair.merchant_accounts.map(({ id }) => id)))
    expect([...reached].sort()).toEqual([a, b].sort())
  })

  test('a conflict with something of another account does not say with what', async () => {
    const [{ account, token }, other] = world.parties
    const taken = rowsOf('network_token_requestors', other.account)[0]?.row
    const conflict = (await api.request('PUT', `/merchant-accounts/${account}`, {
      token,
      body: {
        visa_network_tokens_requestor_id: taken?.['requestor_id'],
        visa_network_tokens_app_id: taken?.['app_id'],
      },
    })) as Answer
    expect([conflict.status, conflict.body['resource_id']]).toEqual([409, null])
    const key = rowsOf('api_key_pairs', other.account)[0]?.row
    const known = await api.request('POST', '/api-key-pairs', {
      token,
      body: {
        display_name: 'Known',
        role_ids: [roleIds.full],
        merchant_account_ids: [account],
        public_key: key?.['public_key'],
      },
    })
    expect([known.status, known.body['resource_id']]).toEqual([409, null])
  })
})

const rowsOf = (table: string, account: string) =>
  (tables.get(table) ?? []).filter(({ accounts }) => belongsTo(account, accounts))

describe("in the database, as the api's role", () => {
  let client: pg.Client

  beforeAll(async () => {
    client = new pg.Client({ connectionString: api.database.url('florin_api') })
    await client.connect()
  })
  afterAll(() => client.end())

  /** Runs statements in a transaction with the setting given, or none, and takes everything back. */
  async function within<Result>(setting: string | undefined, work: () => Promise<Result>): Promise<Result> {
    await client.query('begin')
    try {
      if (setting !== undefined) await client.query("select set_config('florin.accounts', $1, true)", [setting])
      return await work()
    } finally {
      await client.query('rollback')
    }
  }

  const select = async (table: string) =>
    (await client.query<{ row: object }>(`select to_jsonb(t) as row from ${table} t`)).rows
  const codeOf = (work: Promise<unknown>) =>
    work.then(
      () => 'done',
      (error: unknown) => (error instanceof pg.DatabaseError ? error.code : String(error)),
    )
  const mayDo = async (table: string, what: 'insert' | 'update' | 'delete') =>
    (await client.query<{ may: boolean }>('select has_table_privilege($1, $2) as may', [table, what])).rows[0]?.may ===
    true

  test('this world has rows of every account in every table with a policy, so that the tests below mean something', () => {
    const empty = walled.flatMap((table) =>
      world.parties
        .filter(({ account }) => rowsOf(table, account).length === 0)
        .map(({ account }) => `${table} ${account}`),
    )
    expect(empty).toEqual([])
    expect(walled.length).toBeGreaterThan(0)
  })

  test('every table it may read is behind row level security, forced, but for what all share', async () => {
    const open = await api.database.query<{ relname: string }>(`
      select relname::text from pg_class
      where relnamespace in ('public'::regnamespace, 'vault'::regnamespace) and relkind in ('r', 'p', 'v', 'm', 'f')
        and has_table_privilege('florin_api', oid, 'select') and not (relrowsecurity and relforcerowsecurity)
      order by 1`)
    expect(open.map(({ relname }) => relname)).toEqual([
      'card_bin_current',
      'card_bin_steps',
      'card_bins',
      'embed_uses',
      'florin_migrations',
      'roles',
    ])
  })

  test('it cannot go round a policy: no partition of its own, no ownership, no bypass', async () => {
    const partitions = await api.database.query<{ relname: string; may: boolean }>(`
      select relname::text, has_table_privilege('florin_api', oid, 'select, insert, update, delete, truncate') as may
      from pg_class where relispartition and relkind = 'r' and relnamespace = 'public'::regnamespace`)
    expect(partitions.length).toBeGreaterThan(0)
    expect(partitions.filter(({ may }) => may)).toEqual([])
    const role = await api.database.query(`
      select rolsuper, rolbypassrls, rolcreaterole, rolinherit,
        (select count(*)::int from pg_class where relowner = pg_roles.oid) as owned,
        (select count(*)::int from pg_auth_members where member = pg_roles.oid) as memberships
      from pg_roles where rolname = 'florin_api'`)
    expect(role).toEqual([
      { rolsuper: false, rolbypassrls: false, rolcreaterole: false, rolinherit: false, owned: 0, memberships: 0 },
    ])
  })

  test.each([undefined, '', ',', ' ', 'no-such-account', '%', 'null', '**', '* ', "'*'"])(
    'with the accounts set to %o there is nothing to read',
    async (setting) => {
      const seen = await within(setting, async () => {
        const found: string[] = []
        for (const table of walled) if ((await select(table)).length > 0) found.push(table)
        return found
      })
      expect(seen).toEqual([])
    },
  )

  test("with one account set there are that account's rows, all of them and no others", async () => {
    tables = await readTables(api)
    for (const { account } of world.parties) {
      for (const table of walled) {
        const seen = await within(account, () => select(table))
        const own = rowsOf(table, account)
        expect([table, seen.map(({ row }) => JSON.stringify(row)).sort()]).toEqual([
          table,
          own.map(({ row }) => JSON.stringify(row)).sort(),
        ])
      }
    }
  })

  test('a connection remembers no accounts after a read, a transaction, or one that failed', async () => {
    const [{ account }] = world.parties
    const db = connect({
      url: api.database.url('florin_api'),
      applicationName: 'test',
      poolSize: 1,
      onError: () => undefined,
    })
    const count = sql`select count(*)::int as rows from audit_logs`
    const left = async () => {
      const [state] = await db.run<{ setting: string | null }>(
        sql`select current_setting('florin.accounts', true) as setting`,
      )
      const [seen] = await db.run<{ rows: number }>(count)
      return [state?.setting ?? '', seen?.rows]
    }
    try {
      const uses: (() => Promise<{ rows: number }[]>)[] = [
        () => read(db, [account], (visible) => sql`${count} where ${visible(sql`merchant_account_id`)}`),
        () => read(db, 'all', (visible) => sql`${count} where ${visible(sql`merchant_account_id`)}`),
        () => transact({ db, accounts: [account] }, (ctx) => ctx.db.run(count)),
      ]
      for (const use of uses) {
        expect((await use())[0]?.rows).toBeGreaterThan(0)
        expect(await left()).toEqual(['', 0])
      }
      const failed = transact({ db, accounts: 'all' }, (ctx) => ctx.db.run(sql`select 1 / 0`))
      await expect(failed).rejects.toThrow('division by zero')
      expect(await left()).toEqual(['', 0])
    } finally {
      await db.close()
    }
  })

  /** Its columns, without those that PostgreSQL computes. */
  const writable = async (table: string) => {
    const columns = await api.database.query<{ names: string }>(
      `select string_agg(attname, ', ' order by attnum) as names from pg_attribute
       where attrelid = $1::regclass and attnum > 0 and not attisdropped and attgenerated = ''`,
      [table],
    )
    return columns[0]?.names ?? ''
  }

  test('a row of another account cannot be inserted, whether or not there is one like it: a unique key tells nothing', async () => {
    const [{ account }, other] = world.parties
    for (const table of walled) {
      const [taken] = rowsOf(table, other.account)
      const fresh = {
        ...taken?.row,
        ...('id' in (taken?.row ?? {}) && table !== 'merchant_accounts' && { id: newId() }),
      }
      const columns = await writable(table)
      for (const row of [taken?.row, fresh]) {
        const insert = () =>
          client.query(
            `insert into ${table} (${columns}) select ${columns} from jsonb_populate_record(null::${table}, $1)`,
            [row],
          )
        expect([table, await within(account, () => codeOf(insert()))]).toEqual([table, '42501'])
        expect([table, await within(undefined, () => codeOf(insert()))]).toEqual([table, '42501'])
      }
    }
  })

  test('a reference to something of another account is refused exactly like one to nothing', async () => {
    const [{ account }, other] = world.parties
    const link = (id: unknown) =>
      within(account, () =>
        codeOf(
          client.query('insert into api_key_pair_roles (api_key_pair_id, role_id) values ($1, $2)', [
            id,
            roleIds.processing,
          ]),
        ),
      )
    expect([await link(other.pair.id), await link(newId())]).toEqual(['42501', '42501'])
    expect(await link(world.parties[0].pair.id)).toBe('done')
  })

  test('updates and deletes reach own rows only, and cannot give a row away', async () => {
    const [{ account }, other] = world.parties
    tables = await readTables(api)
    for (const table of walled) {
      const own = rowsOf(table, account).length
      const column = ['merchant_account_ids', 'merchant_account_id', 'api_key_pair_id', 'id'].find(
        (name) => name in (rowsOf(table, account)[0]?.row ?? {}),
      )
      if (await mayDo(table, 'update')) {
        const touched = await within(
          account,
          async () => (await client.query(`update ${table} set ${column} = ${column}`)).rowCount,
        )
        expect([table, touched]).toEqual([table, own])
        const value = column === 'merchant_account_ids' ? [other.account] : other.account
        const given = await within(account, () => codeOf(client.query(`update ${table} set ${column} = $1`, [value])))
        expect([table, given]).toEqual([table, '42501'])
      }
      if (await mayDo(table, 'delete')) {
        const gone = await within(account, async () => (await client.query(`delete from ${table}`)).rowCount)
        expect([table, gone]).toEqual([table, own])
        expect(await within(undefined, async () => (await client.query(`delete from ${table}`)).rowCount)).toBe(0)
      }
    }
  })

  test('what was audited and reported cannot be changed or removed at all', async () => {
    for (const table of ['audit_logs', 'events']) {
      expect([await mayDo(table, 'update'), await mayDo(table, 'delete')]).toEqual([false, false])
    }
  })
})
