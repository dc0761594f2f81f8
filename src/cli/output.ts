import { ApiError } from '../errors.ts'
import { ConfigError } from '../platform/config.ts'

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

function describe(error: unknown): string {
  if (error instanceof CommandError || error instanceof ConfigError) return error.message
  if (error instanceof ApiError) {
    return [error.message, ...error.details.map(({ pointer, message }) => `  ${pointer}: ${message}`)].join('\n')
  }
  return error instanceof Error ? (error.stack ?? error.message) : String(error)
}
