import { setTimeout as sleep } from 'node:timers/promises'
import { Command } from 'commander'
import { addApiOptions, type ApiClient, type ApiOptions, createApiClient } from '../api-client.ts'
import { CommandError, say, sayJson } from '../output.ts'
import { refuseProduction } from '../refuse-production.ts'
import { type Call, triggers, untriggered } from '../triggers.ts'

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
      .argument('[name]', 'name of the event; without it, all that can be brought about are listed')
      .option('--json', 'print one line of JSON'),
  )
    .addHelpText(
      'after',
      `
What it makes stays: buyers, payments, gift cards. Payments need a payment service that takes euros in Germany, as "florin dev"
has.

Examples:
  $ florin trigger
  $ florin trigger transaction.captured`,
    )
    .action(runTrigger)
}

async function runTrigger(name: string | undefined, { json = false, ...options }: TriggerOptions): Promise<void> {
  if (name === undefined) return list(json)
  const trigger = Object.entries(triggers).find(([known]) => known === name)?.[1]
  if (!trigger) throw new CommandError(`${name} cannot be brought about. ${adviceOn(name)}`)
  const client = await createApiClient(options)
  await refuseProduction(client, 'Events can be brought about in a sandbox only, and this API is not one.')
  const before = await newest(client, name)
  const call: Call = (method, path, body) => client.ask({ method, path, body })
  await trigger(call)
  const event = await another(client, name, before?.id)
  if (json) return sayJson(event)
  say(`${event.name} ${event.target.id} (event ${event.id})`)
}

const adviceOn = (name: string): string =>
  Object.entries(untriggered).find(([known]) => known === name)?.[1] ?? '"florin trigger" lists what can.'

function list(json: boolean): void {
  const names = Object.keys(triggers)
  if (json) return sayJson({ names })
  for (const name of names) say(name)
}

async function newest(client: ApiClient, name: string): Promise<Event | undefined> {
  const { items } = await client.ask<{ items: Event[] }>({
    method: 'GET',
    path: '/events',
    query: { limit: 1, name },
    // A key pair of all accounts belongs to none of them.
    options: { merchantAccountId: '*' },
  })
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
