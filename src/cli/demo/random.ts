/** Chance that is the same for the same seed, on every machine. */
export interface Random {
  /** At least 0, less than 1. */
  next(): number
  /** A whole number from `least` to `most`, both included. */
  between(least: number, most: number): number
  chance(probability: number): boolean
  pick<Value>(values: readonly Value[]): Value
  /** The more often the larger its weight. */
  weighted<Value extends { weight: number }>(values: readonly Value[]): Value
}

/** One stream of chance for each name, so that a change of one thing leaves the others as they are. */
export function createRandom(seed: number, name: string): Random {
  let state = Array.from(name).reduce((hash, letter) => Math.imul(hash ^ letter.charCodeAt(0), 16_777_619), seed | 0)

  // Mulberry32: small, quick, and good enough for names and prices.
  function next(): number {
    state = (state + 0x6d2b79f5) | 0
    let mixed = Math.imul(state ^ (state >>> 15), 1 | state)
    mixed = (mixed + Math.imul(mixed ^ (mixed >>> 7), 61 | mixed)) ^ mixed
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 4_294_967_296
  }

  const between = (least: number, most: number) => least + Math.floor(next() * (most - least + 1))
  return {
    next,
    between,
    chance: (probability) => next() < probability,
    pick: (values) => existing(values[between(0, values.length - 1)]),
    weighted(values) {
      let left = next() * values.reduce((sum, { weight }) => sum + weight, 0)
      return existing(values.find(({ weight }) => (left -= weight) < 0) ?? values.at(-1))
    },
  }
}

function existing<Value>(value: Value | undefined): Value {
  if (value === undefined) throw new Error('there is nothing to choose from')
  return value
}
