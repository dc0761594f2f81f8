import { type Static } from 'typebox'
import { Body, Enum } from '../../../schema.ts'

export const ReviewInput = Body(
  {
    decision: Enum(['accept', 'reject'], {
      description: 'What the people say who looked at the payment.',
      example: 'accept',
    }),
  },
  { title: 'TransactionReview' },
)
export type ReviewInput = Static<typeof ReviewInput>
