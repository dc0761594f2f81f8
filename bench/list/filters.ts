import { type Answer, type Client, pageOf, type Timing, timeQuery } from './ask.ts'
import { filterValues, type Shape, shapes } from './values.ts'
import { oldestCount } from './world.ts'

export type FilterTimings = Record<string, Partial<Record<Shape, Timing>>>

export interface FilterFigures {
  timings: FilterTimings
  /** Answers that were not as the values promise. */
  wrong: string[]
  worst: { query: string; p99: number }
}

/** Every filter alone, with each of its values. */
export async function measureFilters(client: Client, rows: number, times: number): Promise<FilterFigures> {
  const figures: FilterFigures = { timings: {}, wrong: [], worst: { query: '', p99: 0 } }
  for (const [name, values] of Object.entries(filterValues(rows))) {
    const own: Partial<Record<Shape, Timing>> = {}
    for (const shape of shapes) {
      const query = values[shape]
      if (query === undefined) continue
      const { p50, p99, last } = await timeQuery(client, query, times)
      own[shape] = { p50, p99 }
      if (p99 > figures.worst.p99) figures.worst = { query, p99 }
      if (!isAsPromised(name, shape, last)) figures.wrong.push(query)
    }
    figures.timings[name] = own
  }
  return figures
}

/** An id is of one row; the 20 oldest fill the first page and leave nothing; what matches many has more pages. */
function isAsPromised(name: string, shape: Shape, answer: Answer): boolean {
  const { items, next_cursor: next } = pageOf(answer)
  if (shape === 'nothing') return items.length === 0
  if (shape !== 'oldest') return items.length === 20 && next !== null
  return items.length === (name === 'id' || name === 'reconciliation_id' ? 1 : oldestCount) && next === null
}
