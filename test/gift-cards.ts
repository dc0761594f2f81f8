import { randomInt } from 'node:crypto'
import { createConnectors, createGiftCards } from '../src/connectors/registry.ts'
import { realTime } from '../src/clocks.ts'
import { createLog } from '../src/platform/log.ts'
import { connect } from '../src/platform/postgres.ts'
import { resolveDue } from '../src/areas/transactions/operations/resolve.ts'
import { type Difference, verifyTransactions } from '../src/areas/transactions/operations/verify.ts'
import type { TestApi } from './api.ts'

/** A gift card that nobody has seen, with so much on it. */
export const giftCard = (balance: number) => ({
  number: `6035${String(randomInt(10 ** 11)).padStart(11, '0')}${randomInt(1, 10)}`,
  pin: `0${String(balance).padStart(4, '0')}`,
})

export type GiftCard = ReturnType<typeof giftCard>

/** Gift cards of an account need a service that is active. */
export async function makeGiftCardService(
  api: Pick<TestApi, 'request'>,
  change: object = {},
  headers: Record<string, string> = {},
): Promise<string> {
  const { status, text, body } = await api.request<{ id: string }>('POST', '/gift-card-services', {
    headers,
    body: {
      gift_card_service_definition_id: 'mock-gift-card',
      display_name: 'Gift cards',
      fields: [{ key: 'api_key', value: 'any' }],
      ...change,
    },
  })
  if (status !== 201) throw new Error(text)
  return body.id
}

/** What is on a card, as the sandbox's provider says. Null: it has never seen it. */
export async function balanceOf(
  api: Pick<TestApi, 'database' | 'vault'>,
  { number }: GiftCard,
): Promise<number | null> {
  const fingerprint = await api.vault.client().fingerprintGiftCard(number)
  const [row] = await api.database.query<{ balance: string }>(
    'select balance from sandbox_gift_cards where fingerprint = $1',
    [fingerprint],
  )
  return row ? Number(row.balance) : null
}

async function asWorker<Result>(
  api: Pick<TestApi, 'database'>,
  work: (db: ReturnType<typeof connect>) => Promise<Result>,
) {
  const url = api.database.url('florin_worker')
  const db = connect({ url, applicationName: 'test', poolSize: 2, onError: () => undefined })
  try {
    return await work(db)
  } finally {
    await db.close()
  }
}

/** The janitor of a later time. */
export async function resolveLater(api: Pick<TestApi, 'database' | 'vault'>, minutes: number): Promise<void> {
  await asWorker(api, async (db) => {
    const now = () => new Date(Date.now() + minutes * 60_000)
    const sandbox = { environment: 'sandbox', db, now } as const
    const log = createLog({ level: 'silent', process: 'test' })
    const providers = { connectors: createConnectors(sandbox), giftCards: createGiftCards(sandbox) }
    const ctx = {
      db,
      vault: api.vault.client(),
      ...providers,
      now,
      newId: realTime.newId,
      accounts: 'all' as const,
      log,
    }
    await resolveDue(ctx, new AbortController().signal)
  })
}

/** What is said twice and not the same, in our books and the providers'. */
export async function differences(api: Pick<TestApi, 'database'>): Promise<Difference[]> {
  const found: Difference[] = []
  const onDifference = (difference: Difference) => void found.push(difference)
  await asWorker(api, (db) => verifyTransactions({ db, accounts: 'all' }, { onDifference }))
  return found
}
