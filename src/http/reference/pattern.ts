// Makes a text that matches a simple regular expression, for examples.

interface Cursor {
  pattern: string
  at: number
}

const classes: Record<string, string> = { d: '0123456789', w: 'abcdefghijklmnopqrstuvwxyz0123456789', s: ' ', S: 'x' }
const visible = Array.from({ length: 94 }, (_, index) => String.fromCharCode(33 + index)).join('')

const readClass = (cursor: Cursor): string => {
  const { pattern } = cursor
  const negated = pattern[cursor.at] === '^'
  if (negated) cursor.at += 1
  let members = ''
  while (cursor.at < pattern.length && pattern[cursor.at] !== ']') {
    let character = pattern.charAt(cursor.at++)
    if (character === '\\') {
      character = pattern.charAt(cursor.at++)
      const known = classes[character]
      if (known !== undefined) {
        members += known
        continue
      }
    }
    const last = pattern.charAt(cursor.at + 1)
    if (pattern[cursor.at] === '-' && last !== ']' && last !== '') {
      for (let code = character.charCodeAt(0); code <= last.charCodeAt(0); code += 1)
        members += String.fromCharCode(code)
      cursor.at += 2
    } else members += character
  }
  cursor.at += 1
  return negated ? Array.from(visible, (character) => (members.includes(character) ? '' : character)).join('') : members
}

/** How often to repeat what was just read: as little as allowed, but at least once to have something to show. */
const readCount = (cursor: Cursor): number => {
  const quantifier = /^(?:\{(\d+)(?:,(\d*))?\}|[*+?])\??/.exec(cursor.pattern.slice(cursor.at))
  if (!quantifier) return 1
  cursor.at += quantifier[0].length
  const most = quantifier[2] === undefined || quantifier[2] === '' ? Number.POSITIVE_INFINITY : Number(quantifier[2])
  if (quantifier[1] === undefined) return quantifier[0].startsWith('?') ? 1 : 4
  const least = Number(quantifier[1])
  return quantifier[2] === undefined ? least : Math.min(Math.max(least, 6), most)
}

// Steps through a class instead of repeating its first member, so that [0-9a-f]{8} does not become 00000000.
const pick = (members: string, index: number): string => members.charAt((index * 7 + 3) % Math.max(members.length, 1))

const readChoices = (cursor: Cursor): string => {
  const { pattern } = cursor
  let first: string | undefined
  let text = ''
  while (cursor.at < pattern.length && pattern[cursor.at] !== ')') {
    const character = pattern.charAt(cursor.at++)
    if (character === '^' || character === '$') continue
    if (character === '|') {
      first ??= text
      text = ''
      continue
    }
    let make: (index: number) => string = () => character
    if (character === '[') {
      const members = readClass(cursor)
      make = (index) => pick(members, index)
    } else if (character === '(') {
      const prefix = /^\?(?::|<\w+>)/.exec(pattern.slice(cursor.at))
      cursor.at += prefix?.[0].length ?? 0
      const inner = readChoices(cursor)
      cursor.at += 1
      make = () => inner
    } else if (character === '\\') {
      const escaped = pattern.charAt(cursor.at++)
      const members = classes[escaped] ?? escaped
      make = (index) => pick(members, index)
    } else if (character === '.') make = (index) => pick('abcdefghijklmnopqrstuvwxyz', index)
    const count = Math.min(readCount(cursor), 256)
    for (let index = 0; index < count; index += 1) text += make(index)
  }
  return first ?? text
}

/** Undefined when the pattern is more than this can follow. */
export const matching = (pattern: string): string | undefined => {
  try {
    const text = readChoices({ pattern, at: 0 })
    return new RegExp(pattern, 'u').test(text) ? text : undefined
  } catch {
    return undefined
  }
}
