import { cardProblems, describeCard } from '../../../cards/describe.ts'
import type { CardToCharge } from '../../../connectors/payment.ts'
import { accountOf, type Context } from '../../../context.ts'
import { speaksFor } from '../../../embed.ts'
import type { Problem } from '../../../sourcing.ts'
import type { Buyer } from '../../buyers/schema.ts'
import { findStoredMethod } from '../../payment-methods/operations/cards.ts'
import type { NewRedirect } from '../../payment-methods/schema.ts'
import type { CardToPay, MethodToPay, Payment, StoredToPay } from '../schema/create.ts'
import type { TransactionPaymentMethod } from '../schema/transaction.ts'

/** What pays. The number lives in `card` and nowhere else, for as long as the request does. */
export interface Instrument {
  /** Null where gift cards alone pay, as is the snapshot. */
  type: 'pan' | 'redirect' | 'redirect_token' | null
  /** Of a stored method. */
  id: string | null
  buyerId: string | null
  /** Null for a redirect method. */
  card: CardToCharge | null
  /** Of a redirect method that its buyer approved for good: who may charge it, and what the provider knows that by. */
  enrolment: { serviceId: string; reference: string } | null
  fingerprint: string | null
  snapshot: TransactionPaymentMethod | null
  /** Of an earlier payment with the stored card, for the issuer to connect them. */
  schemeTransactionId: string | null
  problems: Problem[]
}

export function instrumentOf(ctx: Context, { payment_method: method, store }: Payment): Promise<Instrument> {
  if (method === null) return Promise.resolve(none)
  if (isRedirect(method)) return Promise.resolve(redirect(method))
  return method.method === 'card' ? newCard(ctx, method, store ?? false) : stored(ctx, method)
}

const isRedirect = (method: MethodToPay): method is NewRedirect => 'currency' in method

/** What the provider of the payment must be able to do; of a stored method as long as nobody has looked, a card. */
export const providerMethod = ({ payment_method: method }: Payment) =>
  method && isRedirect(method) ? method.method : 'card'

const none: Instrument = {
  type: null,
  id: null,
  buyerId: null,
  card: null,
  enrolment: null,
  fingerprint: null,
  snapshot: null,
  schemeTransactionId: null,
  problems: [],
}

const blank = {
  type: 'payment-method',
  id: null,
  label: null,
  scheme: null,
  details: null,
  expiration_date: null,
  fingerprint: null,
  country: null,
  currency: null,
  approval_url: null,
  approval_target: null,
  external_identifier: null,
  last_replaced_at: null,
  payment_account_reference: null,
} as const

function redirect(method: NewRedirect): Instrument {
  return {
    type: 'redirect',
    id: null,
    buyerId: null,
    card: null,
    enrolment: null,
    fingerprint: null,
    snapshot: {
      ...blank,
      method: method.method,
      mode: 'redirect',
      country: method.country,
      currency: method.currency,
      external_identifier: method.external_identifier ?? null,
    },
    schemeTransactionId: null,
    problems: [],
  }
}

async function newCard(ctx: Context, method: CardToPay, store: boolean): Promise<Instrument> {
  const [facts, fingerprint] = await Promise.all([describeCard(ctx, method), ctx.vault.fingerprintCard(method.number)])
  return {
    type: 'pan',
    id: null,
    buyerId: null,
    enrolment: null,
    card: {
      number: method.number,
      expirationDate: method.expiration_date,
      securityCode: method.security_code ?? null,
      scheme: facts.scheme,
    },
    fingerprint,
    snapshot: {
      ...blank,
      method: 'card',
      mode: 'card',
      label: facts.label,
      scheme: facts.scheme as TransactionPaymentMethod['scheme'],
      details: { bin: facts.bin, card_type: facts.card_type, card_issuer_name: facts.card_issuer_name },
      expiration_date: facts.expiration_date,
      fingerprint,
      external_identifier: store ? (method.external_identifier ?? null) : null,
    },
    schemeTransactionId: null,
    problems: cardProblems(method).map(({ pointer, ...problem }) => ({
      ...problem,
      pointer: `/payment_method${pointer}`,
    })),
  }
}

async function stored(ctx: Context, method: StoredToPay): Promise<Instrument> {
  const merchantAccountId = accountOf(ctx)
  const [found, number] = await Promise.all([
    findStoredMethod(ctx, method.id),
    ctx.vault.readCard({ merchantAccountId, id: method.id }),
  ])
  // To a browser the methods of other buyers are not there.
  const row = found && speaksFor(ctx.caller, found.buyer_id) ? found : undefined
  const isCard = row === undefined || row.method === 'card'
  const enrolment =
    row?.payment_service_id && row.enrolment ? { serviceId: row.payment_service_id, reference: row.enrolment } : null
  const isUsable = row?.status === 'succeeded' && (isCard ? number !== undefined : enrolment !== null)
  return {
    type: isCard ? 'pan' : 'redirect_token',
    id: method.id,
    buyerId: row?.buyer_id ?? null,
    card: isCard
      ? {
          number: number ?? '',
          expirationDate: row?.expiration_date ?? '',
          securityCode: method.security_code ?? null,
          scheme: row?.scheme ?? null,
        }
      : null,
    enrolment,
    fingerprint: row?.fingerprint ?? null,
    snapshot: {
      ...blank,
      id: method.id,
      method: row?.method ?? 'card',
      mode: row?.mode ?? 'card',
      label: row?.label ?? null,
      scheme: (row?.scheme ?? null) as TransactionPaymentMethod['scheme'],
      details: isCard
        ? {
            bin: row?.bin ?? null,
            card_type: row?.card_type ?? null,
            card_issuer_name: row?.card_issuer_name ?? null,
          }
        : null,
      expiration_date: row?.expiration_date ?? null,
      fingerprint: row?.fingerprint ?? null,
      country: row?.country ?? null,
      currency: row?.currency ?? null,
      external_identifier: row?.external_identifier ?? null,
      last_replaced_at: row?.last_replaced_at?.toISOString() ?? null,
    },
    schemeTransactionId: row?.scheme_transaction_id ?? null,
    problems: isUsable ? [] : [row ? notUsable : unknownMethod],
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
  if (method?.method !== 'id' || problems.length > 0 || !buyer || buyerId === buyer.id) return problems
  return [
    {
      pointer: '/payment_method/id',
      type: 'value_error.conflict',
      message: 'The payment method does not belong to this buyer',
    },
  ]
}
