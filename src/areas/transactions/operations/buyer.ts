import type { AuthorizeCall } from '../../../connectors/payment.ts'
import type { Context } from '../../../context.ts'
import type { Problem } from '../../../sourcing.ts'
import { findBuyerByReference, presentAddress, presentBillingDetails } from '../../buyers/operations.ts'
import type { Buyer } from '../../buyers/schema.ts'
import { findShippingDetails } from '../../buyers/shipping-details/operations.ts'
import type { Payment } from '../schema/create.ts'
import type { TransactionBuyer, TransactionShippingDetails } from '../schema/transaction.ts'

/** Who pays, as the transaction keeps it: a copy of a stored buyer, or a guest. */
export interface Payer {
  stored: Buyer | undefined
  snapshot: TransactionBuyer | null
  shipping: TransactionShippingDetails | null
  /** What providers are told. */
  contact: AuthorizeCall['buyer']
  problems: Problem[]
}

export async function payer(ctx: Context, input: Payment): Promise<Payer> {
  const { payment_method: method } = input
  const references = [
    ['/buyer_id', input.buyer_id, undefined],
    ['/buyer_external_identifier', undefined, input.buyer_external_identifier],
    ['/payment_method/buyer_id', method?.buyer_id, undefined],
    ['/payment_method/buyer_external_identifier', undefined, method?.buyer_external_identifier],
    ['/buyer', undefined, input.buyer ? 'guest' : undefined],
  ].filter(([, id, reference]) => id || reference) as [string, string | undefined, string | undefined][]
  if (references.length > 1) {
    const message = 'Name the buyer once: by id, by external identifier, or as a guest'
    return { ...nobody, problems: references.map(([pointer]) => ({ pointer, type: 'value_error.conflict', message })) }
  }
  const [reference] = references
  if (!reference) return { ...nobody, problems: shippingWithoutBuyer(input) }
  if (reference[0] === '/buyer') return guest(input)
  const [pointer, id, externalIdentifier] = reference
  const buyer = await findBuyerByReference(ctx, { id, externalIdentifier })
  if (!buyer)
    return { ...nobody, problems: [{ pointer, type: 'value_error.unknown', message: 'There is no such buyer' }] }
  return withShipping(ctx, input, buyer)
}

function contactOf(billing: Buyer['billing_details']): Payer['contact'] {
  return {
    firstName: billing?.first_name ?? null,
    lastName: billing?.last_name ?? null,
    emailAddress: billing?.email_address ?? null,
    postalCode: billing?.address?.postal_code ?? null,
  }
}

const nobody: Payer = {
  stored: undefined,
  snapshot: null,
  shipping: null,
  contact: contactOf(null),
  problems: [],
}

const shippingWithoutBuyer = ({ shipping_details_id }: Payment): Problem[] =>
  shipping_details_id
    ? [
        {
          pointer: '/shipping_details_id',
          type: 'value_error.conflict',
          message: 'Belongs to a buyer; name the buyer too',
        },
      ]
    : []

async function withShipping(ctx: Context, input: Payment, buyer: Buyer): Promise<Payer> {
  const id = input.shipping_details_id
  const shipping = id ? await findShippingDetails(ctx, { buyer_id: buyer.id, shipping_details_id: id }) : undefined
  const problems = id && !shipping ? [{ ...unknownShipping }] : []
  return { ...ofBuyer(buyer), shipping: shipping ?? null, problems }
}

const unknownShipping: Problem = {
  pointer: '/shipping_details_id',
  type: 'value_error.unknown',
  message: 'The buyer has no such shipping details',
}

/** A stored buyer, as a payment keeps it. */
export function ofBuyer(buyer: Buyer): Payer {
  const { type, id, reconciliation_id, display_name, external_identifier, billing_details, account_number } = buyer
  return {
    ...nobody,
    stored: buyer,
    snapshot: { type, id, reconciliation_id, display_name, external_identifier, billing_details, account_number },
    contact: contactOf(billing_details),
  }
}

function guest(input: Payment): Payer {
  const { shipping_details: shipping, ...buyer } = input.buyer ?? {}
  const billing = presentBillingDetails(buyer.billing_details)
  return {
    ...nobody,
    snapshot: {
      type: 'buyer',
      id: null,
      reconciliation_id: null,
      display_name: buyer.display_name ?? null,
      external_identifier: buyer.external_identifier ?? null,
      billing_details: billing,
      account_number: buyer.account_number ?? null,
    },
    shipping: shipping
      ? {
          type: 'shipping-details',
          id: null,
          buyer_id: null,
          first_name: shipping.first_name ?? null,
          last_name: shipping.last_name ?? null,
          email_address: shipping.email_address ?? null,
          phone_number: shipping.phone_number ?? null,
          address: presentAddress(shipping.address),
        }
      : null,
    contact: contactOf(billing),
    problems: shippingWithoutBuyer(input),
  }
}
