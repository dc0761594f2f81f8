import { styleText } from 'node:util'
import { CommandError, note, say } from '../output.ts'
import type { Operation } from './manifest.ts'
import { objectLines } from './object-lines.ts'
import { type Layout, layOut } from './table.ts'
import { printable, printableJson } from './terminal-text.ts'
import { isObject, type Json } from './values.ts'

/** How an answer is shown: to a person, or to a program as the API gave it. */
export interface Screen {
  isTerminal: boolean
  width: number
  json: boolean
  /** Nothing but this field. */
  print?: string | undefined
  /** Whether what is shown may be of several merchant accounts. */
  isOfMany: boolean
}

export const screenOf = (
  { isTTY, columns }: Partial<NodeJS.WriteStream>,
  { json = false, account, print }: { json?: boolean; account?: string; print?: string },
): Screen => ({
  isTerminal: isTTY ?? false,
  // Terminals that do not know their width say 0.
  width: columns || 80,
  json,
  isOfMany: account === '*',
  print,
})

export const isForPeople = ({ isTerminal, json, print }: Screen): boolean => isTerminal && !json && print === undefined

export interface Page {
  items: Json[]
  next_cursor?: string | null
}

export const isPage = (answer: unknown): answer is Page =>
  isObject(answer) && Array.isArray(answer['items']) && answer['items'].every(isObject)

/** An answer in one piece. */
export function showAnswer(operation: Operation, text: string, screen: Screen): void {
  if (text === '') {
    if (screen.isTerminal) note('Done.')
    return
  }
  if (!screen.isTerminal && screen.print === undefined) return say(text)
  const answer: unknown = JSON.parse(text)
  if (screen.print !== undefined) return printField(isPage(answer) ? answer.items : [answer], screen.print)
  if (screen.json) return say(printableJson(answer, 2))
  if (isPage(answer) && operation.columns) {
    showRows(answer.items, layoutOf(operation, answer.items, screen), true)
  } else {
    for (const line of objectLines(isObject(answer) ? answer : { answer })) say(line)
  }
}

/** Items of many pages, as they come. A program gets a line each. */
export function createListing(operation: Operation, screen: Screen): (items: readonly Json[]) => void {
  let layout: Layout | undefined
  return (items) => {
    if (screen.print !== undefined) return printField(items, screen.print)
    if (!isForPeople(screen)) {
      for (const item of items) say(screen.isTerminal ? printableJson(item) : JSON.stringify(item))
      return
    }
    const isFirst = layout === undefined
    layout ??= layoutOf(operation, items, screen)
    showRows(items, layout, isFirst)
  }
}

/** For variables of a shell: a line for each. */
function printField(items: readonly unknown[], path: string): void {
  for (const item of items) {
    const value = path.split('.').reduce((node, name) => (isObject(node) ? node[name] : undefined), item)
    if (value === undefined) {
      throw new CommandError(
        `The answer has no field "${path}". It has: ${isObject(item) ? Object.keys(item).join(', ') : 'none'}.`,
      )
    }
    say(printable(typeof value === 'string' ? value : JSON.stringify(value)))
  }
}

function layoutOf({ columns = [] }: Operation, items: readonly Json[], { width, isOfMany }: Screen): Layout {
  const [first = 'id', ...others] = columns
  return layOut(isOfMany ? [first, 'merchant_account_id', ...others] : columns, items, width)
}

function showRows(items: readonly Json[], layout: Layout, withHeading: boolean): void {
  if (items.length === 0) return
  if (withHeading) say(styleText('bold', layout.heading))
  for (const item of items) say(layout.line(item))
}
