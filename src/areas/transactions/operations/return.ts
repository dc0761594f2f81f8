import { returnAddress } from '../../../approval.ts'
import type { Clock } from '../../../clocks.ts'
import { actingUpon, type Context } from '../../../context.ts'
import { isUndecided } from '../rules.ts'
import { findApproval } from '../store/approvals.ts'
import { findTransaction } from '../store/transactions.ts'
import type { System } from './follow-up.ts'
import { resolveTransaction } from './resolve.ts'

/**
 * A buyer is back from the page of a provider. What they did there, the provider says; what the address says is for nobody to believe. Returns the
 * merchant's address, told the payment and how it stands; undefined when nobody was sent away under this id.
 */
export async function returnFromApproval(
  open: Omit<System, keyof Clock> & Pick<Context, 'clocks'>,
  id: string,
): Promise<string | undefined> {
  const approval = await findApproval(open.db, id)
  if (!approval) return undefined
  const { merchant_account_id, transaction_id, redirect_url } = approval
  const ctx = actingUpon(open, merchant_account_id)
  const found = await findTransaction(ctx.db, ctx.accounts, transaction_id)
  if (!found) return undefined
  const { status } = isUndecided(found.status) ? await resolveTransaction(ctx, transaction_id) : found
  return returnAddress(redirect_url, { transaction_id, transaction_status: status })
}
