import { type Static, Type } from 'typebox'
import { Body, Constant, DateTime, Nullable } from '../../../schema.ts'
import { durationPattern } from './rules.ts'

export const ClockAdvance = Body(
  {
    by: Type.String({
      pattern: durationPattern,
      description:
        'How far: a number and `s`, `m`, `h`, `d` or `w` (seconds, minutes, hours, days of 24 hours, weeks). A clock is at most 3650 days ahead of real time.',
      example: '3d',
    }),
  },
  { title: 'ClockAdvance' },
)
export type ClockAdvance = Static<typeof ClockAdvance>

export const AccountClock = Type.Object(
  {
    type: Constant('clock'),
    merchant_account_id: Type.String({ example: 'default' }),
    now: DateTime({ description: 'The time of the merchant account.' }),
    ahead_seconds: Type.Integer({ minimum: 0, description: 'How far it is ahead of real time.', example: 259_200 }),
    is_settled: Type.Boolean({
      description:
        'Whether everything that fell due by moving the clock has been done. False while a worker is still at it, and when none runs; ask again then.',
    }),
    updated_at: Nullable(DateTime({ description: 'When the clock was moved last, in real time.' })),
  },
  { title: 'Clock' },
)
export type AccountClock = Static<typeof AccountClock>
