/** Who asks for a payment, and as part of what. Pure: no database, no clock. */

export const intents = ['authorize', 'capture'] as const
export type Intent = (typeof intents)[number]

export const paymentSources = ['ecommerce', 'moto', 'recurring', 'installment', 'card_on_file'] as const
export type PaymentSource = (typeof paymentSources)[number]

interface Sourcing {
  payment_source: PaymentSource
  merchant_initiated: boolean
  is_subsequent_payment: boolean
  store: boolean
  isStoredMethod: boolean
}

export interface Problem {
  pointer: string
  type: string
  message: string
}

/** Which combinations of source, initiator and series make sense. */
export function sourcingProblems(input: Sourcing): Problem[] {
  const { payment_source: source, merchant_initiated: byMerchant, is_subsequent_payment: subsequent, store } = input
  const inSeries = source === 'recurring' || source === 'installment'
  const problems: Problem[] = []
  const add = (pointer: string, message: string) => problems.push({ pointer, type: 'value_error.conflict', message })
  if (byMerchant && (source === 'ecommerce' || source === 'moto')) {
    add('/merchant_initiated', `Must be false when payment_source is ${source}`)
  } else if (byMerchant && inSeries && !subsequent) {
    add('/is_subsequent_payment', `Must be true when the merchant initiates and payment_source is ${source}`)
  }
  if (inSeries && !byMerchant && !store && !input.isStoredMethod) {
    add('/store', `Must be true for the first payment of a series (payment_source ${source}, not merchant_initiated)`)
  }
  if (store && input.isStoredMethod) add('/store', 'Must be false for a method that is stored already')
  return problems
}
