import { setTimeout as sleep } from 'node:timers/promises'
import { newId } from '../../../ids.ts'
import type { Db } from '../../../platform/postgres.ts'
import type {
  ActivateCall,
  BalanceAnswer,
  CardCall,
  GiftCardConnector,
  GiftCardOutcome,
  GiftCardRefusal,
} from '../../gift-card.ts'
import { endings, unfixedCurrency } from './catalogue.ts'
import { mockGiftCardDefinition } from './definition.ts'
import { expiryOf, readPin, refundRefusalOf, refusal } from './rules.ts'
import { activate, findCard, issue, meetCard, type NewCard, type Operation, redeem, refund, reverse } from './store.ts'

export interface MockGiftCardOptions {
  db: Db
  now: (merchantAccountId: string) => Date
}

/** A gift card provider as another company would run it, with tables of its own. What it can be made to do: catalogue.ts. */
export function createMockGiftCard({ db, now }: MockGiftCardOptions): GiftCardConnector {
  const callOf = ({ service }: CardCall | ActivateCall) => ({
    account: service.merchantAccountId,
    at: now(service.merchantAccountId),
    providerReference: newId(),
  })

  return {
    definition: mockGiftCardDefinition,

    async balance(call): Promise<BalanceAnswer> {
      await answering(call)
      const pin = readPin(call.card.pin)
      if ('result' in pin) return pin
      const { account, at } = callOf(call)
      const { fingerprint } = call.card
      const known = await findCard(db, account, fingerprint)
      if (!known) await meetCard(db, account, newCard(call.card, pin.openingBalance, at))
      const card = known ?? (await findCard(db, account, fingerprint))
      if (!card) throw new Error('a card is not in the books')
      const { balance, currency, expires_at } = card
      return { result: 'succeeded', balance, currency: currency ?? unfixedCurrency, expiresAt: expires_at }
    },

    async redeem(call) {
      await answering(call)
      const { account, at, providerReference } = callOf(call)
      const { reference, amount, currency, card } = call
      const pin = readPin(card.pin)
      const redemption = {
        reference,
        providerReference,
        fingerprint: card.fingerprint,
        amount,
        currency,
        now: at,
        refusal: 'result' in pin ? pin : null,
        refusals: redemptionRefusals,
      }
      let row = await redeem(db, account, redemption)
      if (!row && 'openingBalance' in pin) {
        await meetCard(db, account, newCard(card, pin.openingBalance, at))
        row = await redeem(db, account, redemption)
      }
      return answered(call, row, providerReference)
    },

    async reverse({ service, redemptionReference }) {
      const account = service.merchantAccountId
      const providerReference = newId()
      await reverse(db, account, { reference: redemptionReference, providerReference, now: now(account) })
      return { result: 'succeeded', providerReference }
    },

    async refund({ service, ...call }) {
      const account = service.merchantAccountId
      const row = await refund(db, account, {
        ...call,
        providerReference: newId(),
        now: now(account),
        refusal: refundRefusalOf(call.amount) ?? null,
        refusals: refundRefusals,
      })
      return outcomeOf(row)
    },

    async activate(call) {
      await answering(call)
      const { account, at, providerReference } = callOf(call)
      const { reference, card, value } = call
      const pin = card.pin === null ? null : readPin(card.pin)
      const opening = value ? 0 : pin && 'openingBalance' in pin ? pin.openingBalance : null
      const row = await activate(db, account, {
        reference,
        providerReference,
        card: opening === null ? null : newCard(card, opening, at),
        fingerprint: card.fingerprint,
        value,
        now: at,
        refusal: pin && 'result' in pin ? pin : null,
        refusals: activationRefusals,
      })
      return answered(call, row, providerReference)
    },

    async issue({ service, reference, amount, currency }) {
      const account = service.merchantAccountId
      const row = await issue(db, account, {
        reference,
        providerReference: newId(),
        amount,
        currency,
        now: now(account),
        refusal: amount === 0 ? refusal('invalid_amount', 'A card has something on it') : null,
      })
      const outcome = outcomeOf(row)
      if (outcome.result === 'failed') return outcome
      const { provider_reference: providerReference } = row
      return { result: 'succeeded', providerReference, url: `https://gift-cards.example/${providerReference}` }
    },
  }
}

const otherCurrency = refusal('incorrect_currency', 'The card is in another currency')
const redemptionRefusals = {
  otherCurrency,
  expired: refusal('expired_card', 'The card has expired'),
  tooLittle: refusal('insufficient_funds', 'The card does not have that much'),
}
const refundRefusals = {
  otherCurrency,
  noRedemption: refusal('unexpected_state', 'There is no such redemption'),
  tooMuch: refusal('invalid_amount', 'That is more than is left of the redemption'),
}
const activationRefusals = { otherCurrency }

const newCard = ({ number, fingerprint }: ActivateCall['card'], openingBalance: number, now: Date): NewCard => ({
  fingerprint,
  openingBalance,
  expiresAt: expiryOf(number, now),
  now,
})

/** Longer than anybody waits. */
const silenceMs = 60_000

const keepSilent = (signal: AbortSignal) => sleep(silenceMs, undefined, { signal, ref: false })

/** Some cards are never answered for, and nothing is done. */
async function answering({ card, signal }: CardCall | ActivateCall): Promise<void> {
  if (card.number.endsWith(endings.silent)) await keepSilent(signal)
}

/** With some cards it is done and nobody hears of it, until the same is asked again. */
async function answered(
  { card, signal }: CardCall | ActivateCall,
  row: Operation | undefined,
  providerReference: string,
): Promise<GiftCardOutcome> {
  if (!row) throw new Error('a card is not in the books')
  if (card.number.endsWith(endings.lost) && row.provider_reference === providerReference) await keepSilent(signal)
  return outcomeOf(row)
}

function outcomeOf(row: Operation): GiftCardOutcome {
  if (row.state === 'done') return { result: 'succeeded', providerReference: row.provider_reference }
  if (row.state === 'reversed') return takenBack
  return {
    result: 'failed',
    errorCode: row.error_code ?? 'unknown_error',
    rawCode: row.raw_code,
    rawMessage: row.raw_message,
  }
}

const takenBack: GiftCardRefusal = refusal('operation_canceled', 'The redemption was taken back')
