import { route } from '../../../http/route.ts'
import { MerchantAccountPath } from '../schema.ts'
import { advanceClock, getClock } from './operations.ts'
import { AccountClock, ClockAdvance } from './schema.ts'

export const clockRoutes = [
  route({
    id: 'getMerchantAccountClock',
    method: 'GET',
    path: '/merchant-accounts/{merchant_account_id}/clock',
    summary: 'Get the clock of a merchant account',
    description: 'Sandbox only. An account whose clock was never moved goes by real time.',
    scope: 'merchant-accounts.read',
    merchantAccount: 'none',
    params: MerchantAccountPath,
    returns: [200, AccountClock],
    handle: (ctx, { params }) => getClock(ctx, params.merchant_account_id),
  }),
  route({
    id: 'advanceMerchantAccountClock',
    method: 'POST',
    path: '/merchant-accounts/{merchant_account_id}/clock/advance',
    summary: 'Advance the clock of a merchant account',
    description:
      'Sandbox only. Everything in the account goes by the new time from then on: authorizations, checkout sessions and cards expire, idempotency keys are forgotten, and providers are asked about what they left open. Other accounts are untouched, and so are tokens, audit logs and events. The answer comes after what fell due has been done, at most 20 seconds later. There is no way back: what has expired stays expired, so a test that needs an earlier time takes another merchant account.',
    scope: 'merchant-accounts.write',
    merchantAccount: 'none',
    params: MerchantAccountPath,
    body: ClockAdvance,
    example: () => ({ by: '90s' }),
    returns: [200, AccountClock],
    handle: (ctx, { params, body }) => advanceClock(ctx, params.merchant_account_id, body.by),
  }),
]
