import type { CardScheme } from '../card-schemes.ts'
import { detectCard } from './detect.ts'

export const cardTypes = ['credit', 'debit', 'prepaid'] as const
export type CardType = (typeof cardTypes)[number]

/** What a BIN file, or the list of test cards, knows about a number. */
export interface BinFacts {
  scheme: CardScheme | null
  additionalSchemes: readonly CardScheme[]
  cardType: CardType | null
  issuer: string | null
  country: string | null
}

/** What may be known and shown of a card. */
export interface CardFacts {
  scheme: CardScheme
  additionalSchemes: CardScheme[]
  cardType: CardType | null
  issuer: string | null
  country: string | null
  bin: string
  last4: string
}

/**
 * The range table and the BIN facts together. Facts that name a scheme have the last word on all of them: the operator's
 * file knows of co-badges that no public table has, and of cards that lost theirs.
 */
export function cardFacts(number: string, facts: BinFacts): CardFacts {
  const detected = detectCard(number)
  const scheme = facts.scheme ?? detected.scheme
  const additional = [...facts.additionalSchemes, ...(facts.scheme === null ? detected.additionalSchemes : [])]
  return {
    scheme,
    additionalSchemes: [...new Set(additional)].filter((other) => other !== scheme),
    cardType: facts.cardType,
    issuer: facts.issuer,
    country: facts.country,
    // The PCI rules for truncation let eight digits stand beside the last four only in numbers of 16 digits or more.
    bin: number.slice(0, number.length >= 16 ? 8 : 6),
    last4: number.slice(-4),
  }
}
