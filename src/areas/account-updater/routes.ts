import { route } from '../../http/route.ts'
import { createAccountUpdaterJob } from './operations.ts'
import { AccountUpdaterJob, NewAccountUpdaterJob } from './schema.ts'

export const accountUpdaterRoutes = [
  route({
    id: 'createAccountUpdaterJob',
    method: 'POST',
    path: '/account-updater/jobs',
    summary: 'Ask for newer card details',
    description:
      'Asks the schemes whether the cards have newer details. 204 when none of the ids is a stored card of a scheme that can be asked and has no inquiry running. What is found waits on the card (`has_replacement`) until it expires or is declined; a new date alone applies at once.',
    scope: 'payment-methods.write',
    merchantAccount: 'one',
    body: NewAccountUpdaterJob,
    needs: ['payment_method_id'],
    example: ({ ids }) => ({ payment_method_ids: [ids['payment_method_id'] ?? ''] }),
    returns: [201, AccountUpdaterJob],
    orEmpty: 204,
    handle: (ctx, { body }) => createAccountUpdaterJob(ctx, body),
  }),
]
