import { route } from '../../http/route.ts'
import { getCheckoutSessionCardDetails, sendCheckoutSessionFields } from './operations/fields.ts'
import {
  createCheckoutSession,
  deleteCheckoutSession,
  getCheckoutSession,
  updateCheckoutSession,
} from './operations/sessions.ts'
import {
  CardDetails,
  CardDetailsQuestion,
  CheckoutSession,
  CheckoutSessionInput,
  CheckoutSessionPath,
  SecureFields,
} from './schema.ts'

const path = '/checkout/sessions/{session_id}'

/** PUT by the contract, POST by the specification: the same thing under two names. */
const fields = {
  path: `${path}/fields`,
  summary: 'Send card data',
  description:
    "From the buyer's browser: the id of the session is the only credential, and any page may send. A card, or a stored method and its security code. Sent again, it replaces what was there.",
  scope: 'none',
  limited: 'session',
  merchantAccount: 'none',
  params: CheckoutSessionPath,
  body: SecureFields,
  example: () => ({
    payment_method: {
      method: 'card' as const,
      number: '4111111111111111',
      expiration_date: '12/30',
      security_code: '123',
    },
    postal_code: '10117',
  }),
  returns: [204],
} as const

export const checkoutRoutes = [
  route({
    id: 'createCheckoutSession',
    method: 'POST',
    path: '/checkout/sessions',
    summary: 'Create a checkout session',
    description:
      "A place for card data that must not touch your server: give its id to the buyer's browser, which sends the fields, and then pay with `checkout-session`. What the session says of the payment counts where the payment itself says nothing.",
    scope: 'checkout-sessions.write',
    merchantAccount: 'one',
    body: CheckoutSessionInput,
    bodyOptional: true,
    example: ({ unique }) => ({ amount: 1299, currency: 'EUR', metadata: { order: unique } }),
    returns: [201, CheckoutSession],
    handle: (ctx, { body }) => createCheckoutSession(ctx, body),
  }),
  route({
    id: 'getCheckoutSession',
    method: 'GET',
    path,
    summary: 'Get a checkout session',
    scope: 'checkout-sessions.read',
    merchantAccount: 'one',
    params: CheckoutSessionPath,
    returns: [200, CheckoutSession],
    handle: (ctx, { params }) => getCheckoutSession(ctx, params.session_id),
  }),
  route({
    id: 'updateCheckoutSession',
    method: 'PUT',
    path,
    summary: 'Update a checkout session',
    description: 'What is left out keeps its value; null clears it.',
    scope: 'checkout-sessions.write',
    merchantAccount: 'one',
    params: CheckoutSessionPath,
    body: CheckoutSessionInput,
    example: () => ({ amount: 1399, expires_in: 7200 }),
    returns: [200, CheckoutSession],
    handle: (ctx, { params, body }) => updateCheckoutSession(ctx, params.session_id, body),
  }),
  route({
    id: 'deleteCheckoutSession',
    method: 'DELETE',
    path,
    summary: 'Delete a checkout session',
    description: 'With the card that was sent to it.',
    scope: 'checkout-sessions.write',
    merchantAccount: 'one',
    params: CheckoutSessionPath,
    returns: [204],
    handle: (ctx, { params }) => deleteCheckoutSession(ctx, params.session_id),
  }),
  route({
    id: 'updateCheckoutSessionFields',
    method: 'PUT',
    ...fields,
    handle: (ctx, { params, body }) => sendCheckoutSessionFields(ctx, params.session_id, body),
  }),
  route({
    id: 'sendCheckoutSessionFields',
    method: 'POST',
    ...fields,
    handle: (ctx, { params, body }) => sendCheckoutSessionFields(ctx, params.session_id, body),
  }),
  route({
    id: 'getCheckoutSessionCardDetails',
    method: 'POST',
    path: `${path}/card-details`,
    summary: 'Look at the first digits of a card',
    description: "From the buyer's browser, as for sending card data: what to show while the number is typed.",
    scope: 'none',
    merchantAccount: 'none',
    params: CheckoutSessionPath,
    body: CardDetailsQuestion,
    example: () => ({ bin: '41111111' }),
    changes: false,
    returns: [200, CardDetails],
    handle: (ctx, { params, body }) => getCheckoutSessionCardDetails(ctx, params.session_id, body.bin),
  }),
]
