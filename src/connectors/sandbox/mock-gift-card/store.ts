import { type Db, read, transact, write } from '../../../platform/postgres.ts'
import { sql } from '../../../platform/sql.ts'
import type { GiftCardErrorCode, GiftCardRefusal } from '../../gift-card.ts'

export interface BookedCard {
  opening_balance: number
  balance: number
  currency: string | null
  expires_at: Date
}

export interface Operation {
  kind: 'redeem' | 'refund' | 'activate' | 'issue'
  state: 'done' | 'refused' | 'reversed'
  provider_reference: string
  error_code: GiftCardErrorCode | null
  raw_code: string | null
  raw_message: string | null
}

const answer = sql`kind, state, provider_reference, error_code, raw_code, raw_message`

export interface NewCard {
  fingerprint: string
  openingBalance: number
  expiresAt: Date
  now: Date
}

export async function findCard(db: Db, account: string, fingerprint: string): Promise<BookedCard | undefined> {
  const [row] = await read<BookedCard>(
    db,
    [account],
    (visible) => sql`
      select opening_balance, balance, currency, expires_at from sandbox_gift_cards
      where ${visible(sql`merchant_account_id`)} and fingerprint = ${fingerprint}`,
  )
  return row
}

/** Writes down a card that is seen for the first time; who comes second changes nothing. */
export async function meetCard(db: Db, account: string, card: NewCard): Promise<void> {
  await write(
    db,
    [account],
    (walls) => sql`
      insert into sandbox_gift_cards (merchant_account_id, fingerprint, opening_balance, balance, expires_at, created_at)
      select ${account}, ${card.fingerprint}, ${card.openingBalance}::bigint, ${card.openingBalance}::bigint, ${card.expiresAt}::timestamptz,
        ${card.now}::timestamptz
      from ${walls}
      on conflict (merchant_account_id, fingerprint) do nothing
      returning fingerprint`,
    (changed) => sql`select from ${changed}`,
  )
}

export interface Redemption {
  reference: string
  providerReference: string
  fingerprint: string
  amount: number
  currency: string
  now: Date
  /** Whatever the books say. */
  refusal: GiftCardRefusal | null
  refusals: { otherCurrency: GiftCardRefusal; expired: GiftCardRefusal; tooLittle: GiftCardRefusal }
}

/**
 * Decides under the card's lock, writes the call down by its reference and takes the money. A call that was made before gets its
 * first answer, and moves nothing. Undefined when the card was never seen.
 */
export async function redeem(db: Db, account: string, call: Redemption): Promise<Operation | undefined> {
  const [row] = await write<Operation>(
    db,
    [account],
    (walls) => sql`
      insert into sandbox_gift_card_operations (merchant_account_id, reference, kind, fingerprint, amount, currency, state, provider_reference,
        error_code, raw_code, raw_message, created_at)
      select ${account}, ${call.reference}, 'redeem', ${call.fingerprint}, ${call.amount}::bigint, ${call.currency},
        case when refusal is null then 'done' else 'refused' end, ${call.providerReference},
        refusal ->> 'errorCode', refusal ->> 'rawCode', refusal ->> 'rawMessage', ${call.now}::timestamptz
      from ${walls}
        left join lateral (
          select * from sandbox_gift_cards
          where walls.set_config is not null and merchant_account_id = ${account} and fingerprint = ${call.fingerprint}
          for update
        ) as card on true,
        lateral (select ${JSON.stringify(call.refusals)}::jsonb as refusals, ${call.refusal && JSON.stringify(call.refusal)}::jsonb as forced) as given,
        lateral (select case
          when forced is not null then forced
          when card.currency <> ${call.currency} then refusals -> 'otherCurrency'
          when card.expires_at <= ${call.now}::timestamptz then refusals -> 'expired'
          when card.balance < ${call.amount}::bigint then refusals -> 'tooLittle'
        end as refusal) as decided
      where forced is not null or card.fingerprint is not null
      on conflict (merchant_account_id, reference) do update set reference = excluded.reference
      returning merchant_account_id, fingerprint, amount, created_at, ${answer}`,
    // An `insert` that always finds its row there, for the reason that mock-card's store gives. The lock is still ours.
    (changed) => sql`
      insert into sandbox_gift_cards (merchant_account_id, fingerprint, opening_balance, balance, expires_at, created_at)
      select merchant_account_id, fingerprint, 0, 0, created_at, created_at from ${changed}
      where provider_reference = ${call.providerReference} and state = 'done'
      on conflict (merchant_account_id, fingerprint) do update
        set balance = sandbox_gift_cards.balance - ${call.amount}::bigint, currency = ${call.currency}`,
  )
  return row
}

interface RedemptionRow {
  fingerprint: string | null
  amount: number
  currency: string | null
  state: Operation['state']
  refunded_amount: number
}

/**
 * A redemption with its card, both locked: the card first, as in `redeem`, so that the two never wait for each other. Undefined when
 * nobody knows it. In a transaction.
 */
async function lockRedemption(db: Db, account: string, reference: string): Promise<RedemptionRow | undefined> {
  await db.run(sql`
    select from sandbox_gift_cards
    where merchant_account_id = ${account} and fingerprint = (
      select fingerprint from sandbox_gift_card_operations where merchant_account_id = ${account} and reference = ${reference})
    for update`)
  const [row] = await db.run<RedemptionRow>(sql`
    select fingerprint, amount, currency, state, refunded_amount from sandbox_gift_card_operations
    where merchant_account_id = ${account} and reference = ${reference} and kind = 'redeem'
    for update`)
  return row
}

const giveBack = (db: Db, account: string, fingerprint: string, amount: number) =>
  db.run(sql`
    update sandbox_gift_cards set balance = balance + ${amount}::bigint
    where merchant_account_id = ${account} and fingerprint = ${fingerprint}`)

/** Afterwards the redemption has not happened, and cannot happen: one that nobody knows yet is written down as reversed. */
export async function reverse(
  db: Db,
  account: string,
  { reference, providerReference, now }: { reference: string; providerReference: string; now: Date },
): Promise<void> {
  await transact({ db, accounts: [account] }, async ({ db }) => {
    // Waits for a redemption that is being written at this moment.
    await db.run(sql`
      insert into sandbox_gift_card_operations (merchant_account_id, reference, kind, amount, state, provider_reference, created_at)
      values (${account}, ${reference}, 'redeem', 0, 'reversed', ${providerReference}, ${now})
      on conflict (merchant_account_id, reference) do nothing`)
    const redemption = await lockRedemption(db, account, reference)
    if (redemption?.state !== 'done' || redemption.fingerprint === null) return
    await db.run(sql`
      update sandbox_gift_card_operations set state = 'reversed'
      where merchant_account_id = ${account} and reference = ${reference}`)
    await giveBack(db, account, redemption.fingerprint, redemption.amount - redemption.refunded_amount)
  })
}

export interface NewRefund {
  reference: string
  providerReference: string
  redemptionReference: string
  amount: number
  currency: string
  now: Date
  refusal: GiftCardRefusal | null
  refusals: { noRedemption: GiftCardRefusal; otherCurrency: GiftCardRefusal; tooMuch: GiftCardRefusal }
}

/** Gives back a part of what was redeemed, never more than is left of it. */
export function refund(db: Db, account: string, call: NewRefund): Promise<Operation> {
  return transact({ db, accounts: [account] }, async ({ db }) => {
    const redemption = await lockRedemption(db, account, call.redemptionReference)
    const refused = refusalOfRefund(redemption, call)
    const row = await recordOperation(db, account, {
      ...call,
      kind: 'refund',
      fingerprint: redemption?.fingerprint ?? null,
      refusal: refused ?? null,
    })
    if (!isNew(row, call) || !redemption?.fingerprint) return row
    await db.run(sql`
      update sandbox_gift_card_operations set refunded_amount = refunded_amount + ${call.amount}::bigint
      where merchant_account_id = ${account} and reference = ${call.redemptionReference}`)
    await giveBack(db, account, redemption.fingerprint, call.amount)
    return row
  })
}

function refusalOfRefund(redemption: RedemptionRow | undefined, call: NewRefund): GiftCardRefusal | undefined {
  if (redemption?.state !== 'done') return call.refusals.noRedemption
  if (redemption.currency !== call.currency) return call.refusals.otherCurrency
  if (redemption.refunded_amount + call.amount > redemption.amount) return call.refusals.tooMuch
  return call.refusal ?? undefined
}

export interface Activation {
  reference: string
  providerReference: string
  /** Null: nothing says what is on the card, so that it stays unseen. */
  card: NewCard | null
  fingerprint: string
  value: { amount: number; currency: string } | null
  now: Date
  refusal: GiftCardRefusal | null
  refusals: { otherCurrency: GiftCardRefusal }
}

/** Puts an amount on the card, beside what it has. */
export function activate(db: Db, account: string, call: Activation): Promise<Operation> {
  const { value, fingerprint } = call
  return transact({ db, accounts: [account] }, async ({ db }) => {
    if (call.card && !call.refusal) await meetCard(db, account, call.card)
    const [card] = await db.run<BookedCard>(sql`
      select opening_balance, balance, currency, expires_at from sandbox_gift_cards
      where merchant_account_id = ${account} and fingerprint = ${fingerprint} for update`)
    const isOther = value !== null && card?.currency !== value.currency && typeof card?.currency === 'string'
    const refused = call.refusal ?? (isOther ? call.refusals.otherCurrency : null)
    const row = await recordOperation(db, account, {
      ...call,
      kind: 'activate',
      redemptionReference: null,
      amount: value?.amount ?? 0,
      currency: value?.currency ?? null,
      refusal: refused,
    })
    if (!isNew(row, call) || !value) return row
    await db.run(sql`
      update sandbox_gift_cards
      set opening_balance = opening_balance + ${value.amount}::bigint, balance = balance + ${value.amount}::bigint, currency = ${value.currency}
      where merchant_account_id = ${account} and fingerprint = ${fingerprint}`)
    return row
  })
}

export interface Issuance {
  reference: string
  providerReference: string
  amount: number
  currency: string
  now: Date
  refusal: GiftCardRefusal | null
}

/** The card itself is nobody's yet: it is seen when its owner uses it. */
export const issue = (db: Db, account: string, call: Issuance): Promise<Operation> =>
  transact({ db, accounts: [account] }, ({ db }) =>
    recordOperation(db, account, { ...call, kind: 'issue', fingerprint: null, redemptionReference: null }),
  )

/** Whether the call was made just now, and moves money. */
const isNew = (row: Operation, { providerReference }: { providerReference: string }) =>
  row.provider_reference === providerReference && row.state === 'done'

interface NewOperation {
  reference: string
  kind: Operation['kind']
  fingerprint: string | null
  amount: number
  currency: string | null
  redemptionReference: string | null
  providerReference: string
  refusal: GiftCardRefusal | null
  now: Date
}

/** The row that is there already, if there is one. In a transaction. */
async function recordOperation(db: Db, account: string, row: NewOperation): Promise<Operation> {
  const state = row.refusal ? 'refused' : 'done'
  const [recorded] = await db.run<Operation>(sql`
    insert into sandbox_gift_card_operations (merchant_account_id, reference, kind, fingerprint, amount, currency, redemption_reference, state,
      provider_reference, error_code, raw_code, raw_message, created_at)
    values (${account}, ${row.reference}, ${row.kind}, ${row.fingerprint}, ${row.amount}, ${row.currency}, ${row.redemptionReference}, ${state},
      ${row.providerReference}, ${row.refusal?.errorCode ?? null}, ${row.refusal?.rawCode ?? null}, ${row.refusal?.rawMessage ?? null}, ${row.now})
    on conflict (merchant_account_id, reference) do update set reference = excluded.reference
    returning ${answer}`)
  if (!recorded) throw new Error('an operation was not written')
  return recorded
}
