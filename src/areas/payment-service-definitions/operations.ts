import type { PaymentServiceDefinition as Definition } from '../../connectors/payment.ts'
import type { Context } from '../../context.ts'
import { notFound } from '../../errors.ts'
import { type PageRequest, pageOf, toCollection } from '../../page.ts'
import type { Collection } from '../../schema.ts'
import type { PaymentServiceDefinition } from './schema.ts'

type Reader = Pick<Context, 'connectors'>

export function listPaymentServiceDefinitions(
  { connectors }: Reader,
  page: PageRequest,
): Collection<PaymentServiceDefinition> {
  const placed = [...connectors.values()].map(({ definition }, index) => ({ place: placeOf(index), definition }))
  const rows = pageOf(placed, page, ({ place }) => place)
  return toCollection(
    page,
    rows,
    ({ place }) => place,
    ({ definition }) => present(definition),
  )
}

export function getPaymentServiceDefinition({ connectors }: Reader, id: string): PaymentServiceDefinition {
  const connector = connectors.get(id)
  if (!connector) throw notFound()
  return present(connector.definition)
}

/** Cursors hold a UUID. This one counts the definitions, which join the registry at its end: newest first here as elsewhere. */
const placeOf = (index: number) => `00000000-0000-7000-8000-${index.toString(16).padStart(12, '0')}`

// Method and mode are texts in the port; the values come from the contract's lists.
const present = (definition: Definition) =>
  ({ type: 'payment-service-definition', ...definition }) as PaymentServiceDefinition
