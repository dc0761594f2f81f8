import type { CardScheme } from '../card-schemes.ts'
import type { ErrorDetail } from '../errors.ts'
import { passesLuhn } from '../platform/luhn.ts'
import type { Db } from '../platform/postgres.ts'
import { findRecentBinFacts } from './bins.ts'
import { detectCard } from './detect.ts'
import { expiresAt } from './expiration.ts'
import { type CardType, cardFacts } from './facts.ts'

/** A card as the API shows it, but for its fingerprint, which is the vault's to tell. */
export interface DescribedCard {
  label: string
  scheme: CardScheme
  additional_schemes: string[] | null
  bin: string
  card_type: CardType | null
  card_issuer_name: string | null
  /** Of the bank. */
  issuer_country: string | null
  expiration_date: string
  expires_at: Date
}

export async function describeCard(
  ctx: { db: Db },
  card: { number: string; expiration_date: string; card_type?: CardType | null | undefined },
): Promise<DescribedCard> {
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

export function cardProblems({ number, expiration_date }: { number: string; expiration_date: string }): ErrorDetail[] {
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
