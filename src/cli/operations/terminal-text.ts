/** Text of others on somebody's terminal: what it says is shown, what it would do to the terminal is not done. */

// Control and format characters, lone halves of characters, and what ends a line.
const unprintable = /[\p{Cc}\p{Cf}\p{Cs}\p{Zl}\p{Zp}]/gu

const escape = (character: string): string =>
  [...Array(character.length).keys()]
    .map((index) => `\\u${character.charCodeAt(index).toString(16).padStart(4, '0')}`)
    .join('')

/** On one line, and without anything that a terminal obeys. */
export const printable = (text: string): string => text.replaceAll(/\s+/g, ' ').replaceAll(unprintable, escape)

/** JSON that says the same: escapes instead of the characters that a terminal obeys. */
export const printableJson = (value: unknown, indent = 0): string =>
  JSON.stringify(value, null, indent).replaceAll(unprintable, (character) =>
    character === '\n' ? character : escape(character),
  )

const wide =
  /[\u1100-\u115F\u2329\u232A\u2E80-\u303E\u3041-\uA4CF\uA960-\uA97F\uAC00-\uD7FB\uF900-\uFAFF\uFE10-\uFE6F\uFF01-\uFF60\uFFE0-\uFFE6\u{16FE0}-\u{18DFF}\u{1AFF0}-\u{1B2FF}\u{1F000}-\u{1FAFF}\u{20000}-\u{3FFFD}]|\p{Emoji_Presentation}/u

const cellsOf = (character: string): number => {
  if (/\p{M}/u.test(character)) return 0
  return wide.test(character) ? 2 : 1
}

/** How many cells of a terminal printable text takes. */
export function widthOf(text: string): number {
  if (/^[\x20-\x7E]*$/.test(text)) return text.length
  let cells = 0
  for (const character of text) cells += cellsOf(character)
  return cells
}

/** As much of it as fits, with a mark where something is missing, and spaces up to the width. */
export function fit(text: string, width: number): string {
  const cells = widthOf(text)
  if (cells <= width) return text + ' '.repeat(width - cells)
  if (width < 1) return ''
  let [shown, taken] = ['', 0]
  for (const character of text) {
    const next = taken + cellsOf(character)
    if (next > width - 1) break
    shown += character
    taken = next
  }
  return `${shown}…${' '.repeat(width - taken - 1)}`
}
