export interface BinRange {
  start: number
  end: number
}

/** From `at` on, until the next step, `range` is the narrowest range; null: there is none. */
export interface BinStep {
  at: number
  range: BinRange | null
}

/**
 * Turns ranges, given in the order of their starts, into steps. It holds only the ranges that are open at the moment, so a
 * file of any length will do. Of two ranges of one width the one that starts later is taken as the narrower.
 */
export function startSteps(emit: (step: BinStep) => void): { add: (range: BinRange) => void; finish: () => void } {
  const open: BinRange[] = []
  let pending: BinStep | undefined
  let current: BinRange | null = null

  function step(at: number): void {
    if (pending && pending.at !== at) flush()
    pending = { at, range: open[0] ?? null }
  }

  function flush(): void {
    if (pending && pending.range !== current) {
      emit(pending)
      current = pending.range
    }
  }

  function closeBefore(start: number): void {
    for (let top = open[0]; top && top.end < start; top = open[0]) {
      const at = top.end + 1
      while (open[0] && open[0].end < at) removeNarrowest(open)
      step(at)
    }
  }

  return {
    add(range) {
      closeBefore(range.start)
      insert(open, range)
      step(range.start)
    },
    finish() {
      closeBefore(Number.POSITIVE_INFINITY)
      flush()
    },
  }
}

const isNarrower = (one: BinRange, other: BinRange) =>
  one.end - one.start === other.end - other.start
    ? one.start > other.start
    : one.end - one.start < other.end - other.start

/** A binary heap with the narrowest range on top. */
function insert(heap: BinRange[], range: BinRange): void {
  let place = heap.push(range) - 1
  while (place > 0) {
    const parent = (place - 1) >>> 1
    const above = heap[parent]
    if (!above || !isNarrower(range, above)) break
    heap[place] = above
    place = parent
  }
  heap[place] = range
}

function removeNarrowest(heap: BinRange[]): void {
  const last = heap.pop()
  if (!last || heap.length === 0) return
  let place = 0
  for (;;) {
    const left = heap[2 * place + 1]
    const right = heap[2 * place + 2]
    const [child, childPlace] =
      right && left && isNarrower(right, left) ? [right, 2 * place + 2] : [left, 2 * place + 1]
    if (!child || !isNarrower(child, last)) break
    heap[place] = child
    place = childPlace
  }
  heap[place] = last
}
