import { cardProblems, describeCard } from '../../../cards/describe.ts'
import { accountOf, type Context } from '../../../context.ts'
import { duplicateRecord, type ErrorDetail, invalidBody, notFound, ValidationFailure } from '../../../errors.ts'
import { timeOfId } from '../../../ids.ts'
import { auditEntry } from '../../audit-logs/operations.ts'
import { findBuyerByReference } from '../../buyers/operations.ts'
import type { Buyer } from '../../buyers/schema.ts'
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
  const buyer = await findBuyer(ctx, input)
  const problems = buyerProblems(input, buyer)
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
  const [buyer, facts] = await Promise.all([findBuyer(ctx, input), describeCard(ctx, input)])
  const problems = [...cardProblems(input), ...buyerProblems(input, buyer)]
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

type Owned = Pick<NewCard, 'buyer_id' | 'buyer_external_identifier'>

function buyerProblems({ buyer_id, buyer_external_identifier }: Owned, buyer: Buyer | undefined): ErrorDetail[] {
  const named = [
    ...(buyer_id ? ['/buyer_id'] : []),
    ...(buyer_external_identifier ? ['/buyer_external_identifier'] : []),
  ]
  if (named.length === 2) {
    const message = 'Name the buyer by buyer_id or by buyer_external_identifier, not by both'
    return named.map((pointer) => ({ location: 'body', pointer, message, type: 'value_error.conflict' }))
  }
  if (named.length === 0 || buyer) return []
  return named.map((pointer) => ({
    location: 'body',
    pointer,
    message: 'There is no such buyer',
    type: 'value_error.unknown',
  }))
}

async function findBuyer(ctx: Context, { buyer_id, buyer_external_identifier }: Owned): Promise<Buyer | undefined> {
  if (Boolean(buyer_id) === Boolean(buyer_external_identifier)) return undefined
  return findBuyerByReference(ctx, {
    id: buyer_id ?? undefined,
    externalIdentifier: buyer_external_identifier ?? undefined,
  })
}
