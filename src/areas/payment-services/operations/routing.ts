import type { PaymentConnector, ServiceAccess } from '../../../connectors/payment.ts'
import type { Context } from '../../../context.ts'
import { secretKeys } from '../rules.ts'
import { findPaymentService, findRoutedRow, findUsableRows, type GuardRow, type RoutedRow } from '../store.ts'

type Router = Pick<Context, 'db' | 'vault' | 'connectors' | 'accounts'> & Partial<Pick<Context, 'baseUrl'>>

/** A payment service with the provider behind it. */
export interface UsableService {
  id: string
  definitionId: string
  displayName: string
  method: string
  /** Whether the merchant wants 3-D Secure of it. */
  threeDSecure: boolean
  /** Whether its statements are fetched. */
  reportsSettlements: boolean
  /** Who is asked about fraud first; looked up for new payments only. */
  antiFraud: { id: string; definitionId: string; reviewsEnabled: boolean } | null
  connector: PaymentConnector
  access: ServiceAccess
}

/** The services a payment can go to, in the order in which they are tried. Without a country any will do. */
export async function findUsableServices(
  ctx: Router,
  wanted: { method: string; currency: string; country: string | null; serviceId?: string | undefined },
): Promise<UsableService[]> {
  const { method, currency, country, serviceId } = wanted
  const rows = await findUsableRows(ctx.db, ctx.accounts, { method, currency, country, id: serviceId })
  return rows.flatMap((row) => usable(ctx, row, row.anti_fraud) ?? [])
}

/** One service, also if it is inactive or deleted by now: what it began goes on. Its secrets went when it was deleted. */
export async function findService(ctx: Router, id: string): Promise<UsableService | undefined> {
  const row = await findRoutedRow(ctx.db, ctx.accounts, id)
  return row && usable(ctx, row)
}

/** One service in whatever account, for its provider, which knows nothing but the address. Not when it is deleted. */
export async function findServiceByIdAlone(ctx: Router, id: string): Promise<UsableService | undefined> {
  const row = await findPaymentService(ctx.db, 'all', id)
  return row && usable(ctx, row)
}

/** Undefined when its provider is not part of this instance. */
function usable(ctx: Router, row: RoutedRow, guard: GuardRow | null = null): UsableService | undefined {
  const connector = ctx.connectors.get(row.definition_id)
  return (
    connector && {
      id: row.id,
      definitionId: row.definition_id,
      displayName: row.display_name,
      method: row.method,
      threeDSecure: row.three_d_secure_enabled ?? false,
      reportsSettlements:
        row.settlement_reporting_enabled && connector.definition.supported_features.settlement_reporting,
      antiFraud: guard && {
        id: guard.id,
        definitionId: guard.definition_id,
        reviewsEnabled: guard.reviews_enabled,
      },
      connector,
      access: accessOf(ctx, row),
    }
  )
}

/** Where the provider of a service sends its messages. */
export const notificationUrl = (baseUrl: string, serviceId: string) =>
  `${baseUrl}/payment-services/${serviceId}/notifications`

export function accessOf(
  { vault, baseUrl }: Pick<Context, 'vault'> & Partial<Pick<Context, 'baseUrl'>>,
  row: Pick<RoutedRow, 'merchant_account_id' | 'id' | 'fields' | 'secret_names'>,
): ServiceAccess {
  return {
    merchantAccountId: row.merchant_account_id,
    serviceId: row.id,
    fields: row.fields,
    notificationUrl: baseUrl === undefined ? null : notificationUrl(baseUrl, row.id),
    async secrets() {
      const names = secretKeys('fields', row.secret_names)
      const reference = { merchantAccountId: row.merchant_account_id, id: row.id }
      const found = await vault.readSecrets(reference, [...names.values()])
      return Object.fromEntries(
        [...names].flatMap(([key, name]) => (found[name] === undefined ? [] : [[key, found[name]]])),
      )
    },
  }
}
