import { randomBytes } from 'node:crypto'
import { setTimeout as sleep } from 'node:timers/promises'
import { Command, InvalidArgumentError } from 'commander'
import { BoundedMap } from '../../bounded-map.ts'
import { eventNames } from '../../events/catalog.ts'
import { firstIdOf } from '../../ids.ts'
import { secretPrefix, signatureHeaders } from '../../webhooks/sign.ts'
import { addApiOptions, type ApiClient, type ApiOptions, ApiRefusal, causeOf, createApiClient } from '../api-client.ts'
import { stopRequest } from '../dev/stop-request.ts'
import { readEventStream, type StreamedEvent } from '../event-stream.ts'
import { note, say, sayJson } from '../output.ts'

interface ListenOptions extends ApiOptions {
  forwardTo?: string
  events?: string[]
  consumer?: string
  json?: boolean
}

const waitSeconds = 3_600
const answerMs = 5_000
const reconnectMs = 1_000

export function listenCommand(): Command {
  return addApiOptions(
    new Command('listen')
      .description('Print events as they happen, and send them to a URL on this machine.')
      .option('--forward-to <url>', 'send each event there, signed as a webhook is', parseUrl)
      .option('--events <names>', 'only these, with commas between', parseNames)
      .option('--consumer <name>', 'go on where this consumer stopped; the server keeps the place')
      .option('--json', 'print a line of JSON for each event'),
  )
    .addHelpText(
      'after',
      `
Nothing has to reach this machine from outside: the events come over a connection that it opens. Each is signed in both forms
with a secret made for this session and printed at its start. An event may come twice, and is then printed once, unless this
command was started again in between. Without --consumer it begins now.

Examples:
  $ florin listen
  $ florin listen --forward-to http://localhost:3000/webhooks --events transaction.captured,refund.succeeded`,
    )
    .action(runListen)
}

async function runListen(options: ListenOptions): Promise<void> {
  const signal = stopRequest()
  const client = await createApiClient(options)
  const secret = secretPrefix + randomBytes(48).toString('base64')
  if (options.consumer !== undefined) await makeConsumer(client, options.consumer)
  const seen = new BoundedMap<string, true>(20_000)
  let position: string | undefined
  const start = firstIdOf(Date.now())
  let isAnnounced = false
  while (!signal.aborted) {
    try {
      const feed = await client.open(feedPath(options, position), signal)
      if (!isAnnounced) announce(secret, options)
      isAnnounced = true
      for await (const event of readEventStream(feed)) {
        if (seen.get(event.id)) continue
        seen.set(event.id, true)
        report(event, await forward(event, secret, client.headerPrefix, options.forwardTo), options.json ?? false)
        if (position === undefined || event.id > position) position = event.id
        if (options.consumer !== undefined) {
          await client.ask('PUT', `/events/consumers/${options.consumer}`, { position })
        }
      }
    } catch (error) {
      if (signal.aborted) return
      if (error instanceof ApiRefusal && error.status >= 400 && error.status < 500) throw error
      note(`The connection was lost (${error instanceof ApiRefusal ? error.message : causeOf(error)}); trying again.`)
    }
    position ??= start
    await sleep(reconnectMs, undefined, { signal }).catch(() => undefined)
  }
}

/** Not before the feed is open: what happens from now on is heard. */
function announce(secret: string, { forwardTo, json }: ListenOptions): void {
  if (json) return sayJson({ type: 'listening', secret, forward_to: forwardTo ?? null })
  say(`Listening. The secret of this session: ${secret}`)
}

async function makeConsumer(client: ApiClient, id: string): Promise<void> {
  try {
    await client.ask('POST', '/events/consumers', { id })
  } catch (error) {
    if (!(error instanceof ApiRefusal) || error.status !== 409) throw error
  }
}

function feedPath({ events = [], consumer }: ListenOptions, position: string | undefined): string {
  const query = new URLSearchParams({ wait: String(waitSeconds) })
  for (const name of events) query.append('name', name)
  if (consumer !== undefined) query.set('consumer', consumer)
  else if (position !== undefined) query.set('position', position)
  return `/events/feed?${query.toString()}`
}

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
