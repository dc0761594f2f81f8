import { card, type Way } from './canary-requests.ts'

/** Every way a card number can come to where buyers are asked, providers report, and the sandbox is told what to do. */

const back = { redirect_url: 'https://shop.example.com/return' }
const form = (text: string) => ({ text, headers: { 'content-type': 'application/x-www-form-urlencoded' } })
const unknownId = '0b8f8f2c-7f0b-4f6e-9d8e-1a2b3c4d5e6f'

export const approvalWays: Record<string, Way> = {
  'paid with a way back': {
    status: 201,
    weight: 4,
    send: (client, n) =>
      client.call('POST', '/transactions', {
        body: {
          amount: 1299,
          currency: 'EUR',
          country: 'DE',
          payment_method: card(n, { security_code: '123', ...back }),
        },
      }),
  },
  'as a redirect method': {
    status: 400,
    send: (client, n) =>
      client.call('POST', '/payment-methods', {
        body: { method: 'custom_redirect', country: 'DE', currency: 'EUR', ...back, number: n },
      }),
  },
  'in the path of a page': { status: 404, send: (client, n) => client.call('GET', `/sandbox/approvals/${n}`) },
  'in the path of a return': { status: 404, send: (client, n) => client.call('GET', `/approvals/${n}`) },
  'in the address of a return': {
    status: 404,
    send: (client, n) => client.call('GET', `/enrolments/${unknownId}?number=${n}`),
  },
  'in the form of a page': {
    status: 404,
    send: (client, n) => client.call('POST', `/sandbox/approvals/${unknownId}`, form(`decision=approved&number=${n}`)),
  },
  'as what the buyer decides': {
    status: 404,
    send: (client, n) => client.call('POST', `/sandbox/approvals/${unknownId}`, form(`decision=${n}`)),
  },
  'in a form for the API': {
    status: 400,
    send: (client, n) => client.call('POST', '/transactions', form(`number=${n}`)),
  },
  'in a message of a provider': {
    status: 404,
    send: (client, n) =>
      client.call('POST', `/payment-services/${unknownId}/notifications`, { body: { id: n, reference: n } }),
  },
  'in the signature of a message': {
    status: 404,
    send: (client, n) =>
      client.call('POST', `/payment-services/${unknownId}/notifications`, {
        body: {},
        headers: { 'x-sandbox-signature': n, 'x-sandbox-timestamp': n },
      }),
  },
  'as a condition of a scenario': {
    status: 400,
    send: (client, n) =>
      client.call('POST', '/three-ds-scenarios', {
        body: { conditions: { card_number: n }, outcome: { authentication: { transaction_status: 'Y' } } },
      }),
  },
  'as a condition of a simulator rule': {
    status: 400,
    send: (client, n) =>
      client.call('POST', '/simulator-rules', {
        body: { conditions: { card_number: n }, outcome: { result: 'approved' } },
      }),
  },
  'as how far a clock is moved': {
    status: 400,
    send: (client, n) => client.call('POST', '/merchant-accounts/default/clock/advance', { body: { by: `${n}s` } }),
  },
}
