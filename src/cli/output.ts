import { ApiError } from '../errors.ts'

/** A failure that the person at the keyboard can mend; its message says how. */
export class CommandError extends Error {
  override name = 'CommandError'
}

export function say(text: string): void {
  process.stdout.write(`${text}\n`)
}

export function sayJson(value: unknown): void {
  say(JSON.stringify(value))
}

/** Beside the result: progress and remarks that must not get into a pipe. */
export function note(text: string): void {
  process.stderr.write(`${text}\n`)
}

export function reportError(error: unknown, json: boolean): void {
  const message = describe(error)
  note(json ? JSON.stringify({ error: message }) : `error: ${message}`)
  process.exitCode = 1
}

/** What was typed may be a card number, and a message that quotes it may end up in a log. */
export const withoutCardNumbers = (text: string): string =>
  text.replaceAll(/(?<![\w-])\d(?:[ -]?\d){11,18}(?![\w-])/g, (digits) => digits.replaceAll(/\d/g, '*'))

function describe(error: unknown): string {
  // By its name: the file that has the class takes long to load, and few commands need it.
  if (error instanceof CommandError || (error instanceof Error && error.name === 'ConfigError')) return error.message
  if (error instanceof ApiError) {
    return [error.message, ...error.details.map(({ pointer, message }) => `  ${pointer}: ${message}`)].join('\n')
  }
  return error instanceof Error ? (error.stack ?? error.message) : String(error)
}
