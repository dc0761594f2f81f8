import { afterAll, beforeAll, expect, test } from 'vitest'
import { useApi } from '../../../../test/api.ts'
import { commandLineContext } from '../../../cli/command-line-context.ts'
import type { PaymentConnector, ServiceAccess } from '../../../connectors/payment.ts'
import { createConnectors } from '../../../connectors/registry.ts'
import type { Context } from '../../../context.ts'
import { newId } from '../../../ids.ts'
import { connect, type Database, type Db } from '../../../platform/postgres.ts'
import { createPaymentService, deletePaymentService, updatePaymentService } from './change.ts'
import { findService, findUsableServices } from './routing.ts'
import { verifyCredentials } from './verify.ts'

const api = useApi()
let db: Database
let ctx: Context
/** The same, with its statements counted. */
let counted: Context
/** Statements and calls of the vault. */
let asked: string[]
let verified: ServiceAccess | undefined

beforeAll(() => {
  db = connect({ url: api.database.url('florin_api'), applicationName: 'test', poolSize: 2, onError: () => undefined })
  const vault = api.vault.client()
  const connectors = new Map(createConnectors({ environment: 'sandbox', db, now: () => new Date() }))
  const mockCard = connectors.get('mock-card')
  if (!mockCard) throw new Error('no mock-card')
  connectors.set('two-card', twoSecrets(mockCard))
  ctx = {
    ...commandLineContext(db, 'test'),
    accounts: ['default'],
    connectors,
    vault: {
      ...vault,
      readSecrets: (...args) => {
        asked.push('vault')
        return vault.readSecrets(...args)
      },
    },
  }
  const run: Db['run'] = (statement) => {
    asked.push('database')
    return db.run(statement)
  }
  counted = { ...ctx, db: { inTransaction: false, run } }
})
afterAll(() => db.close())

/** A provider that needs secrets, in both lists. */
function twoSecrets(mockCard: PaymentConnector): PaymentConnector {
  const field = { display_name: 'x', format: 'text', verifiable: true } as const
  return {
    ...mockCard,
    definition: {
      ...mockCard.definition,
      id: 'two-card',
      fields: [
        { ...field, key: 'id', required: true, secret: false },
        { ...field, key: 'key', required: true, secret: true },
        { ...field, key: 'salt', required: false, secret: true },
      ],
      reporting_fields: [{ ...field, key: 'key', required: true, secret: true }],
    },
    async verify(service) {
      verified = service
      return { valid: true }
    },
  }
}

const pairs = (values: Record<string, string>) => Object.entries(values).map(([key, value]) => ({ key, value }))
async function make(change: Partial<Parameters<typeof createPaymentService>[1]> = {}): Promise<string> {
  const { id } = await createPaymentService(ctx, {
    display_name: 'Cards',
    payment_service_definition_id: 'mock-card',
    fields: pairs({ merchant_id: 'shop' }),
    accepted_currencies: ['EUR'],
    accepted_countries: ['DE'],
    ...change,
  })
  return id
}
const wanted = { method: 'card', currency: 'EUR', country: 'DE' }
const idsFor = async (change: object = {}) =>
  (await findUsableServices(ctx, { ...wanted, ...change })).map(({ id }) => id)

test('usable are those that are active, there, and take the currency and the country; in the order of their positions', async () => {
  const last = await make({ position: 30 })
  const first = await make({ position: 10, accepted_currencies: ['GBP', 'EUR'], accepted_countries: ['FR', 'DE'] })
  const tied = await make({ position: 10 })
  const elsewhere = await make({ position: 5, accepted_countries: ['FR'] })
  await make({ position: 1, active: false })
  await deletePaymentService(ctx, await make({ position: 2 }))
  const other = { ...ctx, accounts: ['other'] }
  expect(await findUsableServices(other, wanted)).toEqual([])

  expect(await idsFor()).toEqual([first, tied, last])
  expect(await idsFor({ currency: 'GBP' })).toEqual([first])
  expect(await idsFor({ country: 'FR' })).toEqual([elsewhere, first])
  expect(await idsFor({ country: null })).toEqual([elsewhere, first, tied, last])
  expect(await idsFor({ country: 'US' })).toEqual([])
  expect(await idsFor({ method: 'ideal' })).toEqual([])
  expect(await idsFor({ serviceId: tied })).toEqual([tied])
  expect(await idsFor({ serviceId: newId() })).toEqual([])
  expect(await findUsableServices({ ...ctx, connectors: new Map() }, wanted)).toEqual([])
})

test('one round trip finds them, and the vault is asked for secrets only when somebody wants them', async () => {
  const id = await make({
    display_name: 'Two',
    payment_service_definition_id: 'two-card',
    fields: pairs({ id: 'shop', key: 'k', salt: 's' }),
    reporting_fields: pairs({ key: 'r' }),
    settlement_reporting_enabled: true,
    accepted_currencies: ['JPY'],
  })
  asked = []
  const [service, ...others] = await findUsableServices(counted, { ...wanted, currency: 'JPY' })
  expect(asked).toEqual(['database'])
  expect(others).toEqual([])
  expect(service).toMatchObject({ id, definitionId: 'two-card', displayName: 'Two', method: 'card' })
  expect(service?.connector).toBe(ctx.connectors.get('two-card'))
  expect(service?.access).toMatchObject({ merchantAccountId: 'default', serviceId: id, fields: { id: 'shop' } })
  expect(await service?.access.secrets()).toEqual({ key: 'k', salt: 's' })
  expect(asked).toEqual(['database', 'vault'])

  const updated = await updatePaymentService(ctx, id, { fields: pairs({ salt: '', key: 'k2' }) })
  expect(updated.fields).toEqual([{ key: 'id', value: 'shop' }])
  expect(await (await findService(ctx, id))?.access.secrets()).toEqual({ key: 'k2' })
  await expect(updatePaymentService(ctx, id, { fields: pairs({ key: '' }) })).rejects.toMatchObject({
    details: [{ pointer: '/fields' }],
  })
  await expect(updatePaymentService(ctx, id, { reporting_fields: pairs({ key: '' }) })).rejects.toMatchObject({
    details: [{ pointer: '/reporting_fields' }],
  })
})

test('a service is found by its id also when it is inactive or deleted, by its own account only', async () => {
  const id = await make({ active: false })
  asked = []
  expect((await findService(counted, id))?.access.fields).toEqual({ merchant_id: 'shop' })
  expect(asked).toEqual(['database'])
  await deletePaymentService(ctx, id)
  const deleted = await findService(ctx, id)
  expect([deleted?.id, await deleted?.access.secrets()]).toEqual([id, {}])
  expect(await findService({ ...ctx, accounts: ['other'] }, id)).toBeUndefined()
  expect(await findService({ ...ctx, connectors: new Map() }, id)).toBeUndefined()
  expect(await findService(ctx, newId())).toBeUndefined()
})

test('verifying takes what is stored, secrets too, for what is left out', async () => {
  const fields = pairs({ id: 'shop', key: 'k', salt: 's' })
  const id = await make({ payment_service_definition_id: 'two-card', fields })
  const of = { payment_service_definition_id: 'two-card', payment_service_id: id }
  await verifyCredentials(ctx, { ...of, fields: pairs({ key: 'new' }) })
  expect(verified).toMatchObject({ merchantAccountId: 'default', serviceId: id, fields: { id: 'shop' } })
  expect(await verified?.secrets()).toEqual({ key: 'new', salt: 's' })
  await verifyCredentials(ctx, { ...of, payment_service_id: null, fields: pairs({ id: 'a', key: 'b' }) })
  expect([verified?.fields, await verified?.secrets()]).toEqual([{ id: 'a' }, { key: 'b' }])
  const another = { payment_service_definition_id: 'mock-card', payment_service_id: id, fields: [] }
  await expect(verifyCredentials(ctx, another)).rejects.toMatchObject({
    details: [{ pointer: '/payment_service_id', type: 'value_error.conflict' }],
  })
})

test('a service whose provider is gone can be deleted, and not changed', async () => {
  const id = await make()
  const without = { ...ctx, connectors: new Map() }
  await expect(updatePaymentService(without, id, { active: false })).rejects.toMatchObject({
    details: [{ type: 'value_error.unsupported' }],
  })
  await deletePaymentService(without, id)
})
