import type { Clock, Clocks } from './clocks.ts'
import type { AntiFraudConnectors } from './connectors/anti-fraud.ts'
import type { GiftCardConnectors } from './connectors/gift-card.ts'
import type { Connectors } from './connectors/payment.ts'
import type { Pins } from './embed.ts'
import type { Accounts } from './platform/accounts.ts'
import type { Log } from './platform/log.ts'
import type { Db } from './platform/postgres.ts'
import type { Scope } from './scopes.ts'
import type { Vault } from './vault/client.ts'

/** Who makes the request: an API key pair through a token it signed, or the command line. */
export interface Caller {
  /** Null for the command line, as are the other two. */
  keyPairId: string | null
  thumbprint: string | null
  displayName: string
  /** The token's identity, `kid` and `jti`; the same for every byte-different twin of one token. */
  tokenId: string | null
  scopes: ReadonlySet<Scope>
  /** Every merchant account the key pair may act upon. */
  reach: Accounts
  /** Of a token for a browser, the values that its requests are held to; its buyer by id, where there is one. Null for everybody else. */
  pins: Pins | null
  /** The checkout session that payments made with the token belong to. */
  checkoutSessionId: string | null
}

/** What an operation works with. Ports only: no area lives here. Its time is that of the account, where it acts upon one. */
export interface Context extends Clock {
  db: Db
  vault: Vault
  connectors: Connectors
  antiFraud: AntiFraudConnectors
  giftCards: GiftCardConnectors
  clocks: Clocks
  /** How many gift cards one request may name. */
  maxGiftCards: number
  log: Log
  requestId: string
  /** Id of the operation that runs. */
  operation: string
  /** The base URL that clients use. */
  baseUrl: string
  caller: Caller
  /** The accounts this request acts upon; also what row level security lets it see. */
  accounts: Accounts
}

/** The one account that a request acts upon, on routes that take exactly one. */
export function accountOf({ accounts }: Pick<Context, 'accounts'>): string {
  const [account] = accounts === 'all' ? [] : accounts
  if (account === undefined || accounts.length > 1) throw new Error('the request does not act upon exactly one account')
  return account
}

/** The same for the one account that an id has led to, by its clock. */
export const actingUpon = <Ctx extends Pick<Context, 'clocks'>>(ctx: Ctx, account: string) => ({
  ...ctx,
  accounts: [account],
  ...ctx.clocks.of([account]),
})
