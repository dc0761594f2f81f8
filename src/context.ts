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
  /** The name of the instance, and which of the two it is. */
  instance: string
  environment: 'sandbox' | 'production'
  /** How many gift cards one request may name. */
  maxGiftCards: number
  /** Why webhooks cannot go to a URL; undefined when they can. */
  checkTarget: (url: string) => string | undefined
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

/** Stands in tables for the whole instance, where a resource may belong to that instead of an account. */
export const wholeInstance = '*'

/** The same, and by an id also what belongs to the whole instance: whoever reaches all of it need not name it. */
export const withInstance = <Ctx extends Pick<Context, 'accounts' | 'caller'>>(ctx: Ctx): Ctx =>
  ctx.caller.reach === 'all' && ctx.accounts !== 'all' ? { ...ctx, accounts: [...ctx.accounts, wholeInstance] } : ctx

/** How answers and events say it. */
export const accountOrNull = (account: string) => (account === wholeInstance ? null : account)

/** The same for the owner of what an id has led to. What belongs to the whole instance is about all accounts. */
export const onBehalfOf = <Ctx extends Pick<Context, 'accounts'>>(ctx: Ctx, owner: string): Ctx =>
  owner === wholeInstance ? { ...ctx, accounts: 'all' } : ctx

/** The same for the one account that an id has led to, by its clock. */
export const actingUpon = <Ctx extends Pick<Context, 'clocks'>>(ctx: Ctx, account: string) => ({
  ...ctx,
  accounts: [account],
  ...ctx.clocks.of([account]),
})
