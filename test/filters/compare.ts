import { Agent, request } from 'node:http'
import type { Collection } from '../../src/schema.ts'
import type { CallerName, Query } from './queries.ts'

/** What GET /transactions answers. */
export interface Answer {
  status: number
  text: string
}
export type Ask = (caller: CallerName, header: string | undefined, parameters: URLSearchParams) => Promise<Answer>

export interface Compared {
  /** Comparisons, which are pages. */
  pages: number
  difference: string | undefined
}

/** Walks through the list of a query and compares every page with what is expected in its place. */
export async function compare(ask: Ask, query: Query, expected: readonly string[]): Promise<Compared> {
  let window = { start: 0, end: 0 }
  let cursor: string | null = null
  let pages = 0
  let cursors: Pick<Collection<unknown>, 'next_cursor' | 'previous_cursor'> = {
    next_cursor: null,
    previous_cursor: null,
  }
  for (const { way, limit } of [{ way: 'next' as const, limit: query.limit }, ...query.steps]) {
    if (pages > 0) {
      cursor = way === 'next' ? cursors.next_cursor : cursors.previous_cursor
      // The end, as was compared; the way back is still open.
      if (cursor === null) continue
    }
    const size = limit ?? 20
    window =
      way === 'next'
        ? { start: window.end, end: Math.min(window.end + size, expected.length) }
        : { start: Math.max(window.start - size, 0), end: window.start }
    const { status, text } = await ask(query.caller, query.header, toSearch(query, limit, cursor))
    pages += 1
    const wanted = {
      status: 200,
      limit: size,
      ids: expected.slice(window.start, window.end),
      hasNext: window.end < expected.length,
      hasPrevious: window.start > 0,
    }
    const page = status === 200 ? (JSON.parse(text) as Collection<{ id: string }>) : undefined
    const found = page && {
      status,
      limit: page.limit,
      ids: page.items.map(({ id }) => id),
      hasNext: page.next_cursor !== null,
      hasPrevious: page.previous_cursor !== null,
    }
    if (!page || JSON.stringify(found) !== JSON.stringify(wanted)) {
      const where = `page ${pages} (${way}, limit ${limit ?? 'none'})`
      return {
        pages,
        difference: `${where}\nexpected ${list(wanted)}\nfound    ${found ? list(found) : `${status} ${text}`}`,
      }
    }
    cursors = page
  }
  return { pages, difference: undefined }
}

const list = ({ ids, ...rest }: { ids: readonly string[] }) =>
  `${JSON.stringify(rest)} ${ids.length} ids: ${ids.join(' ')}`

function toSearch({ parameters }: Query, limit: number | undefined, cursor: string | null): URLSearchParams {
  const search = new URLSearchParams(parameters as readonly [string, string][])
  if (limit !== undefined) search.append('limit', String(limit))
  if (cursor !== null) search.append('cursor', cursor)
  return search
}

/** Over HTTP, on connections that are kept. */
export function createAsk(url: string, tokens: Record<CallerName, string>): { ask: Ask; close(): void } {
  const agent = new Agent({ keepAlive: true })
  const once = (path: string, headers: Record<string, string>) =>
    new Promise<Answer>((resolve, reject) => {
      request(url + path, { agent, headers }, (response) => {
        let text = ''
        response.setEncoding('utf8').on('data', (chunk: string) => (text += chunk))
        response.once('error', reject)
        response.once('end', () => resolve({ status: response.statusCode ?? 0, text }))
      })
        .once('error', reject)
        .end()
    })
  return {
    ask(caller, header, parameters) {
      const path = `/transactions?${parameters.toString()}`
      const headers = {
        authorization: `Bearer ${tokens[caller]}`,
        ...(header !== undefined && { 'X-Service-Merchant-Account-ID': header }),
      }
      // A kept connection may be closed at the moment it is used again; what only reads may ask twice.
      return once(path, headers).catch(() => once(path, headers))
    },
    close: () => agent.destroy(),
  }
}
