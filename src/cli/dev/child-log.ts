import { styleText } from 'node:util'

interface LogLine {
  level?: string
  message?: string
  address?: string
  method?: string
  operation?: string
  status?: number
  duration_ms?: number
  error_code?: string
  reason?: string
  error?: { message?: string; stack?: string }
}

/** A line of a process's log; undefined when it is not JSON, such as the trace of a crash. */
export function parseLogLine(line: string): LogLine | undefined {
  try {
    const value: unknown = JSON.parse(line)
    return typeof value === 'object' && value !== null ? value : undefined
  } catch {
    return undefined
  }
}

export const isSerious = ({ level }: LogLine) => level === 'warn' || level === 'error' || level === 'fatal'

/** One line for people; undefined when it would not interest them. */
export function renderLogLine(process: string, line: string): string | undefined {
  const entry = parseLogLine(line)
  if (!entry) return `${process}: ${line}`
  if (isSerious(entry)) return renderSerious(process, entry)
  // The vault's calls have no method: people made the request that they belong to, and see that one.
  if (entry.message === 'request') return entry.method === undefined ? undefined : renderRequest(entry)
  if (entry.message === 'request refused') return dim(`  refused: ${entry.error_code}, ${entry.reason}`)
  return undefined
}

function renderSerious(process: string, { level, message, error }: LogLine): string {
  const head = styleText(level === 'warn' ? 'yellow' : 'red', `${level} ${process}: ${message}`, { stream })
  if (!error) return head
  return level === 'warn' ? `${head} (${error.message})` : `${head}\n${error.stack ?? error.message}`
}

function renderRequest({ method, operation, status = 0, duration_ms = 0 }: LogLine): string {
  const what = operation === 'none' ? '(no operation)' : operation
  const colour = status >= 500 ? 'red' : status >= 400 ? 'yellow' : 'green'
  return `${dim(`${method} ${what}`)} ${styleText(colour, String(status), { stream })} ${dim(`${duration_ms.toFixed(1)} ms`)}`
}

const stream = process.stderr
const dim = (text: string) => styleText('dim', text, { stream })
