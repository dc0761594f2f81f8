import pino from 'pino'
import { passesLuhn } from './luhn.ts'

/**
 * Everything a log line may say. There is no way to log a body, a header or an object as it is: a field that is not in
 * this list does not compile, and is dropped should it come past the compiler.
 */
export interface LogFields {
  request_id?: string
  operation?: string
  method?: string
  status?: number
  duration_ms?: number
  error_code?: string
  /** Why a token was refused, and the like: never told to the caller. */
  reason?: string
  key_pair_id?: string
  merchant_account_id?: string
  /** Id of the thing the line is about. */
  resource_id?: string
  /** Who asked, as far as the connection tells. */
  caller?: string
  trace_id?: string
  job?: string
  job_id?: string
  attempt?: number
  count?: number
  address?: string
  version?: string
  signal?: string
  error?: unknown
}

const allowed: ReadonlySet<string> = new Set([
  'request_id',
  'operation',
  'method',
  'status',
  'duration_ms',
  'error_code',
  'reason',
  'key_pair_id',
  'merchant_account_id',
  'resource_id',
  'caller',
  'trace_id',
  'job',
  'job_id',
  'attempt',
  'count',
  'address',
  'version',
  'signal',
  'error',
] satisfies (keyof LogFields)[])

export type LogLevel = 'debug' | 'info' | 'warn' | 'error' | 'silent'

export interface Log {
  debug(message: string, fields?: LogFields): void
  info(message: string, fields?: LogFields): void
  warn(message: string, fields?: LogFields): void
  error(message: string, fields?: LogFields): void
}

export interface AuditingLog extends Log {
  /** A line that no log level hides. */
  audit(message: string, fields: LogFields): void
}

export interface LogOptions {
  level: LogLevel
  process: string
  write?: (line: string) => void
  /** Called when the scrubber had to mask something: a bug somewhere above it. */
  onScrub?: () => void
}

export function createLog({ level, process: name, write, onScrub }: LogOptions): AuditingLog {
  const destination = write ? { write } : pino.destination({ fd: 1, sync: false, minLength: 0 })
  const logger = pino(
    {
      level,
      base: { process: name },
      timestamp: () => `,"time":"${new Date().toISOString()}"`,
      formatters: { level: (label) => ({ level: label }) },
      messageKey: 'message',
    },
    {
      write(line: string) {
        const clean = scrub(line)
        if (clean !== line) onScrub?.()
        destination.write(clean)
      },
    },
  )
  const at =
    (method: Exclude<LogLevel, 'silent'>) =>
    (message: string, fields: LogFields = {}) =>
      logger[method](allowOnly(fields), message)
  const auditor = logger.child({ audit: true }, { level: 'info' })
  return {
    debug: at('debug'),
    info: at('info'),
    warn: at('warn'),
    error: at('error'),
    audit: (message, fields) => auditor.info(allowOnly(fields), message),
  }
}

function allowOnly(fields: LogFields): Record<string, unknown> {
  const kept: Record<string, unknown> = {}
  for (const [name, value] of Object.entries(fields)) {
    if (!allowed.has(name) || value === undefined) continue
    kept[name] = name === 'error' ? describeError(value) : value
  }
  return kept
}

/** Name, code and stack only. A driver's error also carries the row (`detail`) and the values (`where`): never those. */
function describeError(error: unknown): Record<string, unknown> {
  if (!(error instanceof Error)) return { name: typeof error }
  const { code, constraint, table } = error as { code?: unknown; constraint?: unknown; table?: unknown }
  return { name: error.name, message: error.message, code, constraint, table, stack: error.stack }
}

// Ids first: one in a hundred UUIDs has a run of digits that could be a card number, and a masked id is of no use.
const uuidOrDigits = /([0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12})|\d(?:[ -]?\d){12,}/g

/** The last line of defence: masks every run of digits in which 13 to 19 pass the Luhn check. */
export function scrub(line: string): string {
  return line.replace(uuidOrDigits, (match, uuid: string | undefined) => uuid ?? maskCards(match))
}

/** A card number can hide anywhere inside a longer run, so each window is looked at. */
function maskCards(run: string): string {
  const digits = run.replace(/[ -]/g, '')
  for (let length = Math.min(19, digits.length); length >= 13; length -= 1) {
    for (let start = 0; start + length <= digits.length; start += 1) {
      if (passesLuhn(digits.slice(start, start + length))) return '[number]'
    }
  }
  return run
}
