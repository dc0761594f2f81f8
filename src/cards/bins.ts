import type { CardScheme } from '../card-schemes.ts'
import type { Db } from '../platform/postgres.ts'
import { sql } from '../platform/sql.ts'
import type { BinFacts, CardType } from './facts.ts'
import { findTestFacts } from './test-numbers.ts'

/** Ranges are kept with so many digits: no scheme tells them with more, and more would be most of a card number. */
export const binDigits = 11

interface BinRow {
  scheme: CardScheme | null
  additional_schemes: CardScheme[]
  card_type: CardType | null
  issuer: string | null
  country: string | null
}

const nothing: BinFacts = { scheme: null, additionalSchemes: [], cardType: null, issuer: null, country: null }

/**
 * What is known of a card by its first digits: the operator's narrowest range that holds the number, and where that is
 * silent the list of test cards. The number itself is not sent to the database. A number shorter than 11 digits is
 * looked up as if zeros followed.
 */
export async function findBinFacts(db: Db, number: string): Promise<BinFacts> {
  const known = findTestFacts(number) ?? nothing
  const row = await findNarrowest(db, Number(number.slice(0, binDigits).padEnd(binDigits, '0')))
  if (!row) return known
  return {
    scheme: row.scheme ?? known.scheme,
    additionalSchemes: row.scheme ? row.additional_schemes : [...row.additional_schemes, ...known.additionalSchemes],
    cardType: row.card_type ?? known.cardType,
    issuer: row.issuer ?? known.issuer,
    country: row.country ?? known.country,
  }
}

const fileMemoryMs = 3_000
const files = new WeakMap<Db, { isThere: Promise<boolean>; until: number }>()

/**
 * The same without a look-up where the operator has loaded no file. The first file an instance gets counts from three
 * seconds after its import at the latest; one that replaces another, at once.
 */
export async function findRecentBinFacts(db: Db, number: string): Promise<BinFacts> {
  if (db.inTransaction || (await hasFile(db))) return findBinFacts(db, number)
  return findTestFacts(number) ?? nothing
}

function hasFile(db: Db): Promise<boolean> {
  const known = files.get(db)
  if (known && performance.now() < known.until) return known.isThere
  const isThere = db.run(sql`select from card_bins limit 1`).then((rows) => rows.length > 0)
  files.set(db, { isThere, until: performance.now() + fileMemoryMs })
  isThere.catch(() => files.delete(db))
  return isThere
}

/** The database hears of the first eight digits, which an answer shows too; which of the steps behind them it is, we see here. */
async function findNarrowest(db: Db, start: number): Promise<BinRow | undefined> {
  const first = start - (start % stepsBehindEight)
  const rows = await db.run<BinRow & { at: number; bin_start: number | null }>(sql`
    select at, bin_start, scheme, additional_schemes, card_type, issuer, country
    from (
      (
        select at, bin_start, bin_end from card_bin_steps
        where made_by = (select made_by from card_bin_current) and at <= ${first} order by at desc limit 1
      )
      union all
      (
        select at, bin_start, bin_end from card_bin_steps
        where made_by = (select made_by from card_bin_current) and at > ${first} and at < ${first + stepsBehindEight}
        order by at limit ${stepsBehindEight}
      )
    ) as step
      -- By its limit a look-up for each step: no guess of how many there are makes PostgreSQL read the table.
      left join lateral (
        select scheme, additional_schemes, card_type, issuer, country from card_bins
        where card_bins.bin_start = step.bin_start and card_bins.bin_end = step.bin_end limit 1
      ) as bin on true
    order by at`)
  const row = rows.findLast(({ at }) => at <= start)
  return !row || row.bin_start === null ? undefined : row
}

const stepsBehindEight = 10 ** (binDigits - 8)
