import { cardProblems, describeCard } from '../../../cards/describe.ts'
import type { CardToCharge } from '../../../connectors/payment.ts'
import { accountOf, type Context } from '../../../context.ts'
import type { Problem } from '../../../sourcing.ts'
import type { Buyer } from '../../buyers/schema.ts'
import { findStoredMethod } from '../../payment-methods/operations/cards.ts'
import type { CardToPay, Payment, StoredToPay } from '../schema/create.ts'
import type { TransactionPaymentMethod } from '../schema/transaction.ts'

/** What pays. The number lives in `card` and nowhere else, for as long as the request does. */
export interface Instrument {
  /** Of a stored method. */
  id: string | null
  buyerId: string | null
  card: CardToCharge
  fingerprint: string | null
  snapshot: TransactionPaymentMethod
  /** Of an earlier payment with the stored card, for the issuer to connect them. */
  schemeTransactionId: string | null
  problems: Problem[]
}

export function instrumentOf(ctx: Context, { payment_method: method, store }: Payment): Promise<Instrument> {
  return method.method === 'card' ? newCard(ctx, method, store ?? false) : storedCard(ctx, method)
}

async function newCard(ctx: Context, method: CardToPay, store: boolean): Promise<Instrument> {
  const [facts, fingerprint] = await Promise.all([describeCard(ctx, method), ctx.vault.fingerprintCard(method.number)])
  return {
    id: null,
    buyerId: null,
    card: {
      number: method.number,
      expirationDate: method.expiration_date,
      securityCode: method.security_code ?? null,
      scheme: facts.scheme,
    },
    fingerprint,
    snapshot: {
      type: 'payment-method',
      id: null,
      method: 'card',
      mode: 'card',
      label: facts.label,
      scheme: facts.scheme as TransactionPaymentMethod['scheme'],
      details: { bin: facts.bin, card_type: facts.card_type, card_issuer_name: facts.card_issuer_name },
      expiration_date: facts.expiration_date,
      fingerprint,
      country: null,
      currency: null,
      approval_url: null,
      approval_target: null,
      external_identifier: store ? (method.external_identifier ?? null) : null,
      last_replaced_at: null,
      payment_account_reference: null,
    },
    schemeTransactionId: null,
    problems: cardProblems(method).map(({ pointer, ...problem }) => ({
      ...problem,
      pointer: `/payment_method${pointer}`,
    })),
  }
}

async function storedCard(ctx: Context, method: StoredToPay): Promise<Instrument> {
  const merchantAccountId = accountOf(ctx)
  const [stored, number] = await Promise.all([
    findStoredMethod(ctx, method.id),
    ctx.vault.readCard({ merchantAccountId, id: method.id }),
  ])
  const isUsable = stored?.status === 'succeeded' && number !== undefined
  return {
    id: method.id,
    buyerId: stored?.buyer_id ?? null,
    card: {
      number: number ?? '',
      expirationDate: stored?.expiration_date ?? '',
      securityCode: method.security_code ?? null,
      scheme: stored?.scheme ?? null,
    },
    fingerprint: stored?.fingerprint ?? null,
    snapshot: {
      type: 'payment-method',
      id: method.id,
      method: 'card',
      mode: 'card',
      label: stored?.label ?? null,
      scheme: (stored?.scheme ?? null) as TransactionPaymentMethod['scheme'],
      details: {
        bin: stored?.bin ?? null,
        card_type: stored?.card_type ?? null,
        card_issuer_name: stored?.card_issuer_name ?? null,
      },
      expiration_date: stored?.expiration_date ?? null,
      fingerprint: stored?.fingerprint ?? null,
      country: stored?.country ?? null,
      currency: stored?.currency ?? null,
      approval_url: null,
      approval_target: null,
      external_identifier: stored?.external_identifier ?? null,
      last_replaced_at: stored?.last_replaced_at?.toISOString() ?? null,
      payment_account_reference: null,
    },
    schemeTransactionId: stored?.scheme_transaction_id ?? null,
    problems: isUsable ? [] : [stored ? notUsable : unknownMethod],
  }
}

const unknownMethod: Problem = {
  pointer: '/payment_method/id',
  type: 'value_error.unknown',
  message: 'There is no such payment method',
}
const notUsable: Problem = {
  pointer: '/payment_method/id',
  type: 'value_error.conflict',
  message: 'The payment method cannot be used: it is not ready, or could not be stored',
}

export function instrumentProblems(
  { payment_method: method }: Payment,
  { buyerId, problems }: Instrument,
  buyer: Buyer | undefined,
): Problem[] {
  if (method.method === 'card' || problems.length > 0 || !buyer || buyerId === buyer.id) return problems
  return [
    {
      pointer: '/payment_method/id',
      type: 'value_error.conflict',
      message: 'The payment method does not belong to this buyer',
    },
  ]
}
