import { printable, widthOf } from './terminal-text.ts'
import { isObject, type Json, textOf } from './values.ts'

/** One thing as lines of name and value, aligned. What is null or empty is left out; lines are not cut, so that they can be copied. */
export function objectLines(thing: Json): string[] {
  const entries = entriesOf(thing, '')
  const width = Math.max(0, ...entries.map(([name]) => widthOf(name)))
  return entries.flatMap(([name, [first = '', ...others]]) => [
    `${name}${' '.repeat(width - widthOf(name) + 2)}${first}`,
    ...others.map((line) => ' '.repeat(width + 2) + line),
  ])
}

type Entry = [name: string, lines: string[]]

function entriesOf(node: Json, inside: string): Entry[] {
  return Object.entries(node).flatMap(([name, value]): Entry[] => {
    const path = inside + name
    if (isObject(value)) return entriesOf(value, `${path}.`)
    if (Array.isArray(value) && value.every(isObject)) {
      return value.flatMap((entry, index) => entriesOf(entry, `${path}.${index}.`))
    }
    const lines = linesOf(name, value, node)
    return lines.length === 0 ? [] : [[printable(path), lines]]
  })
}

/** A key in PEM has lines of its own. */
function linesOf(name: string, value: unknown, node: Json): string[] {
  const lines =
    typeof value === 'string' && value.includes('\n') ? value.split('\n').map(printable) : [textOf(name, node)]
  return lines.filter((line) => line !== '')
}
