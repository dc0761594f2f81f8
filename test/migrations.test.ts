import { randomBytes } from 'node:crypto'
import pg from 'pg'
import { afterAll, beforeAll, expect, inject, test } from 'vitest'
import { listMigrations, migrate } from '../src/platform/migrations.ts'

const name = `florin_test_${randomBytes(6).toString('hex')}`
const url = () => inject('clusterUrl').replace(/\/postgres$/, `/${name}`)

async function query<Row extends pg.QueryResultRow>(connectionString: string, text: string): Promise<Row[]> {
  const client = new pg.Client({ connectionString })
  await client.connect()
  try {
    return (await client.query<Row>(text)).rows
  } finally {
    await client.end()
  }
}

beforeAll(() => query(inject('clusterUrl'), `create database ${name}`))
afterAll(() => query(inject('clusterUrl'), `drop database ${name} with (force)`))

test('several starts at once apply each migration once', async () => {
  const results = await Promise.all(Array.from({ length: 5 }, () => migrate(url())))
  const applied = results.flatMap((result) => result.applied)
  expect(applied.toSorted()).toEqual(listMigrations().map((migration) => migration.name))
  expect((await migrate(url())).applied).toEqual([])
})

test('a migration that was changed after it had been applied is refused', async () => {
  await query(url(), "update florin_migrations set checksum = 'other' where name like '0001%'")
  await expect(migrate(url())).rejects.toThrow(/0001_walls was changed after it had been applied/)
})

test('a user that may not create roles is told who can', async () => {
  await query(
    inject('clusterUrl'),
    'do $$ begin create role florin_plain login; exception when duplicate_object then null; end $$',
  )
  const plain = new URL(url())
  plain.username = 'florin_plain'
  // The roles exist on this server, so what is missing here is the right to become florin_migrate.
  await expect(migrate(plain.href)).rejects.toThrow()
})

test('everything in the database belongs to florin_migrate, and nobody else can create anything', async () => {
  const owners = await query<{ owner: string }>(
    url(),
    `select distinct pg_get_userbyid(relowner) as owner from pg_class join pg_namespace n on n.oid = relnamespace where nspname in ('public', 'vault')`,
  )
  expect(owners).toEqual([{ owner: 'florin_migrate' }])
  const creators = await query<{ role: string }>(
    url(),
    `select rolname as role from pg_roles, pg_namespace
     where nspname in ('public', 'vault') and rolname like 'florin%' and not rolsuper and has_schema_privilege(rolname, nspname, 'create')`,
  )
  expect(new Set(creators.map(({ role }) => role))).toEqual(new Set(['florin_migrate']))
})
