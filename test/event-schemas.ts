import type { TSchema } from 'typebox'
import { eventNames } from '../src/events/catalog.ts'
import { eventSchema, renderEvent } from '../src/events/envelope.ts'
import { compile } from '../src/platform/validator.ts'
import type { TestDatabase } from './database.ts'

interface Row {
  id: string
  merchant_account_id: string | null
  name: string
  target: object
  created_at: Date
}

/** Of every object, only what the schema names: what is not in the public contract must not be sent. */
function closed(schema: unknown): unknown {
  if (Array.isArray(schema)) return schema.map(closed)
  if (typeof schema !== 'object' || schema === null) return schema
  const inner = Object.fromEntries(Object.entries(schema).map(([name, value]) => [name, closed(value)]))
  return 'properties' in inner && !('additionalProperties' in inner) ? { ...inner, additionalProperties: false } : inner
}

const validators = new Map(eventNames.map((name) => [name as string, compile(closed(eventSchema(name)) as TSchema)]))

/** What is wrong with the text of an event. */
export function eventProblem(row: Row): string | undefined {
  const problemsOf = validators.get(row.name)
  if (!problemsOf) return `${row.name} is not in the catalogue`
  const text = renderEvent(row, { instance: 'test', environment: 'sandbox' })
  const problems = problemsOf(JSON.parse(text))
  return problems.length === 0 ? undefined : `${text}: ${JSON.stringify(problems)}`
}

/** The same for the newest events of a database. */
export async function eventProblems(database: Pick<TestDatabase, 'query'>): Promise<string[]> {
  const rows = await database.query<Row>(
    'select id, merchant_account_id, name, target, created_at from events order by id desc limit 2000',
  )
  return rows.flatMap((row) => eventProblem(row) ?? [])
}
