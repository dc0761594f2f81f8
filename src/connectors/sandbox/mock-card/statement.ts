import type { StatementLine } from '../../payment.ts'
import type { MoveRow } from './store.ts'

/** When the processor reports what: days after the money moved. */
export const reportedAfterDays = { settlement: 1, chargeback: 4, 'chargeback-reversal': 14 } as const

/** Thousandths of the amount, rounded half up, and minor units. The commission is the whole fee; interchange and scheme fee are in it. */
export const fees = { commission: 14, fixed: 25, interchange: 2, schemeFee: 1, chargeback: 1_500 } as const

const dayMs = 24 * 60 * 60 * 1000

/** Everything that is reported of a payment by now, oldest first: made from its books alone, so the same question has the same answer. */
export function statementOf(moves: readonly MoveRow[], now: Date): StatementLine[] {
  return moves
    .flatMap(linesOf)
    .filter(({ postedAt }) => postedAt <= now)
    .toSorted((left, right) => left.postedAt.getTime() - right.postedAt.getTime())
}

function linesOf(move: MoveRow): StatementLine[] {
  if (move.kind === 'refund') {
    const { fixed } = fees
    return [
      line(move, 'refund-settlement', reportedAfterDays.settlement, { ...noFees, commission: fixed, markup: fixed }),
    ]
  }
  return [
    line(move, 'settlement', reportedAfterDays.settlement, settlementFees(move.amount)),
    ...(move.forces === 'dispute' || move.forces === 'dispute_won'
      ? [
          line(move, 'chargeback', reportedAfterDays.chargeback, {
            ...noFees,
            commission: fees.chargeback,
            markup: fees.chargeback,
          }),
        ]
      : []),
    ...(move.forces === 'dispute_won'
      ? [line(move, 'chargeback-reversal', reportedAfterDays['chargeback-reversal'], noFees)]
      : []),
  ]
}

type Fees = Pick<StatementLine, 'commission' | 'interchange' | 'markup' | 'schemeFee'>
const noFees: Fees = { commission: 0, interchange: 0, markup: 0, schemeFee: 0 }

function settlementFees(amount: number): Fees {
  const share = (thousandths: number) => Math.floor((amount * thousandths + 500) / 1_000)
  const commission = share(fees.commission) + fees.fixed
  const interchange = share(fees.interchange)
  const schemeFee = share(fees.schemeFee)
  return { commission, interchange, schemeFee, markup: commission - interchange - schemeFee }
}

/** One report a day. */
function line(move: MoveRow, kind: StatementLine['kind'], afterDays: number, charged: Fees): StatementLine {
  const postedAt = new Date(move.decided_at.getTime() + afterDays * dayMs)
  return {
    kind,
    id: `${move.id}-${kind}`,
    reportId: postedAt.toISOString().slice(0, 10),
    reference: move.reference,
    postedAt,
    currency: move.currency,
    amount: move.amount,
    exchangeRate: null,
    ...charged,
  }
}
