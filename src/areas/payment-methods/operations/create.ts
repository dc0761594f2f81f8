import { findRecentBinFacts } from '../../../cards/bins.ts'
import { detectCard } from '../../../cards/detect.ts'
import { expiresAt } from '../../../cards/expiration.ts'
import { cardFacts } from '../../../cards/facts.ts'
import { passesLuhn } from '../../../platform/luhn.ts'
import { accountOf, type Context } from '../../../context.ts'
import { duplicateRecord, type ErrorDetail, ValidationFailure } from '../../../errors.ts'
import { newId, timeOfId } from '../../../ids.ts'
import { auditEntry } from '../../audit-logs/operations.ts'
import { findBuyerByReference } from '../../buyers/operations.ts'
import type { Buyer } from '../../buyers/schema.ts'
import type { NewPaymentMethod, PaymentMethod } from '../schema.ts'
import { type CardFacts, findIdByExternalIdentifier } from '../store.ts'
import { forgetNumber } from './change.ts'
import { present } from './present.ts'
import { storeRow } from './store-row.ts'

/** Stores a card: the number goes into the vault, what may be shown into our table. The security code goes nowhere. */
export async function createPaymentMethod(ctx: Context, input: NewPaymentMethod): Promise<PaymentMethod> {
  const merchantAccountId = accountOf(ctx)
  const externalIdentifier = input.external_identifier ?? null
  const [buyer, facts] = await Promise.all([findBuyer(ctx, input), describeCard(ctx, input)])
  const problems = [...cardProblems(input), ...buyerProblems(input, buyer)]
  if (problems.length > 0) throw new ValidationFailure(problems)

  const id = newId()
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

export async function describeCard(
  ctx: Pick<Context, 'db'>,
  card: { number: string; expiration_date: string; card_type?: CardFacts['card_type'] | undefined },
): Promise<Omit<CardFacts, 'fingerprint'>> {
  const facts = cardFacts(card.number, await findRecentBinFacts(ctx.db, card.number))
  return {
    label: facts.last4,
    scheme: facts.scheme,
    additional_schemes: facts.additionalSchemes.length === 0 ? null : facts.additionalSchemes,
    bin: facts.bin,
    card_type: card.card_type ?? facts.cardType,
    card_issuer_name: facts.issuer,
    issuer_country: facts.country,
    expiration_date: card.expiration_date,
    // A month that does not exist is refused before this is used.
    expires_at: expiresAt(card.expiration_date) ?? new Date(0),
  }
}

export function cardProblems({
  number,
  expiration_date,
}: Pick<NewPaymentMethod, 'number' | 'expiration_date'>): ErrorDetail[] {
  const problems: ErrorDetail[] = []
  if (detectCard(number).usesLuhn && !passesLuhn(number)) {
    problems.push({
      location: 'body',
      pointer: '/number',
      message: 'Is mistyped: its check digit is wrong',
      type: 'value_error.luhn',
    })
  }
  if (!expiresAt(expiration_date)) {
    problems.push({
      location: 'body',
      pointer: '/expiration_date',
      message: 'The month must be 01 to 12',
      type: 'value_error.range',
    })
  }
  return problems
}

function buyerProblems(
  { buyer_id, buyer_external_identifier }: NewPaymentMethod,
  buyer: Buyer | undefined,
): ErrorDetail[] {
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

async function findBuyer(
  ctx: Context,
  { buyer_id, buyer_external_identifier }: NewPaymentMethod,
): Promise<Buyer | undefined> {
  if (Boolean(buyer_id) === Boolean(buyer_external_identifier)) return undefined
  return findBuyerByReference(ctx, {
    id: buyer_id ?? undefined,
    externalIdentifier: buyer_external_identifier ?? undefined,
  })
}
