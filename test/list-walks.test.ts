import { randomBytes } from 'node:crypto'
import fc from 'fast-check'
import { beforeAll, describe, expect, test } from 'vitest'
import type { Route } from '../src/http/route.ts'
import { routes } from '../src/http/routes.ts'
import { newId, timeOfId } from '../src/ids.ts'
import { type PageRequest, type PageRows, type Position, toCollection } from '../src/page.ts'
import type { Collection } from '../src/schema.ts'
import { useApi } from './api.ts'
import { insertSubscription } from './webhooks.ts'

/*
 * Walks through every list while it changes, checked against a model. A list must have a line in `scopes` below, which says how
 * rows of its own come and go.
 */

const lists = routes.filter(({ paged }) => paged)
const api = useApi()
let walkerToken: string
let walkerId: string

/** Rows that one walk has to itself. An item is known by its `id`, its place in the list by a UUIDv7. */
interface Scope {
  token?: string
  /** Where the list is under a resource: that path. */
  path?: string
  /** Narrows the list to these rows. */
  query: string
  /** Rows that are there from the start and stay, oldest first. */
  fixed: readonly Row[]
  /** Absent where rows cannot change. */
  change?: { insert(rows: readonly Row[]): Promise<unknown>; remove(rows: readonly Row[]): Promise<unknown> }
}
interface Row {
  id: string
  place: string
}

const sameId = (place: string): Row => ({ id: place, place })
const ids = (rows: readonly Row[]) => rows.map(({ id }) => id)
const places = (rows: readonly Row[]) => rows.map(({ place }) => place)
const times = (rows: readonly Row[]) => rows.map(({ place }) => timeOfId(place))

const insertTransactions = (rows: readonly Row[]) =>
  api.database.query(
    `insert into transactions (merchant_account_id, id, status, intent, intent_outcome, amount, currency, authorized_amount,
       captured_amount, refunded_amount, payment_source, merchant_initiated, is_subsequent_payment, summary, details, rendering,
       version, created_at, updated_at)
     select 'default', id, 'processing', 'authorize', 'pending', 1, 'EUR', 0, 0, 0, 'ecommerce', false, false,
       '"amount":1', '"merchant_initiated":false', 1, 1, moment, moment
     from unnest($1::uuid[], $2::timestamptz[]) as made (id, moment)`,
    [ids(rows), times(rows)],
  )

/** How to have rows of one's own in each list: operation → a scope made afresh, and the id of a row by its place. */
/** A list that no filter narrows: each walk has it to itself. `insert` selects from `made (id, moment)`. */
const whole = (table: string, insert: string) => ({
  row: sameId,
  async open(): Promise<Scope> {
    await api.database.query(`delete from ${table}`)
    return {
      query: '',
      fixed: [],
      change: {
        insert: (rows) =>
          api.database.query(`${insert} from unnest($1::uuid[], $2::timestamptz[]) as made (id, moment)`, [
            ids(rows),
            times(rows),
          ]),
        remove: (rows) => api.database.query(`delete from ${table} where id = any($1)`, [ids(rows)]),
      },
    }
  },
})

const insertServices = `
  insert into gift_card_services (merchant_account_id, id, definition_id, display_name, active, fields, secret_names, created_at, updated_at)
  select 'default', id, 'mock-gift-card', 'x', false, '{}', '{}', moment, moment`
const giftCardServices = whole('gift_card_services', insertServices)

const scopes: Record<string, { open: () => Promise<Scope>; row: (place: string) => Row }> = {
  listAuditLogs: {
    row: sameId,
    async open() {
      const type = `walk-${randomBytes(6).toString('hex')}`
      return {
        query: `&resource_type=${type}`,
        fixed: [],
        change: {
          insert: (rows) =>
            api.database.query(
              `insert into audit_logs (id, merchant_account_id, action, resource_type, resource_id, resource_name, actor_name,
                 operation, request_id, created_at)
               select id, 'default', 'created', $3, 'x', 'x', 'x', 'x', 'x', moment
               from unnest($1::uuid[], $2::timestamptz[]) as made (id, moment)`,
              [ids(rows), times(rows), type],
            ),
          remove: (rows) => api.database.query('delete from audit_logs where id = any($1)', [ids(rows)]),
        },
      }
    },
  },
  listAPIKeyPairs: {
    row: sameId,
    async open() {
      // No filter narrows this list, so its caller is bound to an account of its own, and sees itself.
      await api.database.query("delete from api_key_pairs where merchant_account_ids = '{walk}' and id <> $1", [
        walkerId,
      ])
      return {
        token: walkerToken,
        query: '',
        fixed: [sameId(walkerId)],
        change: {
          insert: (rows) =>
            api.database.query(
              `insert into api_key_pairs (id, thumbprint, display_name, algorithm, public_key, active, merchant_account_ids,
                 created_at, updated_at)
               select id, thumbprint, 'x', 'ECDSA', '-----BEGIN PUBLIC KEY-----', false, '{walk}', moment, moment
               from unnest($1::uuid[], $2::timestamptz[], $3::text[]) as made (id, moment, thumbprint)`,
              [ids(rows), times(rows), rows.map(() => randomBytes(32).toString('base64url'))],
            ),
          remove: (rows) => api.database.query('delete from api_key_pairs where id = any($1)', [ids(rows)]),
        },
      }
    },
  },
  listBuyers: {
    row: sameId,
    async open() {
      const name = `WALK-${randomBytes(6).toString('hex').toUpperCase()}`
      return {
        query: `&search=${name}`,
        fixed: [],
        change: {
          insert: (rows) =>
            api.database.query(
              `insert into buyers (merchant_account_id, id, display_name, display_name_key, external_identifier,
                 external_identifier_key, created_at, updated_at)
               select 'default', id, $3, $3, $3 || id, $3 || upper(id::text), moment, moment
               from unnest($1::uuid[], $2::timestamptz[]) as made (id, moment)`,
              [ids(rows), times(rows), name],
            ),
          remove: (rows) => api.database.query('delete from buyers where id = any($1)', [ids(rows)]),
        },
      }
    },
  },
  listEvents: {
    row: sameId,
    async open() {
      const resource = newId()
      return {
        query: `&resource_id=${resource}`,
        fixed: [],
        change: {
          insert: (rows) =>
            api.database.query(
              `insert into events (id, merchant_account_id, name, resource_type, resource_id, sequence, target, created_at)
               select id, 'default', 'buyer.updated', 'buyer', $3, 1, '{}', moment
               from unnest($1::uuid[], $2::timestamptz[]) as made (id, moment)`,
              [ids(rows), times(rows), resource],
            ),
          remove: (rows) => api.database.query('delete from events where id = any($1)', [ids(rows)]),
        },
      }
    },
  },
  listPaymentMethods: {
    row: sameId,
    async open() {
      const { body: buyer } = await api.request<{ id: string }>('POST', '/buyers', { body: {} })
      return {
        query: `&buyer_id=${buyer.id}`,
        fixed: [],
        change: {
          insert: (rows) =>
            api.database.query(
              `insert into payment_methods (merchant_account_id, id, buyer_id, method, mode, status, created_at, updated_at)
               select 'default', id, $3, 'card', 'card', 'succeeded', moment, moment
               from unnest($1::uuid[], $2::timestamptz[]) as made (id, moment)`,
              [ids(rows), times(rows), buyer.id],
            ),
          remove: (rows) => api.database.query('delete from payment_methods where id = any($1)', [ids(rows)]),
        },
      }
    },
  },
  listMerchantAccounts: {
    // Out of order on purpose: the id is the caller's own, and the list must not be in its order.
    row: (place) => ({ id: `w-${place.split('-').reverse().join('')}`, place }),
    async open() {
      const name = `walk-${randomBytes(6).toString('hex')}`
      return {
        query: `&search=${name}`,
        fixed: [],
        change: {
          insert: (rows) =>
            api.database.query(
              `insert into merchant_accounts (id, list_id, display_name, account_updater_enabled,
                 async_network_tokens_enabled, created_at, updated_at)
               select id, list_id, $4, false, false, moment, moment
               from unnest($1::text[], $2::uuid[], $3::timestamptz[]) as made (id, list_id, moment)`,
              [ids(rows), places(rows), times(rows), name],
            ),
          remove: (rows) => api.database.query('delete from merchant_accounts where id = any($1)', [ids(rows)]),
        },
      }
    },
  },
  listAntiFraudServices: whole(
    'anti_fraud_services',
    `insert into anti_fraud_services (merchant_account_id, id, definition_id, display_name, active, reviews_enabled, created_at, updated_at)
     select 'default', id, 'mock-anti-fraud', 'x', false, true, moment, moment`,
  ),
  listGiftCardServices: {
    row: sameId,
    async open() {
      await api.database.query('delete from gift_cards')
      return giftCardServices.open()
    },
  },
  listGiftCards: {
    row: sameId,
    async open() {
      const service = newId()
      await api.database.query(`${insertServices} from (select $1::uuid as id, now() as moment) as made`, [service])
      return whole(
        'gift_cards',
        `insert into gift_cards (merchant_account_id, id, gift_card_service_id, fingerprint, bin, sub_bin, last4, created_at, updated_at)
         select 'default', id, '${service}', repeat('0', 64), '603500', '000', '1234', moment, moment`,
      ).open()
    },
  },
  listPaymentServiceDefinitions: {
    row: sameId,
    open: async () => ({
      query: '',
      fixed: ['mock-card', 'mock-redirect'].map((id) => ({ id, place: newId() })),
    }),
  },
  listSimulatorRules: whole(
    'simulator_rules',
    `insert into simulator_rules (merchant_account_id, id, conditions, outcome, active, created_at, updated_at)
     select 'default', id, '{}', '{}', false, moment, moment`,
  ),
  listPaymentServices: whole(
    'payment_services',
    `insert into payment_services (merchant_account_id, id, definition_id, method, display_name, active, status,
       position, accepted_currencies, accepted_countries, fields, reporting_fields, secret_names,
       payment_method_tokenization_enabled, network_tokens_enabled, open_loop, settlement_reporting_enabled,
       three_d_secure_enabled, created_at, updated_at)
     select 'default', id, 'mock-card', 'card', 'x', true, 'created', 1, '{EUR}', '{DE}', '{}', '{}', '{}', false, false,
       false, false, false, moment, moment`,
  ),
  listThreeDSScenarios: whole(
    'three_ds_scenarios',
    `insert into three_ds_scenarios (merchant_account_id, id, conditions, outcome, created_at, updated_at)
     select 'default', id, '{}', '{"authentication":{"transaction_status":"Y"}}', moment, moment`,
  ),
  listTransactions: {
    row: sameId,
    async open() {
      // No filter narrows this list yet, so each walk has it to itself.
      await api.database.query('delete from transactions')
      return {
        query: '',
        fixed: [],
        change: {
          insert: insertTransactions,
          remove: (rows) => api.database.query('delete from transactions where id = any($1)', [ids(rows)]),
        },
      }
    },
  },
  listTransactionEvents: {
    row: sameId,
    async open() {
      const transaction = sameId(newId())
      await insertTransactions([transaction])
      return {
        path: `/transactions/${transaction.id}/events`,
        query: '',
        fixed: [],
        change: {
          insert: (rows) =>
            api.database.query(
              `insert into transaction_events (merchant_account_id, transaction_id, id, name, context, created_at)
               select 'default', $3, id, 'x', '{}', moment from unnest($1::uuid[], $2::timestamptz[]) as made (id, moment)`,
              [ids(rows), times(rows), transaction.id],
            ),
          remove: (rows) => api.database.query('delete from transaction_events where id = any($1)', [ids(rows)]),
        },
      }
    },
  },
  listWebhookDeliveries: {
    row: sameId,
    async open() {
      const subscription = newId()
      return {
        query: `&subscription_id=${subscription}`,
        fixed: [],
        change: {
          insert: (rows) =>
            api.database.query(
              `insert into webhook_deliveries (merchant_account_id, id, subscription_id, event_id, origin, status, expires_at, created_at, updated_at)
               select 'default', id, $3, id, 'event', 'failed', moment, moment, moment
               from unnest($1::uuid[], $2::timestamptz[]) as made (id, moment)`,
              [ids(rows), times(rows), subscription],
            ),
          remove: (rows) => api.database.query('delete from webhook_deliveries where id = any($1)', [ids(rows)]),
        },
      }
    },
  },
  listWebhookSubscriptions: whole(
    'webhook_subscriptions',
    `insert into webhook_subscriptions (merchant_account_id, id, url, active, creator_name, created_at, updated_at)
     select 'default', id, 'https://shop.example.com/', true, 'x', moment, moment`,
  ),
  listWebhookReplays: {
    row: sameId,
    async open() {
      const subscription = await insertSubscription(api.database)
      return {
        path: `/webhook-subscriptions/${subscription}/replays`,
        query: '',
        fixed: [],
        change: {
          insert: (rows) =>
            api.database.query(
              `insert into webhook_replays (merchant_account_id, id, subscription_id, from_id, to_id, undelivered_only, created_at, updated_at)
               select 'default', id, $3, id, id, false, moment, moment
               from unnest($1::uuid[], $2::timestamptz[]) as made (id, moment)`,
              [ids(rows), times(rows), subscription],
            ),
          remove: (rows) => api.database.query('delete from webhook_replays where id = any($1)', [ids(rows)]),
        },
      }
    },
  },
  listRoles: {
    row: sameId,
    async open() {
      const rows = await api.database.query<{ id: string }>('select id from roles order by id')
      return { query: '', fixed: rows.map(({ id }) => sameId(id)) }
    },
  },
}

beforeAll(async () => {
  await api.makeAccount('walk')
  const walker = await api.makeKeyPair({ merchantAccountIds: ['walk'] })
  walkerId = walker.id
  walkerToken = await api.makeToken(walker)
})

interface WalkableList {
  /** Newest first. */
  rows(): readonly Row[]
  /** False where rows cannot change. */
  canChange: boolean
  insert(count: number): Promise<void>
  /** Rows with places among those that exist, as if their transactions had committed late. */
  insertLate(count: number): Promise<void>
  remove(rows: readonly Row[]): Promise<void>
  page(cursor: string | null, limit: number): Promise<Collection<{ id: string }>>
}

/** Keeps the truth beside the store, in the order a list must have. */
async function tracked(
  { fixed, change }: Pick<Scope, 'fixed' | 'change'>,
  makeRow: (place: string) => Row,
  page: WalkableList['page'],
): Promise<WalkableList> {
  let rows: Row[] = [...fixed].reverse()
  // Places are drawn in pairs, so that there is room for a late one before each.
  const spare: string[] = []
  const add = async (made: readonly Row[]) => {
    if (!change || made.length === 0) return
    await change.insert(made)
    rows = [...rows, ...made].sort((left, right) => (left.place < right.place ? 1 : -1))
  }
  return {
    rows: () => rows,
    canChange: change !== undefined,
    insert: (count) =>
      add(
        Array.from({ length: count }, () => {
          spare.push(newId())
          return makeRow(newId())
        }),
      ),
    insertLate: (count) => add(spare.splice(0, count).map(makeRow)),
    async remove(chosen) {
      const gone = new Set(ids(chosen.filter((row) => !fixed.includes(row))))
      if (!change || gone.size === 0) return
      await change.remove(rows.filter(({ id }) => gone.has(id)))
      rows = rows.filter(({ id }) => !gone.has(id))
    },
    page,
  }
}

async function openList(route: Route): Promise<WalkableList> {
  const entry = scopes[route.id]
  if (!entry) throw new Error(`${route.id} is a list without a line in \`scopes\` of test/list-walks.test.ts: add one`)
  const scope = await entry.open()
  const account: Record<string, string> =
    route.merchantAccount === 'none' ? {} : { 'X-Service-Merchant-Account-ID': 'default' }
  return tracked(scope, entry.row, async (cursor, limit) => {
    const at = cursor === null ? '' : `&cursor=${cursor}`
    const { status, text, body } = await api.request<Collection<{ id: string }>>(
      'GET',
      `${scope.path ?? route.path}?limit=${limit}${scope.query}${at}`,
      { headers: account, ...(scope.token !== undefined && { token: scope.token }) },
    )
    if (status !== 200) throw new Error(`${route.path}: ${status} ${text}`)
    return body
  })
}

type Direction = 'older' | 'newer'

interface Change {
  kind: 'insert' | 'insert late' | 'remove the edge' | 'remove the page' | 'remove the next page' | 'remove some'
  amount: number
}
interface Step {
  limit: number
  turn: boolean
  changes: readonly Change[]
}

/** Where the walk stands: beyond this place; or at it, when it is not passed yet. */
interface Boundary {
  place: string
  inclusive: boolean
}

/**
 * Walks to the old end and back to the new one, turning and changing rows on the way as the steps say, and then both ways
 * once more in peace. Returns what was wrong with any page.
 */
async function walk(list: WalkableList, steps: readonly Step[]): Promise<string[]> {
  const problems: string[] = []
  let direction: Direction = 'older'
  let cursor: string | null = null
  let boundary: Boundary | undefined
  let hasTurned = false
  const before = new Set(ids(list.rows()))
  const seen: string[] = []

  const read = async (limit: number): Promise<Collection<{ id: string }>> => {
    const page = await list.page(cursor, limit)
    problems.push(...pageProblems(list.rows(), page, limit, direction, boundary))
    return page
  }
  const placeOf = (item: { id: string } | undefined) => list.rows().find(({ id }) => id === item?.id)?.place

  for (let index = 0; index < 500; index += 1) {
    const step = steps[index] ?? { limit: 1 + (index % 7), turn: false, changes: [] }
    const page = await read(step.limit)
    if (!hasTurned) seen.push(...page.items.map(({ id }) => id))
    const [first, last] = [placeOf(page.items.at(0)), placeOf(page.items.at(-1))]
    const reached: Direction = direction
    if (step.turn) direction = direction === 'older' ? 'newer' : 'older'
    cursor = direction === 'older' ? page.next_cursor : page.previous_cursor
    if (cursor === null) {
      // The end: once back and forth is enough, and what was there all along has been seen exactly once.
      if (!hasTurned && direction === 'older') problems.push(...sweepProblems(before, list.rows(), seen))
      if (direction === 'newer' && index >= steps.length) break
      direction = direction === 'older' ? 'newer' : 'older'
      cursor = direction === 'older' ? page.next_cursor : page.previous_cursor
      if (cursor === null) break
    }
    if (direction !== reached) hasTurned = true
    const edge = direction === 'older' ? last : first
    if (edge !== undefined) boundary = { place: edge, inclusive: false }
    else if (boundary && direction !== reached) boundary = { ...boundary, inclusive: !boundary.inclusive }
    for (const change of step.changes) await apply(list, change, page.items, edge, direction)
  }

  problems.push(...(await peacefulProblems(list, 1 + (steps.length % 5))))
  return problems
}

async function apply(
  list: WalkableList,
  { kind, amount }: Change,
  items: readonly { id: string }[],
  edge: string | undefined,
  direction: Direction,
): Promise<void> {
  const rows = list.rows()
  const onPage = new Set(items.map(({ id }) => id))
  switch (kind) {
    case 'insert':
      return list.insert(amount)
    case 'insert late':
      return list.insertLate(amount)
    case 'remove the edge':
      return list.remove(rows.filter(({ place }) => place === edge))
    case 'remove the page':
      return list.remove(rows.filter(({ id }) => onPage.has(id)))
    case 'remove the next page': {
      const ahead = rows.filter(
        ({ place }) => edge !== undefined && (direction === 'older' ? place < edge : place > edge),
      )
      return list.remove(direction === 'older' ? ahead.slice(0, amount) : ahead.slice(-amount))
    }
    case 'remove some':
      return list.remove(rows.filter((_row, index) => (index * 7 + amount) % 3 === 0))
  }
}

/** Whether a page is exactly the rows next to the boundary, in order, with cursors where there is more. */
function pageProblems(
  rows: readonly Row[],
  page: Collection<{ id: string }>,
  limit: number,
  direction: Direction,
  boundary: Boundary | undefined,
): string[] {
  const isAhead = ({ place }: Row) => {
    if (!boundary) return true
    if (boundary.inclusive && place === boundary.place) return true
    return direction === 'older' ? place < boundary.place : place > boundary.place
  }
  const ahead = rows.filter(isAhead)
  const behind = rows.length - ahead.length
  const expected = direction === 'older' ? ahead.slice(0, limit) : ahead.slice(Math.max(0, ahead.length - limit))
  const [beyond, back] =
    direction === 'older' ? [page.next_cursor, page.previous_cursor] : [page.previous_cursor, page.next_cursor]
  const at = `${direction} than ${boundary?.place ?? 'nothing'}${boundary?.inclusive ? ' or it' : ''}, limit ${limit}`
  const problems: string[] = []
  const found = page.items.map(({ id }) => id)
  if (found.join() !== ids(expected).join()) problems.push(`${at}: ${found.join()} instead of ${ids(expected).join()}`)
  if (page.limit !== limit) problems.push(`${at}: says the limit was ${page.limit}`)
  if ((beyond === null) !== ahead.length <= limit) problems.push(`${at}: wrong about whether there is more ahead`)
  if ((back === null) !== (behind === 0)) problems.push(`${at}: wrong about whether there is anything behind`)
  return problems
}

/** A walk from the newest to the oldest row: everything that was there from the beginning to the end, exactly once. */
function sweepProblems(before: ReadonlySet<string>, rows: readonly Row[], seen: readonly string[]): string[] {
  const missed = ids(rows).filter((id) => before.has(id) && !seen.includes(id))
  const repeated = seen.filter((id, index) => seen.indexOf(id) !== index)
  return [
    ...missed.map((id) => `${id} was there all along and was not seen`),
    ...repeated.map((id) => `${id} was seen twice`),
  ]
}

/** Without changes: forwards, then backwards, and both are the whole list in the same order. */
async function peacefulProblems(list: WalkableList, limit: number): Promise<string[]> {
  const forwards: string[] = []
  const backwards: string[] = []
  let page = await list.page(null, limit)
  for (let count = 0; count < 1_000; count += 1) {
    forwards.push(...page.items.map(({ id }) => id))
    if (page.next_cursor === null) break
    page = await list.page(page.next_cursor, limit)
  }
  for (let count = 0; count < 1_000; count += 1) {
    backwards.unshift(...page.items.map(({ id }) => id))
    if (page.previous_cursor === null) break
    page = await list.page(page.previous_cursor, limit)
  }
  const all = ids(list.rows()).join()
  return [
    ...(forwards.join() === all ? [] : [`forwards: ${forwards.join()} instead of ${all}`]),
    ...(backwards.join() === all ? [] : [`backwards: ${backwards.join()} instead of ${all}`]),
  ]
}

const changes = fc.record<Change>({
  kind: fc.constantFrom(
    'insert',
    'insert late',
    'remove the edge',
    'remove the page',
    'remove the next page',
    'remove some',
  ),
  amount: fc.integer({ min: 1, max: 5 }),
})
const calmStep = fc.record<Step>({
  limit: fc.integer({ min: 1, max: 6 }),
  turn: fc.constant(false),
  changes: fc.array(changes, { maxLength: 2 }),
})
const steps = fc.oneof(
  fc.array(calmStep, { minLength: 1, maxLength: 8 }),
  fc.array(
    fc.record<Step>({
      limit: fc.integer({ min: 1, max: 6 }),
      turn: fc.boolean(),
      changes: fc.array(changes, { maxLength: 2 }),
    }),
    { minLength: 2, maxLength: 14 },
  ),
)
const plans = fc.record({ rows: fc.integer({ min: 0, max: 24 }), steps })

/** The long form: npm run proof:lists. */
const mostRuns = Number(process.env['WALKS'] ?? 20)

describe.each(lists.map((route) => [route.path, route] as const))('GET %s', (_path, route) => {
  test('a walk while rows come and go sees every row that stays exactly once, in order, and ends where the list ends', async () => {
    const numRuns = (await openList(route)).canChange ? mostRuns : Math.min(mostRuns, 25)
    await fc.assert(
      fc.asyncProperty(plans, async (plan) => {
        const list = await openList(route)
        await list.insert(plan.rows)
        expect(await walk(list, plan.steps)).toEqual([])
      }),
      { numRuns },
    )
  })

  test('pages that hold all rows, all but one, or one more than all end exactly where they should', async () => {
    const list = await openList(route)
    await list.insert(7)
    const total = list.rows().length
    for (const limit of [total - 1, total, total + 1, 1, 100].filter((size) => size > 0)) {
      const page = await list.page(null, limit)
      expect(pageProblems(list.rows(), page, limit, 'older', undefined)).toEqual([])
      expect([page.items.length, page.next_cursor === null, page.previous_cursor]).toEqual([
        Math.min(total, limit),
        limit >= total,
        null,
      ])
      expect(await peacefulProblems(list, limit)).toEqual([])
    }
  })

  test('a list that has no rows, or lost all of them under the reader, has no cursors', async () => {
    const list = await openList(route)
    await list.insert(3)
    const { next_cursor } = await list.page(null, 1)
    await list.remove(list.rows())
    const left = list.rows().length
    const start = await list.page(null, 1)
    expect(start.items).toHaveLength(Math.min(1, left))
    if (left > 0) return
    for (const page of [start, await list.page(next_cursor, 1)]) {
      expect([page.items, page.next_cursor, page.previous_cursor]).toEqual([[], null, null])
    }
  })
})

test('every list has a line that says how its rows come and go', () => {
  expect(lists.map(({ id }) => id).filter((id) => !scopes[id])).toEqual([])
})

type Mistake =
  | 'none'
  | 'the edge is read again'
  | 'a row is skipped'
  | 'one row too few is read'
  | 'offsets instead of places'
  | 'pages back are not turned round'
  | 'an empty page loses its place'
  | 'a cursor too many at the end'
  | 'in the order of ids'

/** The paging of the service over rows in memory, with a mistake in it. */
function memoryList(mistake: Mistake): Promise<WalkableList> {
  let rows: Row[] = []
  const makeRow = (place: string): Row => ({ id: place.split('-').reverse().join(''), place })
  const change = {
    insert: async (made: readonly Row[]) => {
      rows = [...rows, ...made]
    },
    remove: async (gone: readonly Row[]) => {
      rows = rows.filter((row) => !gone.includes(row))
    },
  }
  const key = (row: Row) => (mistake === 'in the order of ids' ? row.id : row.place)

  function readRows({ limit, position }: PageRequest): PageRows<Row> {
    const newer = position?.direction === 'newer'
    const sorted = [...rows].sort((left, right) => (key(left) < key(right) === newer ? -1 : 1))
    const isAhead = (row: Row) => {
      if (!position) return true
      if (key(row) === position.id) return position.inclusive || mistake === 'the edge is read again'
      return newer ? key(row) > position.id : key(row) < position.id
    }
    const ahead = sorted.filter(isAhead)
    if (mistake === 'a row is skipped' && position) ahead.shift()
    const wanted = mistake === 'one row too few is read' ? limit : limit + 1
    return { rows: ahead.slice(0, wanted), hasBehind: position !== undefined && ahead.length < rows.length }
  }

  const page: WalkableList['page'] = async (cursor, limit) => {
    if (mistake === 'offsets instead of places') {
      const offset = Number(cursor ?? 0)
      const sorted = [...rows].sort((left, right) => (left.place < right.place ? 1 : -1))
      return {
        items: sorted.slice(offset, offset + limit),
        limit,
        next_cursor: offset + limit < sorted.length ? String(offset + limit) : null,
        previous_cursor: offset > 0 ? String(Math.max(0, offset - limit)) : null,
      }
    }
    const position = cursor === null ? undefined : (JSON.parse(cursor) as Position)
    const request: PageRequest = { limit, position, seal: (at) => JSON.stringify(at) }
    const found = toCollection(request, readRows(request), key, (row) => row)
    if (mistake === 'pages back are not turned round' && position?.direction === 'newer') found.items.reverse()
    if (mistake === 'an empty page loses its place' && found.items.length === 0) {
      return { ...found, next_cursor: null, previous_cursor: null }
    }
    if (mistake === 'a cursor too many at the end' && found.items.length === limit) {
      const last = found.items.at(-1)
      found.next_cursor ??= last ? JSON.stringify({ direction: 'older', inclusive: false, id: key(last) }) : null
    }
    return found
  }
  return tracked({ fixed: [], change }, makeRow, page)
}

/** What a number of random walks find; deterministic, so that it is the same mistake every time. */
async function problemsWith(mistake: Mistake): Promise<string[]> {
  const problems: string[] = []
  for (const plan of fc.sample(plans, { numRuns: 150, seed: 7 })) {
    const list = await memoryList(mistake)
    await list.insert(plan.rows)
    problems.push(...(await walk(list, plan.steps)))
  }
  return problems
}

describe('the checker', () => {
  test('finds nothing wrong with paging that is right', async () => {
    expect(await problemsWith('none')).toEqual([])
  })

  test.each<Mistake>([
    'the edge is read again',
    'a row is skipped',
    'one row too few is read',
    'offsets instead of places',
    'pages back are not turned round',
    'an empty page loses its place',
    'a cursor too many at the end',
    'in the order of ids',
  ])('finds this mistake: %s', async (mistake) => {
    expect(await problemsWith(mistake)).not.toEqual([])
  })

  test('asks for a line when a list has none', async () => {
    const [list] = lists
    await expect(openList({ ...(list as Route), id: 'listNewThings' })).rejects.toThrow(/listNewThings.*add one/)
  })
})
