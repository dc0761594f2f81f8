import { Command } from 'commander'
import { isUuid } from '../../ids.ts'
import { addApiOptions, type ApiOptions, createApiClient } from '../api-client.ts'
import { CommandError, say, sayJson } from '../output.ts'

interface ResendOptions extends ApiOptions {
  subscription?: string
  json?: boolean
}

interface Delivery {
  id: string
  subscription_id: string
  status: string
  next_attempt_at: string | null
}

export function resendCommand(): Command {
  return addApiOptions(
    new Command('resend')
      .description('Send an event again to the webhook subscriptions that were to be told of it.')
      .argument('<event>', 'id of the event')
      .option('--subscription <id>', 'only to this webhook subscription')
      .option('--json', 'print one line of JSON'),
  )
    .addHelpText(
      'after',
      `
A subscription that is newer than the event is told of it by a replay: florin webhook-subscriptions replay.
With --account "*" those of all merchant accounts are told, and of the whole instance.

Example:
  $ florin events resend 0192f4a6-7e0c-7c33-b1de-3f1a2b4c5d6e`,
    )
    .action(runResend)
}

async function runResend(event: string, { subscription, json = false, ...options }: ResendOptions): Promise<void> {
  for (const id of [event, ...(subscription === undefined ? [] : [subscription])]) {
    if (!isUuid(id)) throw new CommandError(`${id} is not an id: a UUID in lower case.`)
  }
  const client = await createApiClient(options)
  const query = { event_id: event, limit: 100, subscription_id: subscription }
  const { items } = await client.ask<{ items: Delivery[] }>({ method: 'GET', path: '/webhook-deliveries', query })
  if (items.length === 0) {
    throw new CommandError(
      'No webhook subscription was to be told of this event. Check its id and --account, or replay it: florin events resend --help.',
    )
  }
  const retried: Delivery[] = []
  for (const { id } of items) {
    retried.push(await client.ask<Delivery>({ method: 'POST', path: `/webhook-deliveries/${id}/retry` }))
  }
  if (json) return sayJson({ deliveries: retried })
  for (const { id, subscription_id, next_attempt_at } of retried) {
    say(`subscription ${subscription_id}: delivery ${id}, next attempt at ${next_attempt_at}`)
  }
}
