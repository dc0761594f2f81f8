import { setTimeout as sleep } from 'node:timers/promises'
import { Command } from 'commander'
import { addApiOptions, type ApiClient, type ApiOptions, ApiRefusal, createApiClient } from '../api-client.ts'
import { CommandError, say, sayJson } from '../output.ts'
import { type Call, triggers } from '../triggers.ts'

interface TriggerOptions extends ApiOptions {
  json?: boolean
}

interface Event {
  id: string
  name: string
  target: { id: string }
}

const patienceMs = 10_000

export function triggerCommand(): Command {
  return addApiOptions(
    new Command('trigger')
      .description('Bring an event about in a sandbox, by really doing what it tells of.')
      .argument('[name]', 'name of the event; without it, all that can be brought about are listed')
      .option('--json', 'print one line of JSON'),
  )
    .addHelpText(
      'after',
      `
What it makes stays: buyers, payments, gift cards. Payments need a payment service that takes euros in Germany, as "florin dev"
has. transaction.settled comes with time: pay, and then "florin clock advance".

Examples:
  $ florin trigger
  $ florin trigger transaction.captured`,
    )
    .action(runTrigger)
}

async function runTrigger(name: string | undefined, { json = false, ...options }: TriggerOptions): Promise<void> {
  if (name === undefined) return list(json)
  const trigger = Object.entries(triggers).find(([known]) => known === name)?.[1]
  if (!trigger) throw new CommandError(`${name} cannot be brought about. "florin trigger" lists what can.`)
  const client = await createApiClient(options)
  await refuseProduction(client)
  // A key pair of all accounts belongs to none of them.
  const everywhere = client.everywhere()
  const before = await newest(everywhere, name)
  const call: Call = (method, path, body) => client.ask(method, path, body)
  await trigger(call)
  const event = await another(everywhere, name, before?.id)
  if (json) return sayJson(event)
  say(`${event.name} ${event.target.id} (event ${event.id})`)
}

function list(json: boolean): void {
  const names = Object.keys(triggers)
  if (json) return sayJson({ names })
  for (const name of names) say(name)
}

/** In production there are no simulator rules. */
async function refuseProduction(client: ApiClient): Promise<void> {
  try {
    await client.ask('GET', '/simulator-rules?limit=1')
  } catch (error) {
    if (!(error instanceof ApiRefusal) || error.status !== 404) throw error
    throw new CommandError('Events can be brought about in a sandbox only, and this API is not one.')
  }
}

async function newest(client: ApiClient, name: string): Promise<Event | undefined> {
  const { items } = await client.ask<{ items: Event[] }>('GET', `/events?limit=1&name=${name}`)
  return items[0]
}

async function another(client: ApiClient, name: string, before: string | undefined): Promise<Event> {
  const end = performance.now() + patienceMs
  for (;;) {
    const event = await newest(client, name)
    if (event && event.id !== before) return event
    if (performance.now() > end) throw new CommandError(`It was done, but no ${name} came of it. Look at GET /events.`)
    await sleep(100)
  }
}
