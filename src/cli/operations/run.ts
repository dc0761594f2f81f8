import { once } from 'node:events'
import type { ApiClient, ApiOptions, ApiRequest } from '../api-client.ts'
import { createApiClient } from '../api-client.ts'
import { stopRequest } from '../dev/stop-request.ts'
import { readEventStream } from '../event-stream.ts'
import { CommandError, note, say } from '../output.ts'
import { createListing, isForPeople, isPage, type Page, type Screen, screenOf, showAnswer } from './answer.ts'
import type { Operation } from './manifest.ts'
import { explain } from './refusal.ts'
import { type CallOptions, type Given, requestOf } from './request.ts'
import { printable } from './terminal-text.ts'
import type { Json } from './values.ts'

export interface OperationOptions extends ApiOptions, CallOptions {
  all?: boolean
  json?: boolean
  print?: string
}

/** Where to send people who find nothing. */
export interface Surroundings {
  /** The command that makes what the list would show. */
  create: string | undefined
}

export async function runOperation(
  operation: Operation,
  values: readonly string[],
  given: Given,
  options: OperationOptions,
  surroundings: Surroundings,
): Promise<void> {
  process.stdout.off('error', leaveWithReader).on('error', leaveWithReader)
  const request = await requestOf(operation, values, given, options)
  const screen = screenOf(process.stdout, options)
  const client = await createApiClient(options, { isOpen: operation.scopes.length === 0 })
  try {
    if (operation.isStream) await follow(client, request, screen)
    else if (options.all) await walk(client, request, operation, screen, surroundings)
    else await ask(client, request, operation, screen, surroundings)
  } catch (error) {
    throw explain(error, operation)
  }
}

/** A reader that has seen enough, as `head` has, closes its end; then there is nobody to go on for. */
function leaveWithReader(error: NodeJS.ErrnoException): void {
  if (error.code !== 'EPIPE') throw error
  process.exit()
}

async function ask(
  client: ApiClient,
  request: ApiRequest,
  operation: Operation,
  screen: Screen,
  surroundings: Surroundings,
): Promise<void> {
  const response = await client.send(request)
  const text = await response.text()
  showAnswer(operation, text, screen)
  if (!isForPeople(screen) || text === '') return
  const answer: unknown = JSON.parse(text)
  if (!isPage(answer)) return
  if (answer.items.length === 0) note(emptyNote(request, surroundings))
  if (typeof answer.next_cursor === 'string') {
    note(`\nThere is more: add --all, or for the next page --cursor ${printable(answer.next_cursor)}`)
  }
}

const mostAtOnce = 100

async function walk(
  client: ApiClient,
  request: ApiRequest,
  operation: Operation,
  screen: Screen,
  surroundings: Surroundings,
): Promise<void> {
  const show = createListing(operation, screen)
  const progress = startProgress(screen)
  let count = 0
  for await (const items of pagesOf(client, request)) {
    show(items)
    if (process.stdout.writableNeedDrain) await once(process.stdout, 'drain')
    count += items.length
    progress.show(count)
  }
  progress.end()
  if (count === 0 && isForPeople(screen)) note(emptyNote(request, surroundings))
}

async function* pagesOf(client: ApiClient, request: ApiRequest): AsyncGenerator<Json[]> {
  let query: object = { limit: mostAtOnce, ...request.query }
  for (;;) {
    const { items, next_cursor: cursor } = await client.ask<Page>({ ...request, query })
    yield items
    if (typeof cursor !== 'string') return
    query = { ...query, cursor }
  }
}

/** For somebody who waits while the items go elsewhere. */
function startProgress({ isTerminal }: Screen) {
  const isShown = !isTerminal && process.stderr.isTTY
  return {
    show: (count: number) => void (isShown && process.stderr.write(`\r${count} items\u001B[K`)),
    end: () => void (isShown && process.stderr.write('\r\u001B[K')),
  }
}

function emptyNote({ query = {} }: ApiRequest, { create }: Surroundings): string {
  const isFiltered = Object.keys(query).some((name) => !['limit', 'cursor'].includes(name))
  if (isFiltered) return 'Nothing fits. Leave some of the filters out, or look into another --account.'
  return create === undefined ? 'There is nothing yet.' : `There is nothing yet. To make one: florin ${create} --help`
}

/** Events as they come, until the stream ends or somebody stops it. */
async function follow(client: ApiClient, request: ApiRequest, screen: Screen): Promise<void> {
  const signal = stopRequest()
  try {
    const feed = await client.send({ ...request, options: { signal } })
    for await (const { id, name, data } of readEventStream(feed)) {
      if (!screen.isTerminal || screen.json) say(screen.isTerminal ? printable(data) : data)
      else say(eventLine(id, name, data))
    }
  } catch (error) {
    if (signal.aborted) return
    throw error instanceof TypeError ? new CommandError('The connection was lost. "florin listen" reconnects.') : error
  }
}

function eventLine(id: string, name: string, data: string): string {
  const { created_at, target } = JSON.parse(data) as { created_at: string; target: { id: string } }
  return printable(`${created_at} ${name} ${target.id} (event ${id})`)
}
