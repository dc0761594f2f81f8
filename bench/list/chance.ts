/** Chance that comes out the same every time: what is drawn for a row depends on the row's number alone. */

const seed = 0x5eed

/** 32 bits that look like nothing in particular, always the same for the same two numbers. */
export function mix(number: number, salt: number): number {
  let bits = Math.imul(number ^ seed, 0x9e3779b1) ^ Math.imul(salt + 1, 0x85ebca6b)
  bits = Math.imul(bits ^ (bits >>> 16), 0x21f0aaad)
  bits = Math.imul(bits ^ (bits >>> 15), 0x735a2d97)
  return (bits ^ (bits >>> 15)) >>> 0
}

export interface Chance {
  /** From 0 up to, not including, 1. */
  next(): number
  /** From 0 up to, not including, the number. */
  below(limit: number): number
  happens(share: number): boolean
}

/** A sequence of its own for each number. */
export function chanceOf(number: number): Chance {
  let count = 0
  const next = () => {
    count += 1
    return mix(number, count) / 2 ** 32
  }
  return {
    next,
    below: (limit) => Math.floor(next() * limit),
    happens: (share) => next() < share,
  }
}

const slots = 1000

/** Draws a value as often as its weight says, to a tenth of a per cent. */
export function skewed<Value>(weights: readonly (readonly [Value, number])[]): (chance: Chance) => Value {
  const total = weights.reduce((sum, [, weight]) => sum + weight, 0)
  const table = weights.flatMap(([value, weight]) =>
    Array.from({ length: Math.max(1, Math.round((weight / total) * slots)) }, () => value),
  )
  return (chance) => table[chance.below(table.length)] as Value
}

const hex4 = Array.from({ length: 0x1_0000 }, (_, number) => number.toString(16).padStart(4, '0'))

export const hex8 = (bits: number): string => `${hex4[bits >>> 16]}${hex4[bits & 0xffff]}`

/** A UUID of the version 7 with this millisecond; the rest follows from the number. */
export function uuidAt(ms: number, number: number): string {
  const [low, first, second] = [ms % 0x1_0000, mix(number, 101), mix(number, 102)]
  const version = 0x7000 | (first & 0xfff)
  const variant = 0x8000 | ((first >>> 12) & 0x3fff)
  return `${hex8(Math.floor(ms / 0x1_0000))}-${hex4[low]}-${hex4[version]}-${hex4[variant]}-${hex4[second & 0xffff]}${hex8(mix(number, 103))}`
}
