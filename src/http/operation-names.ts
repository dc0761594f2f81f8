import type { Route } from './route.ts'

/**
 * What an operation is called where people call it by name: `transactions refunds create` on the command line, `transactions.refunds.create` in the
 * SDK. It follows the path; the verb is that of the operation's id.
 */
export function nameOperation({ id, path }: Pick<Route, 'id' | 'path'>): string[] {
  const named = exceptions[id]
  if (named) return named.split(' ')
  const resource = path.split('/').filter((part) => part !== '' && !part.startsWith('{'))
  const [verb = ''] = /^[a-z]+/.exec(id) ?? []
  // An action is the last part of its path: /transactions/{transaction_id}/capture.
  return usual.has(verb) ? [...resource, verb] : resource
}

const usual = new Set(['list', 'get', 'create', 'update', 'delete'])

/** Paths that end with a noun although the operation is no more than something to do. */
const exceptions: Readonly<Record<string, string>> = {
  lookUpGiftCardBalances: 'gift-cards balances',
  activateGiftCard: 'gift-cards activate',
  issueGiftCard: 'gift-cards issue',
  refundAll: 'transactions refunds create-all',
  sendCheckoutSessionFields: 'checkout sessions fields send',
  receiveNotification: 'payment-services notify',
}
