import type { GiftCardConnector, GiftCardUnknown } from '../../../connectors/gift-card.ts'
import type { ServiceAccess } from '../../../connectors/payment.ts'
import { accountOf, type Context } from '../../../context.ts'
import { withDeadline } from '../../../deadline.ts'
import { secretKeys } from '../rules.ts'
import { findActiveService, findService, findServices, type GiftCardServiceRow } from '../store.ts'

type Router = Pick<Context, 'db' | 'vault' | 'giftCards'>

/** A gift card service with the provider behind it. */
export interface UsableGiftCardService {
  id: string
  definitionId: string
  displayName: string
  connector: GiftCardConnector
  access: ServiceAccess
}

/** Where new cards of the account go. Undefined when there is none. */
export async function findActiveGiftCardService(
  ctx: Router & Pick<Context, 'accounts'>,
): Promise<UsableGiftCardService | undefined> {
  const row = await findActiveService(ctx.db, accountOf(ctx))
  return row && usable(ctx, row)
}

/** One service, also if it is inactive or deleted by now: what it began goes on. */
export async function findGiftCardService(
  ctx: Router,
  { merchantAccountId, id }: { merchantAccountId: string; id: string },
): Promise<UsableGiftCardService | undefined> {
  const row = await findService(ctx.db, [merchantAccountId], id, { deletedToo: true })
  return row && usable(ctx, row)
}

/** What is shown of services with their cards, by id. */
export async function describeGiftCardServices(
  ctx: Pick<Context, 'db' | 'accounts'>,
  ids: readonly string[],
): Promise<Map<string, { id: string; definitionId: string; displayName: string }>> {
  const rows = await findServices(ctx.db, ctx.accounts, ids)
  return new Map(
    rows.map(({ id, definition_id, display_name }) => [
      id,
      { id, definitionId: definition_id, displayName: display_name },
    ]),
  )
}

/** A provider that has not answered by then may still do what it was asked for. */
const deadlineMs = 10_000

/** Whatever goes wrong on the way to a provider, it may have done its part. */
export async function askGiftCards<Answer>(
  ctx: Pick<Context, 'log'>,
  service: Pick<UsableGiftCardService, 'id' | 'connector'>,
  call: (connector: GiftCardConnector, signal: AbortSignal) => Promise<Answer>,
  withinMs = deadlineMs,
): Promise<Answer | GiftCardUnknown> {
  try {
    return await withDeadline(withinMs, (signal) => call(service.connector, signal))
  } catch (error) {
    ctx.log.warn('a gift card provider did not answer', { resource_id: service.id, error })
    return { result: 'unknown' }
  }
}

/** Undefined when its provider is not part of this instance. */
function usable(ctx: Router, row: GiftCardServiceRow): UsableGiftCardService | undefined {
  const connector = ctx.giftCards.get(row.definition_id)
  return (
    connector && {
      id: row.id,
      definitionId: row.definition_id,
      displayName: row.display_name,
      connector,
      access: accessOf(ctx, row),
    }
  )
}

const accessOf = ({ vault }: Pick<Context, 'vault'>, row: GiftCardServiceRow): ServiceAccess => ({
  merchantAccountId: row.merchant_account_id,
  serviceId: row.id,
  fields: row.fields,
  notificationUrl: null,
  async secrets() {
    const names = secretKeys(row.secret_names)
    const found = await vault.readSecrets({ merchantAccountId: row.merchant_account_id, id: row.id }, [
      ...names.values(),
    ])
    return Object.fromEntries(
      [...names].flatMap(([key, name]) => (found[name] === undefined ? [] : [[key, found[name]]])),
    )
  },
})
