const day = 24 * 60 * 60 * 1000
const units = { s: 1_000, m: 60_000, h: 60 * 60_000, d: day, w: 7 * day } as const

/** A number and a unit: 90s, 15m, 6h, 3d, 2w. */
export const durationPattern = '^[1-9][0-9]{0,8}[smhdw]$'

/** Undefined when it is not one. */
export function parseDuration(text: string): number | undefined {
  const unit = units[text.at(-1) as keyof typeof units]
  return new RegExp(durationPattern).test(text) ? Number(text.slice(0, -1)) * unit : undefined
}

/** Longer than any deadline there is. */
export const mostAheadMs = 10 * 365 * day
