import { type Sql, sql } from '../../../platform/sql.ts'

export type Kind = 'authorize' | 'sale' | 'late_sale' | 'capture' | 'void' | 'refund' | 'cancel' | 'enrol'

/**
 * What an operation does to a payment, in SQL over `payment`, `asked` (the operation before it is decided) and `changed` (after).
 * A call and one that falls due later go by the same rules.
 */
export interface Move {
  /** Whether the state of the payment allows it. */
  allowed: Sql
  /** Whether it comes too late. What was asked for in time is done, also when that is later. */
  lapsed: Sql
  /** Whether the amounts do. */
  fits: Sql
  /** Which decided operations change the payment. */
  applies: Sql
  state: Sql
  authorized: Sql
  captured: Sql
  refunded: Sql
}

const isApproved = sql`changed.outcome ->> 'result' = 'approved'`

const nothing: Omit<Move, 'allowed'> = {
  lapsed: sql`false`,
  fits: sql`true`,
  applies: isApproved,
  state: sql`payment.state`,
  authorized: sql`payment.authorized`,
  captured: sql`payment.captured`,
  refunded: sql`payment.refunded`,
}

const isPending = sql`payment.state = 'pending'`

/** Also when it is refused: it is no longer pending then. */
const decided: Omit<Move, 'state'> = {
  ...nothing,
  allowed: isPending,
  applies: isPending,
  authorized: sql`case when ${isApproved} then changed.amount else 0 end`,
}

export const moves: Record<Kind, Move> = {
  authorize: { ...decided, state: sql`case when ${isApproved} then 'authorized' else 'refused' end` },
  sale: {
    ...decided,
    state: sql`case when ${isApproved} then 'completed' else 'refused' end`,
    captured: sql`case when ${isApproved} then changed.amount else 0 end`,
  },
  // The money is reserved at once; if it cannot be charged when it is time, it stays reserved.
  late_sale: {
    ...decided,
    state: sql`case when ${isApproved} then 'completed' else 'authorized' end`,
    authorized: sql`payment.authorized`,
    captured: sql`case when ${isApproved} then changed.amount else 0 end`,
  },
  capture: {
    ...nothing,
    allowed: sql`payment.state = 'authorized'`,
    lapsed: sql`payment.expires_at <= asked.at`,
    // Generous: how much more than authorized a merchant may capture is for the API to say.
    fits: sql`payment.captured + asked.amount <= payment.authorized * 2`,
    state: sql`case when changed.closes then 'completed' else payment.state end`,
    captured: sql`payment.captured + changed.amount`,
  },
  void: {
    ...nothing,
    allowed: sql`payment.state = 'authorized' and payment.captured = 0`,
    state: sql`'voided'`,
  },
  refund: {
    ...nothing,
    allowed: sql`true`,
    fits: sql`payment.refunded + asked.amount <= payment.captured`,
    refunded: sql`payment.refunded + changed.amount`,
  },
  cancel: { ...nothing, allowed: isPending, state: sql`'canceled'` },
  // No payment belongs to it.
  enrol: { ...nothing, allowed: sql`true`, applies: sql`false` },
}
