/** Chance that is the same for the same seed. */
export interface Random {
  /** An integer from 0, below `end`. */
  below(end: number): number
  chance(probability: number): boolean
  pick<Item>(items: readonly Item[]): Item
  /** So many of them in random order, each once. */
  some<Item>(items: readonly Item[], count: number): Item[]
}

export function createRandom(seed: number): Random {
  let state = seed
  /** Mulberry32. */
  const next = () => {
    state = (state + 0x6d2b79f5) | 0
    let mixed = Math.imul(state ^ (state >>> 15), 1 | state)
    mixed = (mixed + Math.imul(mixed ^ (mixed >>> 7), 61 | mixed)) ^ mixed
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32
  }
  const below = (end: number) => Math.floor(next() * end)
  const pick = <Item>(items: readonly Item[]): Item => {
    if (items.length === 0) throw new Error('nothing to pick from')
    return items[below(items.length)] as Item
  }
  return {
    below,
    chance: (probability) => next() < probability,
    pick,
    some(items, count) {
      const rest = [...items]
      return Array.from({ length: Math.min(count, rest.length) }, () => rest.splice(below(rest.length), 1)).flat()
    },
  }
}
