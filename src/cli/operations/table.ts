import { fit, widthOf } from './terminal-text.ts'
import { ageOf, type Json, textAt } from './values.ts'

export interface Layout {
  heading: string
  /** One item; like the heading, no wider than the terminal. */
  line(item: Json): string
}

interface Column {
  title: string
  width: number
  /** What it can do with. */
  least: number
  textOf(item: Json): string
  /** What takes its place where it has no room. */
  instead?: Column
}

const gap = 2
const narrowest = 16
/** An id or a moment that is cut says nothing. */
const longestWord = 40
/** As much of a status as tells it from the others. */
const shortestStatus = 21

/**
 * A table for these items and the ones after them. Columns that nobody fills are left out, and so are those for which there is no room: the
 * first ones come first. Where it is tight, long texts are cut, and when something was made is told by its age.
 */
export function layOut(paths: readonly string[], items: readonly Json[], width: number, now = Date.now()): Layout {
  const columns = widen(
    fitting(
      paths.flatMap((path) => columnsOf(path, items, now)),
      width,
    ),
    width,
  )
  const line = (text: (column: Column) => string) =>
    columns
      .map((column) => fit(text(column), column.width))
      .join(' '.repeat(gap))
      .trimEnd()
  return { heading: line(({ title }) => title), line: (item) => line(({ textOf }) => textOf(item)) }
}

/** None where nobody fills it. */
function columnsOf(path: string, items: readonly Json[], now: number): Column[] {
  const textOf = (item: Json) => textAt(item, path)
  const texts = items.map(textOf).filter((text) => text !== '')
  if (texts.length === 0) return []
  const title = titleOf(path)
  const width = Math.max(title.length, ...texts.map(widthOf))
  const isWord = width <= longestWord && texts.every((text) => !text.includes(' ') || /^-?[\d.]+ \S+$/.test(text))
  const instead = path === 'created_at' || path === 'timestamp' ? { instead: ageColumn(path, now) } : {}
  if (path === 'status') return [{ title, width, least: Math.min(width, shortestStatus), textOf }]
  return [{ title, width, least: isWord ? width : Math.min(width, narrowest), textOf, ...instead }]
}

const ageColumn = (path: string, now: number): Column => ({
  title: 'AGE',
  width: 4,
  least: 4,
  textOf: (item) => ageOf(item[path], now),
})

/** `payment_method.label` is a label, `resource.id` is more than an id. */
function titleOf(path: string): string {
  if (path === 'merchant_account_id') return 'ACCOUNT'
  const [, last = path] = /\.([^.]+)$/.exec(path) ?? []
  return (['id', 'type', 'name'].includes(last) ? path : last).replaceAll(/[._]/g, ' ').toUpperCase()
}

const total = (widths: readonly number[]): number =>
  widths.reduce((sum, width) => sum + width, 0) + gap * Math.max(0, widths.length - 1)

/** The first column always, cut if need be. */
function fitting([first, ...others]: readonly Column[], width: number): Column[] {
  if (!first) return []
  const chosen = [{ ...first, least: Math.max(1, Math.min(first.least, width)) }]
  for (const column of others) {
    const fits = [column, ...(column.instead ? [column.instead] : [])].find(
      (candidate) => total([...chosen, candidate].map(({ least }) => least)) <= width,
    )
    if (fits) chosen.push(fits)
  }
  return chosen
}

/** What is left of the width goes to the columns that can do with more, from the first on. */
function widen(columns: readonly Column[], width: number): Column[] {
  let left = width - total(columns.map(({ least }) => least))
  return columns.map((column) => {
    const more = Math.min(left, column.width - column.least)
    left -= more
    return { ...column, width: column.least + more }
  })
}
