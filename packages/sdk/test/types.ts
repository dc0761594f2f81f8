import type { ErrorCode, Florin, FlorinError, FlorinEvent, Transaction, TransactionCapture } from '@florin/sdk'

/* Compiled and never run: each line below a mark must be an error, and all the others none. */

export async function checkTypes(florin: Florin, event: FlorinEvent, error: FlorinError): Promise<void> {
  const card = { method: 'card', number: '4111111111111111', expiration_date: '12/30' } as const
  const made: Transaction = await florin.transactions.create({ amount: 1, currency: 'EUR', payment_method: card })
  // @ts-expect-error a field that is not known
  await florin.transactions.create({ amount: 1, currency: 'EUR', colour: 'red' })
  // @ts-expect-error a field that is missing
  await florin.transactions.create({ amount: 1 })
  // @ts-expect-error a field of the wrong type
  await florin.transactions.create({ amount: '1', currency: 'EUR' })
  // @ts-expect-error a value that is not one of those there are
  await florin.transactions.create({ amount: 1, currency: 'EUR', intent: 'charge' })
  // @ts-expect-error a method of payment without what it needs
  await florin.transactions.create({ amount: 1, currency: 'EUR', payment_method: { method: 'card' } })
  // @ts-expect-error a status that does not exist
  florin.transactions.list({ status: ['captured'] })
  // @ts-expect-error an operation that takes no key
  await florin.buyers.create({}, { idempotencyKey: 'x' })
  // @ts-expect-error an operation that takes no merchant account
  await florin.merchantAccounts.get('default', { merchantAccountId: 'x' })
  // @ts-expect-error a list has no such field
  await florin.transactions.list().items
  // @ts-expect-error what is answered has no such field
  made.colour satisfies unknown

  for await (const { id, amount } of florin.transactions.list({ status: 'capture_succeeded', limit: 5 }))
    [id, amount] satisfies [string, number]
  ;(await florin.transactions.capture(made.id, { amount: 1 })) satisfies Transaction
  ;(await florin.transactions.capture(made.id, {}, { prefer: 'transaction-capture' })) satisfies TransactionCapture
  made.external_identifier satisfies string | null

  if (event.name === 'transaction.captured') event.target.amount satisfies number
  // @ts-expect-error a buyer has no amount
  if (event.name === 'buyer.created') event.target.amount satisfies number
  if (error.code !== 'unexpected_answer') error.code satisfies ErrorCode
  // @ts-expect-error a code that does not exist
  if (error.code === 'card_declined') return
}
