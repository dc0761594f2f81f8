import type { Db } from '../platform/postgres.ts'
import type { Connectors } from './payment.ts'
import { createMockCard } from './sandbox/mock-card/connector.ts'

/** The providers of this instance. The sandbox's own are there in the sandbox only: nobody is ever paid by them. */
export function createConnectors({
  environment,
  db,
  now,
}: {
  environment: 'sandbox' | 'production'
  db: Db
  now: () => Date
}): Connectors {
  const connectors = environment === 'sandbox' ? [createMockCard({ db, now })] : []
  return new Map(connectors.map((connector) => [connector.definition.id, connector]))
}
