import fc from 'fast-check'
import { randomUUID } from 'node:crypto'
import { expect, test } from 'vitest'
import { giftCard, useGiftCardProvider } from '../../../../test/gift-card-provider.ts'
import type { GiftCardToCharge } from '../../gift-card.ts'
import { refundRefusalOf } from './rules.ts'

const provider = useGiftCardProvider()

/** The books as one would keep them in one's head. */
class Books {
  readonly #balances = new Map<number, number>()
  readonly #redemptions = new Map<string, { card: number; amount: number; refunded: number; state: string }>()
  readonly #refunds = new Map<string, string>()
  readonly #opening: number

  constructor(opening: number) {
    this.#opening = opening
  }

  balance(card: number): number {
    return this.#balances.get(card) ?? this.#opening
  }

  redeem(card: number, reference: string, amount: number): string {
    const before = this.#redemptions.get(reference)
    if (before) return before.state === 'reversed' ? 'operation_canceled' : before.state
    const state = this.balance(card) < amount ? 'insufficient_funds' : 'succeeded'
    if (state === 'succeeded') this.#balances.set(card, this.balance(card) - amount)
    this.#redemptions.set(reference, { card, amount, refunded: 0, state })
    return state
  }

  reverse(reference: string): string {
    const redemption = this.#redemptions.get(reference) ?? { card: 0, amount: 0, refunded: 0, state: 'unheard' }
    if (redemption.state === 'succeeded') {
      this.#balances.set(redemption.card, this.balance(redemption.card) + redemption.amount - redemption.refunded)
    }
    const isOver = redemption.state === 'succeeded' || redemption.state === 'unheard'
    this.#redemptions.set(reference, { ...redemption, state: isOver ? 'reversed' : redemption.state })
    return 'succeeded'
  }

  refund(reference: string, redemptionReference: string, amount: number): string {
    const before = this.#refunds.get(reference)
    if (before) return before
    const redemption = this.#redemptions.get(redemptionReference)
    const outcome = this.#judge(redemption, amount)
    if (redemption && outcome === 'succeeded') {
      redemption.refunded += amount
      this.#balances.set(redemption.card, this.balance(redemption.card) + amount)
    }
    this.#refunds.set(reference, outcome)
    return outcome
  }

  #judge(redemption: { amount: number; refunded: number; state: string } | undefined, amount: number): string {
    if (redemption?.state !== 'succeeded') return 'unexpected_state'
    if (redemption.refunded + amount > redemption.amount) return 'invalid_amount'
    return refundRefusalOf(amount)?.errorCode ?? 'succeeded'
  }
}

const card = fc.nat({ max: 1 })
const name = fc.nat({ max: 4 })
const amount = fc.integer({ min: 1, max: 120 })
const step = fc.oneof(
  fc.record({ kind: fc.constant('balance' as const), card }),
  fc.record({ kind: fc.constant('redeem' as const), card, name, amount }),
  fc.record({ kind: fc.constant('reverse' as const), name }),
  fc.record({ kind: fc.constant('refund' as const), name, redemption: name, amount }),
)

const said = (answer: { result: string; errorCode?: string }) => answer.errorCode ?? answer.result

test('whatever is asked in whatever order, answers and balances are those of a plain model', async () => {
  await fc.assert(
    fc.asyncProperty(fc.array(step, { maxLength: 20 }), async (steps) => {
      const run = randomUUID()
      const cards = [giftCard('00200'), giftCard('00200')] as [GiftCardToCharge, GiftCardToCharge]
      const books = new Books(200)
      const cardOf = (index: number) => cards[index] ?? cards[0]
      for (const asked of steps) {
        if (asked.kind === 'balance') {
          const answer = await provider.balance(cardOf(asked.card))
          expect(answer).toMatchObject({ result: 'succeeded', balance: books.balance(asked.card) })
        } else if (asked.kind === 'redeem') {
          const reference = `${run} ${asked.name}`
          const answer = await provider.redeem(cardOf(asked.card), asked.amount, { reference })
          expect(said(answer)).toBe(books.redeem(asked.card, reference, asked.amount))
        } else if (asked.kind === 'reverse') {
          const reference = `${run} ${asked.name}`
          expect(said(await provider.reverse(reference))).toBe(books.reverse(reference))
        } else {
          const [reference, redemption] = [`${run} refund ${asked.name}`, `${run} ${asked.redemption}`]
          const answer = await provider.refund(redemption, asked.amount, { reference })
          expect(said(answer)).toBe(books.refund(reference, redemption, asked.amount))
        }
      }
      for (const [index, one] of cards.entries()) {
        expect(await provider.balance(one)).toMatchObject({ balance: books.balance(index) })
      }
    }),
    { numRuns: 200 },
  )
})
