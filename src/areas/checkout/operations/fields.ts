import { findRecentBinFacts } from '../../../cards/bins.ts'
import { cardProblems, describeCard } from '../../../cards/describe.ts'
import { cardFacts } from '../../../cards/facts.ts'
import { actingUpon, type Context } from '../../../context.ts'
import { invalidBody, notFound, ValidationFailure } from '../../../errors.ts'
import { isUuid } from '../../../ids.ts'
import { type Db, transact } from '../../../platform/postgres.ts'
import type { CardDetails, CardFields, SecureFields, StoredFields } from '../schema.ts'
import { countUse, findSession, hasStoredMethod, type SessionRow, setCard, setStoredMethod } from '../store.ts'
import { forgetCard, securityCode } from './pay.ts'
import { auditSession } from './sessions.ts'

/** The id is the credential: it finds its session in whatever account it is, and from there on that account is all there is, and its time. */
async function admit(open: Context, id: string): Promise<{ ctx: Context; session: SessionRow }> {
  const session = await findSession(open.db, 'all', id, open.now())
  if (!session) throw notFound()
  const ctx = actingUpon(open, session.merchant_account_id)
  if (session.expires_at <= ctx.now()) throw notFound()
  return { ctx, session }
}

/** An id that cannot be one is told so later. */
export const countFieldsSent = async (db: Db, id: string, limit: number) =>
  isUuid(id) ? countUse(db, id, limit) : undefined

/** What a buyer typed into the page of a merchant. Sent again, it takes the place of what was there. */
export async function sendCheckoutSessionFields(open: Context, id: string, input: SecureFields): Promise<void> {
  const { ctx, session } = await admit(open, id)
  if (session.is_used) throw usedUp()
  const { payment_method: method, postal_code = null } = input
  switch (method.method) {
    case 'card':
      return keepCard(ctx, session, method, postal_code)
    case 'id':
      return chooseStored(ctx, session, method, postal_code)
    case 'click-to-pay':
      throw invalidBody('/payment_method/method', 'value_error.unsupported', 'Click to Pay is not supported')
  }
}

/**
 * The vault first, then our row: should we die between, the row tells of another card than the vault holds, or of none, and a payment asks for the
 * fields again. The number goes when the session does.
 */
async function keepCard(ctx: Context, session: SessionRow, method: CardFields, postalCode: string | null) {
  const problems = cardProblems(method)
  if (problems.length > 0) {
    throw new ValidationFailure(
      problems.map(({ pointer, ...problem }) => ({ ...problem, pointer: `/payment_method${pointer}` })),
    )
  }
  const reference = referenceOf(session)
  const { additional_schemes: _schemes, expires_at: _expiry, ...facts } = await describeCard(ctx, method)
  const { fingerprint } = await ctx.vault.storeCard(reference, method.number)
  await keepCode(ctx, session, method.security_code)
  await settle(ctx, session, (ctx) =>
    setCard(ctx.db, ctx.accounts, session.id, { ...facts, fingerprint, postal_code: postalCode }, ctx.now()),
  )
}

async function chooseStored(ctx: Context, session: SessionRow, method: StoredFields, postalCode: string | null) {
  if (!(await hasStoredMethod(ctx.db, ctx.accounts, method.id))) throw unknownMethod()
  // Of a card that was given before.
  await ctx.vault.remove([referenceOf(session)], ['number'])
  await keepCode(ctx, session, method.security_code)
  await settle(ctx, session, (ctx) =>
    setStoredMethod(ctx.db, ctx.accounts, session.id, { methodId: method.id, postal_code: postalCode }, ctx.now()),
  )
}

/** None takes the place of an earlier one too. The vault goes by real time. */
async function keepCode(ctx: Context, session: SessionRow, code: string | null | undefined): Promise<void> {
  const reference = referenceOf(session)
  const leftMs = session.expires_at.getTime() - ctx.now().getTime()
  if (code) await ctx.vault.storeWaiting(reference, { [securityCode]: code }, new Date(Date.now() + leftMs))
  else await ctx.vault.remove([reference], [securityCode])
}

/** Between our first look and now the session may have been paid with, deleted or expired: then nothing of the card stays. */
async function settle(
  ctx: Context,
  session: SessionRow,
  change: (ctx: Context) => Promise<SessionRow | undefined>,
): Promise<void> {
  const row = await transact(ctx, async (ctx) => {
    const changed = await change(ctx)
    if (changed) await auditSession(ctx, 'updated', changed)
    return changed
  })
  if (row) return
  await forgetCard(ctx, referenceOf(session))
  if (await findSession(ctx.db, ctx.accounts, session.id, ctx.now())) throw usedUp()
  throw notFound()
}

const referenceOf = ({ merchant_account_id, id }: SessionRow) => ({ merchantAccountId: merchant_account_id, id })

const usedUp = () =>
  new ValidationFailure([
    {
      location: 'path',
      pointer: 'session_id',
      message: 'The checkout session was used already',
      type: 'value_error.conflict',
    },
  ])

const unknownMethod = () => invalidBody('/payment_method/id', 'value_error.unknown', 'There is no such payment method')

/** What the first digits of a card tell, for showing its scheme while the rest is typed. */
export async function getCheckoutSessionCardDetails(open: Context, id: string, bin: string): Promise<CardDetails> {
  const { ctx } = await admit(open, id)
  const { scheme, additionalSchemes, cardType } = cardFacts(bin, await findRecentBinFacts(ctx.db, bin))
  return {
    bin,
    card_type: cardType,
    scheme,
    scheme_icon_url: `${ctx.baseUrl}/card-schemes/${scheme}.svg`,
    additional_schemes: additionalSchemes,
  }
}
