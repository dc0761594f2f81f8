import { expect, test } from 'vitest'
import { renderEvent } from './envelope.ts'

test('an event is the same text each time, with its fields in one order', () => {
  const row = {
    id: '0192f4a6-7e0c-7c33-b1de-3f1a2b4c5d6e',
    name: 'buyer.created',
    merchant_account_id: 'default',
    target: { type: 'buyer', id: '0192f4a6-7e0c-7c33-b1de-3f1a2b4c5d6f' },
    created_at: new Date('2026-11-15T12:30:00.000Z'),
    sequence: 1,
  }
  expect(renderEvent(row, { instance: 'acme', environment: 'sandbox' })).toBe(
    '{"type":"event","id":"0192f4a6-7e0c-7c33-b1de-3f1a2b4c5d6e","name":"buyer.created","created_at":"2026-11-15T12:30:00.000Z",' +
      '"merchant_account_id":"default","instance_id":"acme","environment":"sandbox",' +
      '"target":{"type":"buyer","id":"0192f4a6-7e0c-7c33-b1de-3f1a2b4c5d6f"}}',
  )
})
