import { beforeAll, expect, test } from 'vitest'
import { type Call, triggers } from '../src/cli/triggers.ts'
import { eventNames } from '../src/events/catalog.ts'
import { eventProblem, eventProblems } from './event-schemas.ts'
import { idOf, usePayments } from './payments.ts'
import { afterDays } from './statements.ts'

/* Every event of the catalogue is one that happens, and says what its schema says: no less, and nothing else. */

const { api, service, makeService, paid } = usePayments()

beforeAll(async () => {
  await api.request('PUT', `/payment-services/${service()}`, { body: { settlement_reporting_enabled: true } })
  await makeService({ payment_service_definition_id: 'mock-redirect' })
})

const call: Call = async (method, path, body) => {
  const {
    status,
    text,
    body: answer,
  } = await api.request<{ id: string; items: { id: string }[] }>(method, path, {
    ...(body && { body }),
  })
  if (status >= 300) throw new Error(`${method} ${path}: ${text}`)
  return answer
}

const count = async (name: string) => {
  const [row] = await api.database.query<{ count: string }>('select count(*) from events where name = $1', [name])
  return Number(row?.count)
}

test.each(Object.entries(triggers))('%s can be triggered', async (name, trigger) => {
  const before = await count(name)
  await trigger(call)
  expect(await count(name)).toBe(before + 1)
})

test('every name of the catalogue happens, and every event fits the schema of its name', async () => {
  await afterDays(api, idOf(await paid({ intent: 'capture' })), 2)
  const rows = await api.database.query<{ name: string }>('select distinct name from events')
  const names = new Set(rows.map(({ name }) => name))
  expect(eventNames.filter((name) => !names.has(name))).toEqual(['webhook-subscription.test'])
  expect(await eventProblems(api.database)).toEqual([])
})

test('an event that says too little, too much or something else is found', async () => {
  const [row] = await api.database.query<Parameters<typeof eventProblem>[0] & { target: Record<string, unknown> }>(
    "select * from events where name = 'buyer.created' limit 1",
  )
  if (!row) throw new Error('there is no event')
  expect(eventProblem(row)).toBeUndefined()
  const { id: _id, ...less } = row.target
  for (const target of [less, { ...row.target, secret: 'x' }, { ...row.target, display_name: 1 }]) {
    expect(eventProblem({ ...row, target })).toBeDefined()
  }
  expect(eventProblem({ ...row, name: 'buyer.invented' })).toBe('buyer.invented is not in the catalogue')
})
