import { readFileSync } from 'node:fs'
import { parseArgs } from 'node:util'
import pg from 'pg'
import { startCluster } from '../src/cli/postgres-cluster.ts'
import { migrate } from '../src/platform/migrations.ts'
import { type Statement, statements } from './list-writes-rows.ts'
import { median, note, round } from './rig.ts'

/**
 * What each index that transactions are found by costs a payment: the same rows are written with it and without it, in turns, into tables that are
 * already full, and rolled back. And what all of it costs: tables, indexes and triggers, against a transaction that has none of them.
 */
const { values: options } = parseArgs({
  options: {
    rows: { type: 'string', default: '1000000' },
    payments: { type: 'string', default: '2000' },
    rounds: { type: 'string', default: '7' },
    help: { type: 'boolean', default: false },
  },
})
if (options.help) {
  console.log(
    'npm run bench:list-writes -- [--rows 1000000] [--payments 2000] [--rounds 7]\n\n--rows: in the tables before; --payments: written at a time\n\nExample: npm run bench:list-writes -- --rows 50000 --rounds 3',
  )
  process.exit(0)
}
const rows = Number(options.rows)
const payments = Number(options.payments)
const rounds = Number(options.rounds)

/** Of one payment. */
interface Cost {
  cpu_us: number
  wal_bytes: number
}
interface Index {
  name: string
  table: string
  definition: string
  isKey: boolean
  /** Of a row. */
  diskBytes: number
}

// Without whole pages in the log, which depend on when the last checkpoint was.
const settings = {
  full_page_writes: 'off',
  autovacuum: 'off',
  max_wal_size: '16GB',
  checkpoint_timeout: '1h',
  shared_buffers: '1GB',
}
const cluster = await startCluster({ settings })
await migrate(cluster.url())
const client = new pg.Client({ connectionString: cluster.url() })
await client.connect()
// Few rows are changed: each is found by its key, whatever is guessed.
await client.query(
  "set jit = off; set synchronous_commit = off; set maintenance_work_mem = '512MB'; set enable_hashjoin = off; set enable_mergejoin = off",
)
const [{ pid } = { pid: 0 }] = (await client.query<{ pid: number }>('select pg_backend_pid() as pid')).rows

/** Numbers of payments that nothing was written with yet. */
let next = rows + 1
const cpuOfBackend = () => Number(readFileSync(`/proc/${pid}/schedstat`, 'utf8').split(' ')[0]) / 1000

async function walPosition(): Promise<number> {
  const { rows } = await client.query<{ at: string }>(
    "select pg_wal_lsn_diff(pg_current_wal_insert_lsn(), '0/0') as at",
  )
  return Number(rows[0]?.at)
}

async function costOf(wanted: readonly Statement[]): Promise<Cost> {
  for (const { prepare } of wanted) await client.query(prepare)
  const [wal, cpu] = [await walPosition(), cpuOfBackend()]
  for (const { run } of wanted) await client.query(run)
  const cpuAfter = cpuOfBackend()
  return { cpu_us: (cpuAfter - cpu) / payments, wal_bytes: ((await walPosition()) - wal) / payments }
}

/** Runs what is to be measured after a change of the tables, and undoes both. */
async function undone<Result>(changes: readonly string[], work: (from: number) => Promise<Result>): Promise<Result> {
  const from = next
  next += payments
  await client.query('begin')
  try {
    for (const change of changes) await client.query(change)
    return await work(from)
  } finally {
    await client.query('rollback')
  }
}

/** Before and after something is taken away; by turns the one and the other first. */
async function both<Result>(
  count: number,
  { common = [], removals }: { common?: readonly string[]; removals: readonly string[] },
  work: (from: number, isAbsent: boolean) => Promise<Result>,
) {
  const without = () => undone([...common, ...removals], (from) => work(from, true))
  const before = count % 2 === 1 ? await without() : undefined
  const present = await undone(common, (from) => work(from, false))
  return { present, absent: before ?? (await without()) }
}

async function fill(): Promise<Index[]> {
  const { rows: found } = await client.query<Index>(`
    select indexname as name, tablename as table, indexdef as definition, indexname like '%\\_pkey' as "isKey" from pg_indexes
    where tablename in ('transaction_facts', 'transaction_states', 'transaction_metadata', 'transaction_gift_cards')
    order by tablename, indexname`)
  const secondary = found.filter(({ isKey }) => !isKey)
  for (const { name } of secondary) await client.query(`drop index ${name}`)
  await client.query(`
    insert into merchant_accounts (id, list_id, display_name, account_updater_enabled, async_network_tokens_enabled, created_at, updated_at)
    select id, gen_random_uuid(), id, false, false, now(), now()
    from (select 'big' as id union all select 'small-' || generate_series(0, 199)) as accounts`)
  for (const table of ['facts', 'finishedStates', 'metadata', 'giftCards'] as const) {
    note(`filling: ${rows} ${table}`)
    const { prepare, run } = statements[table](1, rows)
    await client.query('begin')
    await client.query(prepare)
    await client.query(run)
    await client.query('commit')
  }
  for (const { name, definition } of secondary) {
    note(`building ${name}`)
    await client.query(definition)
  }
  await client.query(
    'vacuum analyze transaction_facts, transaction_states, transaction_metadata, transaction_gift_cards',
  )
  await client.query('checkpoint')
  for (const index of found) {
    const size = await client.query<{ bytes: number }>('select pg_relation_size($1::regclass) as bytes', [index.name])
    index.diskBytes = round(Number(size.rows[0]?.bytes) / rows, 1)
  }
  return found
}

const minus = (left: Cost, right: Cost): Cost => ({
  cpu_us: left.cpu_us - right.cpu_us,
  wal_bytes: left.wal_bytes - right.wal_bytes,
})
const plus = (left: Cost, right: Cost): Cost => ({
  cpu_us: left.cpu_us + right.cpu_us,
  wal_bytes: left.wal_bytes + right.wal_bytes,
})
const nothing: Cost = { cpu_us: 0, wal_bytes: 0 }
const medianOf = (costs: readonly Cost[]): Cost => ({
  cpu_us: round(median(costs.map(({ cpu_us }) => cpu_us)), 2),
  wal_bytes: round(median(costs.map(({ wal_bytes }) => wal_bytes)), 1),
})

/** The rows of its table that a payment writes: the insert, and of a state the update. */
async function writeTable({ table, isKey }: Index, from: number): Promise<{ insert: Cost; update: Cost }> {
  if (table === 'transaction_facts')
    return { insert: await costOf([statements.facts(from, payments)]), update: nothing }
  if (table === 'transaction_metadata') {
    return { insert: await costOf([statements.metadata(from, payments)]), update: nothing }
  }
  if (table === 'transaction_gift_cards') {
    return { insert: await costOf([statements.giftCards(from, payments)]), update: nothing }
  }
  const insert = await costOf([statements.states(from, payments)])
  // Without its key a state is not found.
  return { insert, update: isKey ? nothing : await costOf([statements.stateUpdates(from, payments)]) }
}

const dropping = ({ name, table, isKey }: Index) =>
  isKey ? `alter table ${table} drop constraint ${name}` : `drop index ${name}`

/**
 * Of the facts, which are written once, each index is measured without the others, whose cost varies more than its own. A state's are all there: without
 * them an update would stay within its page.
 */
async function measureIndex(index: Index, all: readonly Index[]): Promise<{ insert: Cost; update: Cost }> {
  const others = all.filter(({ name, table, isKey }) => table === index.table && name !== index.name && !isKey)
  const common = index.table === 'transaction_states' ? [] : others.map(dropping)
  const inserts: Cost[] = []
  const updates: Cost[] = []
  for (let count = 0; count < rounds; count += 1) {
    const { present, absent } = await both(count, { common, removals: [dropping(index)] }, (from) =>
      writeTable(index, from),
    )
    inserts.push(minus(present.insert, absent.insert))
    updates.push(minus(present.update, absent.update))
  }
  return { insert: medianOf(inserts), update: medianOf(updates) }
}

const triggers = ['insert_state', 'update_state', 'update_reference'].map(
  (name) => `alter table transactions disable trigger transactions_${name}`,
)

/** A transaction and the end of its payment, with all that it is found by, and without. */
async function measureWhole(): Promise<{ present: Cost; absent: Cost }> {
  const presents: Cost[] = []
  const absents: Cost[] = []
  for (let count = 0; count < rounds; count += 1) {
    const { present, absent } = await both(count, { removals: triggers }, (from, isAbsent) =>
      costOf([
        statements.transactions(from, payments),
        ...(isAbsent ? [] : [statements.facts(from, payments), statements.metadata(from, payments)]),
        statements.transactionUpdates(from, payments),
      ]),
    )
    presents.push(present)
    absents.push(absent)
  }
  return { present: medianOf(presents), absent: medianOf(absents) }
}

/** What a payment with a gift card costs beyond others because it is found by it. */
async function measureGiftCard(): Promise<Cost> {
  const costs: Cost[] = []
  const removals = ['alter table gift_card_redemptions disable trigger gift_card_redemptions_find']
  for (let count = 0; count < rounds; count += 1) {
    const { present, absent } = await both(count, { removals }, async (from) => {
      await costOf([statements.transactions(from, payments), statements.facts(from, payments)])
      return costOf([statements.redemptions(from, payments)])
    })
    costs.push(minus(present, absent))
  }
  return medianOf(costs)
}

try {
  const found = await fill()
  note('measuring the whole')
  const { present, absent } = await measureWhole()
  const whole = minus(present, absent)
  const giftCard = await measureGiftCard()
  const indexes = []
  for (const index of found) {
    note(`measuring ${index.name}`)
    const { insert, update } = await measureIndex(index, found)
    const { cpu_us, wal_bytes } = plus(insert, update)
    indexes.push({
      name: index.name,
      insert,
      update,
      disk_bytes: index.diskBytes,
      cpu_share: round(cpu_us / whole.cpu_us, 3),
      wal_share: round(wal_bytes / whole.wal_bytes, 3),
    })
  }
  note(
    '\n| Index | Insert, µs | Update, µs | Insert, WAL bytes | Update, WAL bytes | Share of CPU | Share of WAL | On disk, bytes a row |',
  )
  note('|---|---:|---:|---:|---:|---:|---:|---:|')
  for (const { name, insert, update, disk_bytes, cpu_share, wal_share } of indexes) {
    const cells = [
      insert.cpu_us.toFixed(1),
      update.cpu_us.toFixed(1),
      Math.round(insert.wal_bytes),
      Math.round(update.wal_bytes),
    ]
    const shares = [cpu_share, wal_share].map((share) => `${(share * 100).toFixed(1)} %`)
    note(`| \`${name}\` | ${[...cells, ...shares, disk_bytes.toFixed(0)].join(' | ')} |`)
  }
  note(
    `\nA transaction with all that it is found by: ${present.cpu_us.toFixed(0)} µs, ${Math.round(present.wal_bytes)} bytes of WAL; without: ${absent.cpu_us.toFixed(0)} µs, ${Math.round(absent.wal_bytes)} bytes. A gift card beside it: ${giftCard.cpu_us.toFixed(0)} µs, ${Math.round(giftCard.wal_bytes)} bytes more.\n`,
  )
  console.log(
    JSON.stringify({
      bench: 'list-writes',
      rows,
      payments,
      rounds,
      with_findings: present,
      without_findings: absent,
      cost: medianOf([whole]),
      gift_card: giftCard,
      indexes,
    }),
  )
} finally {
  await client.end()
  await cluster.stop()
}
