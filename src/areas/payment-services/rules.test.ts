import { expect, test } from 'vitest'
import { mockCardDefinition } from '../../connectors/sandbox/mock-card/definition.ts'
import type { PaymentServiceDefinition } from '../../connectors/payment.ts'
import {
  applyFields,
  applyProfile,
  applySwitches,
  defaultSwitches,
  fieldProblems,
  noFields,
  serviceProblems,
} from './rules.ts'

const field = { display_name: 'x', format: 'text', verifiable: true } as const
/** Everything that the sandbox's own definition lacks. */
const definition: PaymentServiceDefinition = {
  ...mockCardDefinition,
  fields: [
    { ...field, key: 'id', required: true, secret: false },
    { ...field, key: 'key', required: true, secret: true },
    { ...field, key: 'note', required: false, secret: false },
  ],
  reporting_fields: [
    { ...field, key: 'id', required: true, secret: false },
    { ...field, key: 'key', required: false, secret: true },
  ],
  supported_currencies: ['EUR', 'GBP'],
  supported_countries: ['DE'],
}
const complete = { fields: { id: 'a' }, reporting_fields: {}, secret_names: ['field.key'] }
const good = { ...defaultSwitches, ...complete, accepted_currencies: ['EUR'], accepted_countries: ['DE'] }
const problemsOf = (change: object, of = definition) =>
  serviceProblems(of, { ...good, ...change }).map(({ pointer, type }) => `${pointer} ${type}`)

test('secrets are told from the other fields, in both groups', () => {
  const pairs = [
    { key: 'id', value: '1' },
    { key: 'key', value: '2' },
  ]
  expect(applyFields(definition, noFields, { fields: pairs, reporting_fields: pairs })).toEqual({
    state: { fields: { id: '1' }, reporting_fields: { id: '1' }, secret_names: ['field.key', 'reporting.key'] },
    secrets: { store: { 'field.key': '2', 'reporting.key': '2' }, remove: [] },
  })
})

test('an empty value clears, and the rest stays', () => {
  const state = { fields: { id: 'a', note: 'b' }, reporting_fields: { id: 'c' }, secret_names: ['field.key'] }
  expect(applyFields(definition, state, { fields: null })).toEqual({ state, secrets: { store: {}, remove: [] } })
  const fields = ['note', 'key'].map((key) => ({ key, value: '' }))
  expect(applyFields(definition, state, { fields, reporting_fields: [{ key: 'key', value: '' }] })).toEqual({
    state: { fields: { id: 'a' }, reporting_fields: { id: 'c' }, secret_names: [] },
    secrets: { store: {}, remove: ['field.key'] },
  })
})

test('keys that are unknown or there twice, and secrets that are too long for the vault, are refused where they stand', () => {
  const fields = [
    { key: 'id', value: '1' },
    { key: 'other', value: '1' },
    { key: 'id', value: '2' },
    { key: '__proto__', value: '1' },
    { key: 'key', value: '\u{1f600}'.repeat(10_000) },
  ]
  expect(fieldProblems('fields', definition, fields).map(({ pointer, type }) => `${pointer} ${type}`)).toEqual([
    '/fields/1/key value_error.unknown',
    '/fields/2/key value_error.conflict',
    '/fields/3/key value_error.unknown',
    '/fields/4/value value_error.length',
  ])
  expect(fieldProblems('reporting_fields', definition, null)).toEqual([])
  expect(applyFields(definition, noFields, { fields: [{ key: 'other', value: '1' }] }).state).toEqual(noFields)
})

test('a service that keeps all rules has no problems', () => {
  expect(problemsOf({})).toEqual([])
  expect(problemsOf({ open_loop: true, network_tokens_enabled: true, three_d_secure_enabled: true })).toEqual([])
  expect(problemsOf({ payment_method_tokenization_enabled: true })).toEqual([])
})

test('every required field must be set; those for reports only when there are reports', () => {
  expect(problemsOf({ fields: {} })).toEqual(['/fields value_error.missing'])
  expect(problemsOf({ secret_names: ['reporting.key'] })).toEqual(['/fields value_error.missing'])
  expect(problemsOf({ settlement_reporting_enabled: true })).toEqual(['/reporting_fields value_error.missing'])
  expect(problemsOf({ settlement_reporting_enabled: true, reporting_fields: { id: 'x' } })).toEqual([])
})

test('currencies and countries are among those of the definition', () => {
  expect(problemsOf({ accepted_currencies: ['EUR', 'USD', 'GBP', 'ZZZ'], accepted_countries: ['FR'] })).toEqual([
    '/accepted_currencies/1 value_error.unsupported',
    '/accepted_currencies/3 value_error.unsupported',
    '/accepted_countries/0 value_error.unsupported',
  ])
})

test('switches that exclude or need each other, or the definition', () => {
  const tokenized = { payment_method_tokenization_enabled: true }
  expect(problemsOf({ ...tokenized, open_loop: true })).toEqual([
    '/payment_method_tokenization_enabled value_error.conflict',
  ])
  expect(problemsOf({ network_tokens_enabled: true })).toEqual(['/network_tokens_enabled value_error.conflict'])
  const supported_features = { ...mockCardDefinition.supported_features, three_d_secure_hosted: false }
  expect(problemsOf({ three_d_secure_enabled: true }, { ...definition, supported_features })).toEqual([
    '/three_d_secure_enabled value_error.unsupported',
  ])
  expect(applySwitches(defaultSwitches, { active: false, open_loop: null })).toEqual({
    ...defaultSwitches,
    active: false,
  })
})

test('a profile is merged by scheme', () => {
  const [then, now] = [new Date('2026-01-01T00:00:00Z'), new Date('2026-02-02T00:00:00Z')]
  const first = applyProfile(null, { visa: { name: 'a' }, amex: { name: 'b' } }, then)
  const [made, later] = [then.toISOString(), now.toISOString()]
  expect(first).toEqual({ visa: { name: 'a', created_at: made }, amex: { name: 'b', created_at: made } })
  expect(applyProfile(first, undefined, now)).toEqual(first)
  expect(applyProfile(first, { visa: { name: 'c' }, amex: null, jcb: { name: 'd' } }, now)).toEqual({
    visa: { name: 'c', created_at: made },
    jcb: { name: 'd', created_at: later },
  })
  expect(applyProfile(first, { visa: null, amex: null }, now)).toBeNull()
  expect(applyProfile(first, null, now)).toBeNull()
})
