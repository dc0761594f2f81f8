import type { Context } from '../../../context.ts'
import { type ApiError, invalidBody, notFound } from '../../../errors.ts'
import type { Problem } from '../../../sourcing.ts'
import { type OpenedSession, openSession, type SessionInstrument } from '../../checkout/operations/pay.ts'
import type { NewTransaction, Payment, SessionToPay } from '../schema/create.ts'

/** A payment with the checkout session opened, if it is one with a session; or why it cannot be made. */
export type Opened =
  | { payment: Payment; session: OpenedSession | undefined; problems: SessionProblem[]; refusal: undefined }
  | { refusal: ApiError }

export async function openPayment(ctx: Context, input: NewTransaction): Promise<Opened> {
  const method = input.payment_method ?? null
  const { checkoutSessionId: claimed } = ctx.caller
  if (method?.method !== 'checkout-session') {
    const payment = { ...input, payment_method: method }
    return claimed === null
      ? { payment, session: undefined, problems: [], refusal: undefined }
      : openClaimed(ctx, payment, claimed)
  }
  if (claimed !== null && method.id !== claimed) {
    return { refusal: sessionConflict(`Must be ${claimed}, the checkout session of the token`) }
  }
  const session = await openSession(ctx, method.id)
  if (!session) return { refusal: notFound() }
  const { instrument } = session
  if (instrument.kind === 'none') return { refusal: sessionConflict(instrument.message) }
  return {
    payment: { ...filled(input, method, session), payment_method: paysWith(instrument, method) },
    session,
    problems: differences(input, session),
    refusal: undefined,
  }
}

/** Paid with something else, in the session that the token names. What is wrong with it is told with everything else that is. */
async function openClaimed(ctx: Context, payment: Payment, id: string): Promise<Opened> {
  const session = await openSession(ctx, id)
  if (!session || session.isUsed) {
    const message = session ? usedSession : 'There is no such checkout session, or it has expired'
    return { payment, session: undefined, problems: [claimProblem(message)], refusal: undefined }
  }
  return {
    payment: { ...filled(payment, payment.payment_method ?? {}, session), payment_method: payment.payment_method },
    session,
    problems: differences(payment, session),
    refusal: undefined,
  }
}

export const usedSession = 'The checkout session was used already, or changed while this payment was made'

export type SessionProblem = Problem & { location?: 'header' }

export const claimProblem = (message: string) => ({
  location: 'header' as const,
  pointer: 'Authorization',
  type: 'value_error.conflict',
  message: `${message}: make a new one, and sign its id into the token as checkout_session_id`,
})

export const sessionConflict = (message: string) => invalidBody('/payment_method/id', 'value_error.conflict', message)

/** What the request leaves out, the session says. */
function filled(
  { payment_method: _method, ...input }: NewTransaction | Payment,
  method: Pick<SessionToPay, 'buyer_id' | 'buyer_external_identifier'>,
  { values }: OpenedSession,
): Omit<Payment, 'payment_method'> {
  const named = [input, method].flatMap((of) => [of.buyer_id, of.buyer_external_identifier])
  return {
    ...input,
    ...defined({
      country: input.country ?? values.country,
      intent: input.intent ?? values.intent,
      payment_source: input.payment_source ?? values.payment_source,
      merchant_initiated: input.merchant_initiated ?? values.merchant_initiated,
      is_subsequent_payment: input.is_subsequent_payment ?? values.is_subsequent_payment,
      payment_service_id: input.payment_service_id ?? values.payment_service_id,
      cart_items: input.cart_items ?? values.cart_items,
      metadata: input.metadata ?? values.metadata,
      airline: input.airline ?? values.airline,
      buyer: input.buyer ?? (named.some(Boolean) ? null : values.buyer),
    }),
  }
}

/** Without what nobody said. */
const defined = <Values extends object>(values: Values) =>
  Object.fromEntries(Object.entries(values).filter(([, value]) => value !== null && value !== undefined)) as {
    [Name in keyof Values]?: NonNullable<Values[Name]>
  }

function paysWith(instrument: SessionInstrument, method: SessionToPay): Payment['payment_method'] {
  const { method: _method, id: _id, external_identifier, ...rest } = method
  if (instrument.kind === 'stored') return { ...rest, method: 'id', id: instrument.paymentMethodId }
  return {
    ...rest,
    ...(external_identifier !== undefined && { external_identifier }),
    method: 'card',
    number: instrument.number,
    expiration_date: instrument.expirationDate,
  }
}

/** The page that took the card showed the session's amount to the buyer. */
function differences(input: Pick<Payment, 'amount' | 'currency'>, { values }: OpenedSession): Problem[] {
  return (['amount', 'currency'] as const)
    .filter((name) => values[name] !== null && values[name] !== input[name])
    .map((name) => ({
      pointer: `/${name}`,
      type: 'value_error.conflict',
      message: `Must be ${values[name]}, as the checkout session says`,
    }))
}
