import { cardProblems, describeCard } from '../../../cards/describe.ts'
import { accountOf, type Context } from '../../../context.ts'
import { duplicateRecord, invalidBody, notFound, ValidationFailure } from '../../../errors.ts'
import { timeOfId } from '../../../ids.ts'
import { auditEntry } from '../../audit-logs/operations.ts'
import { findNamedBuyer, namedBuyerProblems } from '../../buyers/operations.ts'
import { openSession } from '../../checkout/operations/pay.ts'
import { enrolMethod } from '../enrolments/operations.ts'
import type { NewCard, NewFromSession, NewPaymentMethod, PaymentMethod } from '../schema.ts'
import { findIdByExternalIdentifier } from '../store.ts'
import { forgetNumber } from './change.ts'
import { present } from './present.ts'
import { storeRow } from './store-row.ts'

/** Stores a card, or the one that was sent to a checkout session; a redirect method is its buyer's to approve. */
export async function createPaymentMethod(ctx: Context, input: NewPaymentMethod): Promise<PaymentMethod> {
  if (input.method === 'card') return storeCard(ctx, input)
  if (input.method === 'checkout-session') return storeCard(ctx, await cardOfSession(ctx, input))
  const buyer = await findNamedBuyer(ctx, input)
  const problems = namedBuyerProblems(input, buyer)
  if (problems.length > 0) throw new ValidationFailure(problems)
  return enrolMethod(ctx, input, buyer ?? null)
}

/** The session stays as it is: storing charges nothing, and its security code is for a payment. */
async function cardOfSession(ctx: Context, { id, method: _method, ...rest }: NewFromSession): Promise<NewCard> {
  const session = await openSession(ctx, id)
  if (!session) throw notFound()
  const { instrument } = session
  if (instrument.kind === 'none') throw invalidBody('/id', 'value_error.conflict', instrument.message)
  if (instrument.kind === 'stored') {
    throw invalidBody('/id', 'value_error.conflict', 'The payment method of the checkout session is stored already')
  }
  return { method: 'card', number: instrument.number, expiration_date: instrument.expirationDate, ...rest }
}

/** The number goes into the vault, what may be shown into our table. The security code goes nowhere. */
async function storeCard(ctx: Context, input: NewCard): Promise<PaymentMethod> {
  const merchantAccountId = accountOf(ctx)
  const externalIdentifier = input.external_identifier ?? null
  const [buyer, facts] = await Promise.all([findNamedBuyer(ctx, input), describeCard(ctx, input)])
  const problems = [...cardProblems(input), ...namedBuyerProblems(input, buyer)]
  if (problems.length > 0) throw new ValidationFailure(problems)

  const id = ctx.newId()
  const reference = { merchantAccountId, id }
  // Before the transaction: a slow vault must not hold a database connection. Should we die here, the sweep removes its row.
  const { fingerprint } = await ctx.vault.storeCard(reference, input.number)

  const entry = auditEntry(ctx, 'created', { type: 'payment-method', id, name: facts.label, merchantAccountId })
  const row = await storeRow(ctx, {
    card: {
      ...facts,
      merchant_account_id: merchantAccountId,
      id,
      buyer_id: buyer?.id ?? null,
      external_identifier: externalIdentifier,
      status: 'succeeded',
      fingerprint,
      created_at: timeOfId(id),
    },
    entry,
  })
  if (row) return present(row, buyer ?? null)
  await forgetNumber(ctx, merchantAccountId, id)
  const holder = externalIdentifier && (await findIdByExternalIdentifier(ctx.db, ctx.accounts, externalIdentifier))
  throw duplicateRecord('A payment method with this external identifier exists already', holder || null)
}
