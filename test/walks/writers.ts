import { EventEmitter, once } from 'node:events'
import { setTimeout as delay } from 'node:timers/promises'
import { type Intention, recordPayments } from '../../src/areas/transactions/store/record.ts'
import type { TransactionRow } from '../../src/areas/transactions/store/rows.ts'
import { moveTransaction } from '../../src/areas/transactions/store/transactions.ts'
import { newId, timeOfId } from '../../src/ids.ts'
import { type Database, transact } from '../../src/platform/postgres.ts'
import { sql } from '../../src/platform/sql.ts'

export const walkAccounts = ['walk-1', 'walk-2', 'walk-3'] as const
export const currencies = ['EUR', 'USD'] as const
export const channels = ['web', 'shop'] as const

/** What is known of a row that is committed. */
export interface Written {
  id: string
  account: string
  currency: string
  channel: string
  /** Set before its status is changed. */
  moved: boolean
}

export interface Writers {
  /** Everything that is committed, in the order of commits. */
  rows: readonly Written[]
  /** When the next commit is done. */
  nextCommit(): Promise<unknown>
  /** Throws what a writer failed with. */
  stop(): Promise<void>
}

const together = 10
const writerCount = 8

/** Writes payments, this many a second as far as the machine goes, and moves some of them on. */
export function startWriters(db: Database, perSecond: number): Writers {
  const rows: Written[] = []
  const commits = new EventEmitter().setMaxListeners(0)
  let isStopping = false

  async function write(): Promise<void> {
    const account = anyOf(walkAccounts)
    const made = Array.from({ length: together }, () => newRow(account))
    await transact({ db, accounts: [account] }, async (ctx) => {
      await recordPayments(ctx.db, [account], made.map(intentionOf), (recorded) => sql`select id from ${recorded}`)
      // Others get later ids and commit earlier.
      await delay(Math.random() * 20)
    })
    rows.push(...made)
    commits.emit('commit')
  }

  async function move(): Promise<void> {
    const row = anyOf(rows)
    if (!row || row.moved) return
    row.moved = true
    await transact({ db, accounts: [row.account] }, (ctx) =>
      moveTransaction(ctx.db, [row.account], row.id, 'authorization_succeeded', new Date()),
    )
  }

  const began = performance.now()
  let started = 0
  const isBehind = () => started < ((performance.now() - began) / 1000) * perSecond
  async function work(): Promise<void> {
    while (!isStopping) {
      if (!isBehind()) {
        await delay(5)
        continue
      }
      started += together
      await write()
      await move()
    }
  }
  const working = Promise.all(Array.from({ length: writerCount }, work))
  // A writer that fails would leave readers waiting.
  working.catch((error: unknown) => commits.emit('error', error))
  return {
    rows,
    nextCommit: () => once(commits, 'commit'),
    async stop() {
      isStopping = true
      await working
    },
  }
}

const anyOf = <Item>(items: readonly Item[]): Item => items[Math.floor(Math.random() * items.length)] as Item

const newRow = (account: string): Written => ({
  id: newId(),
  account,
  currency: anyOf(currencies),
  channel: anyOf(channels),
  moved: false,
})

function intentionOf({ id, account, currency, channel }: Written): Intention {
  const transaction: Partial<TransactionRow> = {
    merchant_account_id: account,
    id,
    status: 'processing',
    intent: 'authorize',
    intent_outcome: 'pending',
    amount: 1299,
    currency,
    payment_source: 'ecommerce',
    merchant_initiated: false,
    is_subsequent_payment: false,
    multi_tender: false,
    metadata: JSON.stringify({ channel }),
    summary: '"amount":1299',
    details: '"merchant_initiated":false',
    rendering: 1,
    version: 1,
    created_at: timeOfId(id),
  }
  return {
    // What is left out is null.
    transaction: transaction as TransactionRow,
    findings: {
      payment_method_label: null,
      payment_method_scheme: null,
      payment_method_country: null,
      payment_method_bin: null,
      payment_method_fingerprint: null,
      buyer_email_address: null,
    },
    attempt: null,
    mainAmount: 1299,
    key: null,
    usedMethodId: null,
    statementAt: null,
  }
}
