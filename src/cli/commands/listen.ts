import { randomBytes } from 'node:crypto'
import { setTimeout as sleep } from 'node:timers/promises'
import { Command, InvalidArgumentError, Option } from 'commander'
import { BoundedMap } from '../../bounded-map.ts'
import { eventNames } from '../../events/catalog.ts'
import { firstIdOf } from '../../ids.ts'
import { secretPrefix, signatureHeaders } from '../../webhooks/sign.ts'
import { addApiOptions, type ApiClient, type ApiOptions, ApiRefusal, causeOf, createApiClient } from '../api-client.ts'
import { stopRequest } from '../dev/stop-request.ts'
import { readEventStream, type StreamedEvent } from '../event-stream.ts'
import { CommandError, note, say, sayJson } from '../output.ts'

interface ListenOptions extends ApiOptions {
  forwardTo?: string
  events?: string[]
  consumer?: string
  secret?: string
  json?: boolean
}

const waitSeconds = 3_600
const answerMs = 5_000
const reconnectMs = 1_000

export function listenCommand(): Command {
  return addApiOptions(
    new Command('listen')
      .option('--forward-to <url>', 'send each event there, signed as a webhook is', parseUrl)
      .option('--events <names>', 'only these, with commas between', parseNames)
      .option('--consumer <name>', 'go on where this consumer stopped; the server keeps the place')
      .addOption(
        new Option(
          '--secret <secret>',
          'sign with this one, which begins with whsec_ (default: a new one each time)',
        ).env('WEBHOOK_SECRET'),
      )
      .option('--json', 'print a line of JSON for each event'),
  )
    .addHelpText(
      'after',
      `
Nothing has to reach this machine from outside: the events come over a connection that it opens. Each is signed in both forms
with the secret that is printed at the start. With --secret it is the same whenever you start again, so the receiver keeps its own.
An event may come twice, and is then printed once, unless this command was started again in between. Without --consumer it
begins now. It connects again when the connection is lost.

Examples:
  $ florin listen
  $ florin listen --forward-to http://localhost:3000/webhooks --events transaction.captured,refund.succeeded`,
    )
    .action(runListen)
}

async function runListen(options: ListenOptions): Promise<void> {
  const signal = stopRequest()
  const client = await createApiClient(options)
  const secret = secretOf(options)
  if (options.consumer !== undefined) await makeConsumer(client, options.consumer)
  const seen = new BoundedMap<string, true>(20_000)
  let position: string | undefined
  const start = firstIdOf(Date.now())
  let connection: 'none yet' | 'open' | 'lost' = 'none yet'
  while (!signal.aborted) {
    try {
      const query = feedQuery(options, position)
      const feed = await client.send({ method: 'GET', path: '/events/feed', query, options: { signal } })
      if (connection === 'none yet') announce(secret, options)
      if (connection === 'lost') note('Connected again.')
      connection = 'open'
      for await (const event of readEventStream(feed)) {
        if (seen.get(event.id)) continue
        seen.set(event.id, true)
        report(event, await forward(event, secret, client.headerPrefix, options.forwardTo), options.json ?? false)
        if (position === undefined || event.id > position) position = event.id
        if (options.consumer !== undefined) {
          await client.ask({ method: 'PUT', path: `/events/consumers/${options.consumer}`, body: { position } })
        }
      }
    } catch (error) {
      if (signal.aborted) return
      if (error instanceof ApiRefusal && error.answer.status < 500) throw error
      // Nobody was ever there: the address is wrong, or Florin is not started.
      if (connection === 'none yet') throw error
      if (connection === 'open') note(`The connection was lost (${reasonOf(error)}); trying again until it is back.`)
      connection = 'lost'
    }
    position ??= start
    await sleep(reconnectMs, undefined, { signal }).catch(() => undefined)
  }
}

function secretOf({ secret = secretPrefix + randomBytes(48).toString('base64') }: ListenOptions): string {
  if (/^whsec_[A-Za-z0-9+/]+={0,2}$/.test(secret)) return secret
  throw new CommandError(
    '--secret, or WEBHOOK_SECRET, must be "whsec_" and base64, as a webhook subscription shows it.',
  )
}

const reasonOf = (error: unknown): string => (error instanceof CommandError ? error.message : causeOf(error))

/** Not before the feed is open: what happens from now on is heard. */
function announce(secret: string, { forwardTo, json }: ListenOptions): void {
  if (json) return sayJson({ type: 'listening', secret, forward_to: forwardTo ?? null })
  say(
    forwardTo === undefined ? 'Listening. Ctrl-C ends it.' : `Listening, and sending to ${forwardTo}. Ctrl-C ends it.`,
  )
  if (forwardTo !== undefined) say(`The secret that signs: ${secret}`)
  note('To see an event of a sandbox: florin trigger transaction.captured')
}

async function makeConsumer(client: ApiClient, id: string): Promise<void> {
  try {
    await client.ask({ method: 'POST', path: '/events/consumers', body: { id } })
  } catch (error) {
    if (!(error instanceof ApiRefusal) || error.answer.status !== 409) throw error
  }
}

const feedQuery = ({ events, consumer }: ListenOptions, position: string | undefined) => ({
  wait: waitSeconds,
  name: events,
  ...(consumer === undefined ? { position } : { consumer }),
})

interface Forwarded {
  status: number | null
  error: string | null
  duration_ms: number
}

/** Nothing where there is nowhere to send it to. */
async function forward(
  { id, data }: StreamedEvent,
  secret: string,
  prefix: string,
  url: string | undefined,
): Promise<Forwarded | undefined> {
  if (url === undefined) return undefined
  const begun = performance.now()
  const headers = {
    'content-type': 'application/json',
    ...signatureHeaders({ prefix, id, now: new Date(), body: data, secrets: [secret] }),
  }
  const outcome = await fetch(url, {
    method: 'POST',
    headers,
    body: data,
    redirect: 'manual',
    signal: AbortSignal.timeout(answerMs),
  }).then(
    async (response) => {
      await response.body?.cancel()
      return { status: response.status, error: null }
    },
    (error: unknown) => ({ status: null, error: causeOf(error) }),
  )
  return { ...outcome, duration_ms: Math.round(performance.now() - begun) }
}

function report({ id, name, data }: StreamedEvent, forwarded: Forwarded | undefined, json: boolean): void {
  if (json) return sayJson({ event: JSON.parse(data) as object, forwarded: forwarded ?? null })
  const { created_at, target } = JSON.parse(data) as { created_at: string; target: { id: string } }
  const answer = forwarded ? ` → ${forwarded.status ?? forwarded.error} (${forwarded.duration_ms} ms)` : ''
  say(`${created_at} ${name} ${target.id} (event ${id})${answer}`)
}

function parseUrl(text: string): string {
  if (URL.canParse(text) && /^https?:/.test(text)) return text
  throw new InvalidArgumentError('Write a URL: http://localhost:3000/webhooks.')
}

function parseNames(text: string): string[] {
  const names = text.split(',').map((name) => name.trim())
  const unknown = names.find((name) => !eventNames.some((known) => known === name))
  if (unknown === undefined) return names
  throw new InvalidArgumentError(`There is no event ${unknown}. docs/events.md lists them all.`)
}
