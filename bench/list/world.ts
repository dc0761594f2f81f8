import { type Chance, mix, skewed, uuidAt } from './chance.ts'

/** When and where the transactions are: 36 months, 200 merchant accounts, one of which holds every second row. */

export const bigAccount = 'big'
export const accountIds: readonly string[] = [
  bigAccount,
  ...Array.from({ length: 199 }, (_, index) => `shop-${String(index + 1).padStart(3, '0')}`),
]
/** How many of the oldest rows of the big account have values of their own. */
export const oldestCount = 20
/** So that half of the big account's rows, and half of those, are still more than a page. */
export const fewestRows = 1_000

export const start = Date.UTC(2023, 10, 1)
export const end = Date.UTC(2026, 10, 1)

/** The millisecond of a row; later for each next one. */
export const momentOf = (row: number, rows: number): number =>
  Math.floor(start + ((row + mix(row, 100) / 2 ** 32) * (end - start)) / rows)

export const idOf = (row: number, rows: number): string => uuidAt(momentOf(row, rows), row)

const things = { buyer: 201, method: 202, service: 203, session: 204, giftCard: 205 }

/** An id of something else than a transaction, always the same for the same number. */
export const idOfThing = (kind: keyof typeof things, number: number): string =>
  uuidAt(start - 1, mix(number, things[kind]))

export const isBig = (row: number): boolean => row % 2 === 0
export const isOldest = (row: number): boolean => isBig(row) && row < 2 * oldestCount

/** The smaller accounts: the first of them has fifty times as much as the last. */
const pickSmall = skewed(accountIds.slice(1).map((id, index) => [id, 1 / (index + 4)] as const))
export const accountOf = (row: number, chance: Chance): string => (isBig(row) ? bigAccount : pickSmall(chance))

/** A row of the big account about this far into the 36 months, 0 the oldest. */
export const rowAt = (share: number, rows: number): number => 2 * Math.floor((share * rows) / 2)
