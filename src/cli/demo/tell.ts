import { createBuyer } from '../../areas/buyers/operations.ts'
import { createShippingDetails } from '../../areas/buyers/shipping-details/operations.ts'
import { createGiftCard } from '../../areas/gift-cards/operations/create.ts'
import { createPaymentMethod } from '../../areas/payment-methods/operations/create.ts'
import { cancelTransaction } from '../../areas/transactions/operations/cancel.ts'
import { captureTransaction } from '../../areas/transactions/operations/capture.ts'
import { createTransaction } from '../../areas/transactions/operations/create.ts'
import { getTransaction } from '../../areas/transactions/operations/read.ts'
import { resolveTransaction } from '../../areas/transactions/operations/resolve.ts'
import { updateTransaction } from '../../areas/transactions/operations/update.ts'
import { voidTransaction } from '../../areas/transactions/operations/void.ts'
import { createRefund, refundAll } from '../../areas/transactions/refunds/operations/refund.ts'
import { reviewTransaction } from '../../areas/transactions/reviews/operations.ts'
import { ingestStatement } from '../../areas/transactions/statements/operations/ingest.ts'
import { answerApproval } from '../../connectors/sandbox/approvals/decide.ts'
import type { RuledAction } from '../../connectors/simulator.ts'
import type { Context } from '../../context.ts'
import type { Lane } from './lane.ts'
import { contactOf, type Customer, type Story } from './plan.ts'
import type { NewPayment, Step } from './course.ts'

/** What the shop has of somebody. */
export interface StoredCustomer {
  shippingDetailsId: string
  cardId: string | undefined
  giftCardId: string | undefined
}

/** A payment as it is shown; what is of interest here. */
export interface ShownTransaction {
  id: string
  status: string
  currency: string
  captured_amount: number
  refunded_amount: number
  settled: boolean
  disputed: boolean
  payment_method: { approval_url?: string | null } | null
  gift_card_redemptions: { id: string }[]
}

const notKeyed = { idempotencyKey: undefined, isPreferred: false }

/** Somebody registers, a few minutes before the first order. */
export async function register({ ctx }: Lane, customer: Customer): Promise<StoredCustomer> {
  const { reference, firstName, lastName, card, giftCard } = customer
  const { id: buyer_id } = await createBuyer(ctx, {
    display_name: `${firstName} ${lastName}`,
    external_identifier: reference,
    billing_details: contactOf(customer),
  })
  const details = await createShippingDetails(ctx, buyer_id, contactOf(customer))
  const stored = customer.storesCard
    ? await createPaymentMethod(ctx, { method: 'card', ...card, buyer_id, external_identifier: `${reference}-card` })
    : undefined
  const gift = giftCard && (await createGiftCard(ctx, { ...giftCard, buyer_id }))
  return { shippingDetailsId: details.id, cardId: stored?.id, giftCardId: gift?.id }
}

/** One payment from its beginning to now. Answers what it has come to. */
export async function tell(
  lane: Lane,
  story: Story,
  stored: StoredCustomer | undefined,
  { start, now }: { start: number; now: number },
): Promise<ShownTransaction> {
  const { ctx } = lane
  lane.force('authorize', story.outcome)
  const { id } = shown(await createTransaction(ctx, paymentOf(story, stored, start), undefined))
  for (const step of story.steps) {
    lane.goTo(Math.min(start + step.after, now))
    lane.force(ruled[step.act] ?? 'authorize', step.outcome)
    await perform(ctx, id, step)
  }
  // As a worker would have done by now; what is due later it does itself.
  lane.goTo(now)
  await ingestStatement(ctx, id)
  return shown(await getTransaction(ctx, id))
}

const ruled: Partial<Record<Step['act'], RuledAction>> = {
  capture: 'capture',
  void: 'void',
  refund: 'refund',
  'refund all': 'refund',
  cancel: 'cancel',
}

const shown = ({ text }: { text: string }) => JSON.parse(text) as ShownTransaction

/** With the ids of what is stored. */
function paymentOf(story: Story, stored: StoredCustomer | undefined, start: number): NewPayment {
  const { payment, paysStored, giftCard, approvalMs } = story
  return {
    ...payment,
    ...(stored && { shipping_details_id: stored.shippingDetailsId }),
    ...(paysStored &&
      payment.payment_method &&
      stored?.cardId && { payment_method: { method: 'id', id: stored.cardId } }),
    ...(giftCard && { gift_cards: [{ amount: giftCard.amount, ...cardOf(giftCard.card, stored) }] }),
    ...(approvalMs !== undefined && { approval_expires_at: new Date(start + approvalMs).toISOString() }),
  }
}

function cardOf(card: NonNullable<Story['giftCard']>['card'], stored: StoredCustomer | undefined) {
  if (card !== 'own') return card
  if (!stored?.giftCardId) throw new Error('a gift card was planned that nobody has')
  return { id: stored.giftCardId }
}

async function perform(ctx: Context, id: string, step: Step): Promise<void> {
  switch (step.act) {
    case 'capture': {
      const { amount, final } = step
      const input = { ...(amount !== undefined && { amount }), ...(final !== undefined && { final }) }
      return void (await captureTransaction(ctx, id, input, notKeyed))
    }
    case 'void':
      return void (await voidTransaction(ctx, id, notKeyed))
    case 'cancel':
      return void (await cancelTransaction(ctx, id))
    case 'refund': {
      const { amount, reason } = step
      const target = step.ofGiftCard ? await redemptionOf(ctx, id) : {}
      return void (await createRefund(ctx, id, { amount, reason, ...target }, undefined))
    }
    case 'refund all':
      return void (await refundAll(ctx, id, { reason: step.reason }, undefined))
    case 'review':
      return void (await reviewTransaction(ctx, id, { decision: step.decision }))
    case 'note':
      return await annotate(ctx, id, step.metadata)
    case 'answer':
      return await answer(ctx, id, step.decision)
    case 'ask':
      return void (await resolveTransaction(ctx, id))
    case 'report':
      return void (await ingestStatement(ctx, id))
  }
}

async function redemptionOf(ctx: Context, id: string) {
  const [redemption] = shown(await getTransaction(ctx, id)).gift_card_redemptions
  if (!redemption) throw new Error('a payment has no gift card to give back to')
  return { target_type: 'gift-card-redemption', target_id: redemption.id } as const
}

async function annotate(ctx: Context, id: string, metadata: Record<string, string>): Promise<void> {
  const { text } = await getTransaction(ctx, id)
  const { metadata: before } = JSON.parse(text) as { metadata: Record<string, string> | null }
  await updateTransaction(ctx, id, { metadata: { ...before, ...metadata } })
}

/** The buyer presses a button on the page of the sandbox, and comes back. */
async function answer(ctx: Context, id: string, decision: 'approved' | 'rejected' | 'cancelled' | 'expired') {
  const { payment_method: method } = shown(await getTransaction(ctx, id))
  const approvalId = method?.approval_url?.split('/').at(-1) ?? ''
  if (!(await answerApproval(ctx, approvalId, decision))) throw new Error('nobody was asked about this payment')
  await resolveTransaction(ctx, id)
}
