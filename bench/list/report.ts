import type { PageFigures, Rounds } from './bare.ts'
import { type CombinationFigures, slowest } from './combinations.ts'
import type { Sizes } from './database.ts'
import type { FilterFigures } from './filters.ts'
import type { GrowthFigures } from './growth.ts'
import type { WideFigures } from './wide.ts'

/** What a run has measured: the line that it prints, and docs/scale.json. */

export interface SizeFigures {
  rows: number
  bytes: Sizes
  filters: FilterFigures
  combinations: CombinationFigures
  wide: WideFigures
  pages: Record<'20' | '500', PageFigures>
}

export interface Machine {
  cpus: number
  memory_gb: number
  postgresql: number
  shared_buffers: string
  /** Load average: how busy others kept it. */
  load_before: number
}

export interface Report extends Rounds {
  bench: 'list'
  machine: Machine
  /** How often each query was asked. */
  times: number
  /** The smallest first. */
  sizes: SizeFigures[]
  /** With several sizes. */
  growth?: GrowthFigures
  floors: typeof floors
  failed: string[]
  passed: boolean
}

/** Below this many rows a machine's moods are larger than what is measured. */
const enoughRows = 50_000
export const floors = { ratio_20: 0.4, ratio_500: 0.6, slowest_ms: slowest, growth: 1.1 }

/** What is below a floor, in words. */
export function failuresOf({ sizes, growth }: Pick<Report, 'sizes' | 'growth'>): string[] {
  const wrong = sizes.flatMap(({ filters }) => filters.wrong.map((query) => `wrong rows: ${query}`))
  const largest = sizes.at(-1)
  if (!largest || largest.rows < enoughRows) return wrong
  const { pages, combinations } = largest
  const problems: [isProblem: boolean, text: string][] = [
    [pages['20'].ratio < floors.ratio_20, `pages of 20: ${pages['20'].ratio} of the bare statement`],
    [pages['500'].ratio < floors.ratio_500, `pages of 500: ${pages['500'].ratio} of the bare statement`],
    [combinations.over > 0, `${combinations.over} combinations took longer than ${floors.slowest_ms} ms`],
    [
      growth !== undefined && growth.cpu > floors.growth,
      `the first page's CPU grows to ${growth?.cpu} of the smallest`,
    ],
    [
      growth !== undefined && growth.p50 > floors.growth,
      `the first page's p50 grows to ${growth?.p50} of the smallest`,
    ],
  ]
  return [...wrong, ...problems.flatMap(([isProblem, text]) => (isProblem ? [text] : []))]
}
