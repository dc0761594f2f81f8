import { expect, test } from 'vitest'
import { parseContainerfile } from './containerfile.ts'
import { proveContainer } from './prove.ts'

// Runs where trees can be mounted (vitest.config.ts). `npm run proof:container` is the same with a line of JSON.
test('the image is built by its file, and its processes take a payment as another user in a read-only tree, its command line lists it, and they end well', async () => {
  const report = await proveContainer(() => undefined)
  const powerless = { uid: '10001', capabilities: '0000000000000000', no_new_privileges: '1', exit_code: 0 }
  expect(report).toMatchObject({
    test_files: [],
    migrate: expect.stringMatching(/^\d+ migration\(s\) applied$/),
    processes: { vault: powerless, api: powerless, worker: powerless },
    written_outside: [],
    answers: { '/merchant-accounts': 201, '/payment-services': 201, '/payment-methods': 201, '/transactions': 201 },
    stored_card: 'succeeded',
    payment_status: 'capture_succeeded',
    listed: 'capture_succeeded',
  })
  expect(report.wrong_password).toContain('password authentication failed')
  expect(report.production_packages).toBeLessThanOrEqual(100)
})

test('an instruction that is not executed here is refused, and so is a user by name', () => {
  expect(() => parseContainerfile('FROM x\nADD . .')).toThrow('ADD')
  expect(() => parseContainerfile('FROM x\nUSER node')).toThrow('two numbers')
  expect(() => parseContainerfile('FROM x\nCOPY --link a b')).toThrow('--link')
})
