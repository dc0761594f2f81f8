import type { Outcome, PaymentConnector } from '../../src/connectors/payment.ts'
import type { WorldOptions } from './world.ts'

/** Bugs on purpose: each takes one guard away, and the model must notice. */
export interface Planted {
  /** As in "the model finds …". */
  name: string
  /** What the database would still refuse. */
  dropConstraints?: readonly [table: string, constraint: string][]
  /** Every one of them must be met, so that none goes stale unnoticed. */
  rewrites?: readonly [search: RegExp, replacement: string][]
  replace?: WorldOptions['replace']
  /** Where the usual one takes long to find it. */
  seed?: number
}

/** Keeps a condition's parameters and not its meaning. */
const neverMind = '($&) is not null'

export const approved: Outcome = {
  result: 'approved',
  amount: 1000,
  providerReference: null,
  rawCode: null,
  rawDescription: null,
  authorizationCode: null,
  avs: null,
  cvv: null,
  schemeTransactionId: null,
}

const ranOut: Outcome = {
  result: 'failed',
  errorCode: 'incomplete_buyer_approval',
  retriable: false,
  providerReference: null,
  rawCode: null,
  rawDescription: null,
}

export const planted: readonly Planted[] = [
  {
    name: 'a refund of more than was captured',
    dropConstraints: [
      ['transaction_instruments', 'transaction_instruments_refunded'],
      ['transactions', 'transactions_refunded'],
    ],
    rewrites: [[/refunded_amount \+ refunding_amount \+ \$\d+::bigint <= captured_amount/, neverMind]],
  },
  {
    name: 'a capture of more than is allowed',
    dropConstraints: [['transaction_instruments', 'transaction_instruments_captured']],
    rewrites: [[/captured_amount \+ capturing_amount \+ \$\d+::bigint <= \$\d+::bigint/, neverMind]],
  },
  {
    name: 'a capture and a void of the same money',
    rewrites: [[/status = any\(\$\d+\)(?=\s+returning)/, neverMind]],
  },
  {
    name: 'an outcome that is written down twice',
    rewrites: [[/state <> 'done'(?=\s+returning id)/, neverMind]],
  },
  {
    name: 'a voided payment that can still be captured',
    rewrites: [[/set capturable = false/, 'set capturable = capturable']],
  },
  {
    name: 'a promise to a refund that is never taken back',
    dropConstraints: [['transaction_instruments', 'transaction_instruments_refunded']],
    rewrites: [
      [/refunding_amount = refunding_amount - (\$\d+)::bigint/, 'refunding_amount = refunding_amount - $1::bigint * 0'],
    ],
  },
  {
    name: 'an authorization that never expires',
    rewrites: [[/payment\.expires_at <= asked\.at/, 'false']],
  },
  {
    name: 'a key that pays twice',
    rewrites: [
      [/operation = \$\d+ and key = \$\d+(?=\) as found)/, '$& and false'],
      [/known\.created_at < \(select max\(forgotten_before\) from input\)/, neverMind],
      [/known\.created_at < \$\d+/, neverMind],
    ],
  },
  {
    name: 'an answer that is not kept',
    rewrites: [
      [
        /update idempotency_keys set status = (\$\d+), body = (\$\d+)/,
        'update idempotency_keys set status = nullif($1::integer, $1::integer), body = nullif($2::text, $2::text)',
      ],
    ],
  },
  {
    name: 'a recovery that takes silence for a yes',
    replace: (inner) => ({
      ...inner,
      sync: async (call) => {
        const outcome = await inner.sync(call)
        return outcome.result === 'never_arrived' ? approved : outcome
      },
    }),
  },
  {
    name: 'a buyer whose second answer counts',
    rewrites: [
      [/approval\.state(?=, approval\.scenario_result)/, "'open' as state"],
      [/operation\.outcome ->> 'result' = 'redirect'(?=, false\))/, neverMind],
      [/approval\.state = 'open'/, neverMind],
      [/operation\.outcome ->> 'result' = 'redirect'(?=\s+and not exists)/, neverMind],
    ],
  },
  {
    name: 'a buyer who may answer too late',
    rewrites: [
      [/approval\.expires_at(?=,\s+coalesce)/, "approval.expires_at + interval '1 year' as expires_at"],
      [/approval\.expires_at > '[^']+'::timestamptz/, neverMind],
    ],
  },
  {
    name: 'a return that is taken for a yes',
    replace: (inner) => ({
      ...inner,
      sync: async (call) => {
        const outcome = await inner.sync(call)
        return outcome.result === 'redirect' ? approved : outcome
      },
    }),
  },
  {
    name: "a buyer's time that ends without the provider",
    seed: 8,
    replace: (inner, now) => {
      const ends = new Map<string, Date>()
      return {
        ...inner,
        authorize: (call) => {
          if (call.approval) ends.set(call.reference, call.approval.expiresAt)
          return inner.authorize(call)
        },
        sync: async (call) => {
          const outcome = await inner.sync(call)
          const end = ends.get(call.reference)
          return outcome.result === 'redirect' && end && end <= now() ? ranOut : outcome
        },
      }
    },
  },
  {
    name: 'a recovery that gives the money back again',
    replace: (inner) => {
      const refunds = new Map<string, Parameters<PaymentConnector['refund']>[0]>()
      return {
        ...inner,
        refund: (call) => {
          refunds.set(call.reference, call)
          return inner.refund(call)
        },
        sync: (call) => {
          const known = refunds.get(call.reference)
          return known
            ? inner.refund({ ...known, signal: call.signal, reference: `${call.reference}-again` })
            : inner.sync(call)
        },
      }
    },
  },
]
