import { randomUUID } from 'node:crypto'
import { Agent, request } from 'node:http'
import { setTimeout as sleep } from 'node:timers/promises'
import type { CardRequest } from './card-history.ts'
import { makeCardNumber } from './vault.ts'

interface LoadOptions {
  urls: readonly string[]
  token: string
  /** Requests a second, of all kinds together. */
  perSecond: number
}

export interface CardLoad {
  history: CardRequest[]
  /** Sends no more, and waits for the answers that are on their way. */
  stop(): Promise<void>
}

interface Answer {
  status: number
  body: { id?: string }
}

type Send = (method: string, path: string, body?: object) => Promise<Answer>

/** Cards that were stored. What is read is never deleted: whoever reads a card that is being deleted may be told it is gone. */
interface Stored {
  toRead: string[]
  toDelete: string[]
}

const identifiersAtHand = 50

/** Out of twenty requests. Creates outweigh deletes, so that there is always something to read and delete. */
const mix: readonly CardRequest['operation'][] = [
  ...Array.from({ length: 8 }, () => 'create' as const),
  ...Array.from({ length: 5 }, () => 'get' as const),
  ...Array.from({ length: 2 }, () => 'list' as const),
  ...Array.from({ length: 2 }, () => 'delete' as const),
  ...Array.from({ length: 3 }, () => 'other' as const),
]

/** Callers who do not wait for each other: what is slow does not slow down the rest. */
export function startCardLoad({ urls, token, perSecond }: LoadOptions): CardLoad {
  const agent = new Agent({ keepAlive: true })
  const send = sender(agent, urls, token)
  const history: CardRequest[] = []
  const underWay = new Set<Promise<unknown>>()
  const stored: Stored = { toRead: [], toDelete: [] }
  const identifiers: string[] = []
  let isOver = false

  const run = async (wanted: CardRequest['operation']) => {
    const operation = isPossible(wanted, stored) ? wanted : 'create'
    const [method, path, more, body] = ask(operation, stored, identifiers)
    const start = performance.now()
    const { status, body: answer } = await send(method, path, body)
    const end = performance.now()
    if (operation === 'create' && status === 201 && answer.id) keep(answer.id, stored)
    const id = more.id ?? answer.id
    history.push({ operation, start, end, status, ...more, id, ...(status >= 300 && { error: answer }) })
  }

  const loop = (async () => {
    const began = performance.now()
    for (let count = 0; !isOver; count += 1) {
      await sleep(Math.max(0, began + (count * 1000) / perSecond - performance.now()))
      const call: Promise<unknown> = run(mix[Math.floor(Math.random() * mix.length)] ?? 'other').finally(() =>
        underWay.delete(call),
      )
      underWay.add(call)
    }
  })()

  return {
    history,
    async stop() {
      isOver = true
      await loop
      await Promise.all(underWay)
      agent.destroy()
    },
  }
}

type Question = [
  method: string,
  path: string,
  more: Pick<CardRequest, 'id' | 'number' | 'externalIdentifier'>,
  body?: object,
]

const isPossible = (operation: CardRequest['operation'], { toRead, toDelete }: Stored) =>
  (operation !== 'get' || toRead.length > 0) && (operation !== 'delete' || toDelete.length > 0)

const keep = (id: string, { toRead, toDelete }: Stored) => (Math.random() < 0.6 ? toDelete : toRead).push(id)

const anyOf = (ids: readonly string[]) => ids[Math.floor(Math.random() * ids.length)]

function ask(operation: CardRequest['operation'], { toRead, toDelete }: Stored, identifiers: string[]): Question {
  if (operation === 'get') {
    const id = anyOf(toRead)
    return ['GET', `/payment-methods/${id}`, { id }]
  }
  if (operation === 'delete') {
    const id = toDelete.shift()
    return ['DELETE', `/payment-methods/${id}`, { id }]
  }
  if (operation === 'create') {
    // One in ten repeats an identifier, so that there are refusals whose number must go again.
    const known = Math.random() < 0.1 ? anyOf(identifiers) : undefined
    const externalIdentifier = known ?? randomUUID()
    identifiers.push(externalIdentifier)
    if (identifiers.length > identifiersAtHand) identifiers.shift()
    const number = makeCardNumber()
    const body = { method: 'card', number, expiration_date: '12/30', external_identifier: externalIdentifier }
    return ['POST', '/payment-methods', { id: undefined, number, externalIdentifier }, body]
  }
  return operation === 'list'
    ? ['GET', '/payment-methods?limit=20', { id: undefined }]
    : ['GET', Math.random() < 0.5 ? '/buyers?limit=5' : '/card-scheme-definitions', { id: undefined }]
}

function sender(agent: Agent, urls: readonly string[], token: string): Send {
  let turn = 0
  return (method, path, body) => {
    const url = urls[(turn += 1) % urls.length] ?? ''
    const payload = body && JSON.stringify(body)
    const headers = {
      authorization: `Bearer ${token}`,
      ...(payload && { 'content-type': 'application/json', 'content-length': Buffer.byteLength(payload) }),
    }
    return new Promise((resolve) => {
      const fail = (error: Error) => resolve({ status: 0, body: { message: error.message } as Answer['body'] })
      const sent = request(url + path, { agent, method, headers }, (response) => {
        let text = ''
        response.setEncoding('utf8').on('data', (chunk: string) => (text += chunk))
        response.on('error', fail)
        response.on('end', () =>
          resolve({ status: response.statusCode ?? 0, body: text ? (JSON.parse(text) as Answer['body']) : {} }),
        )
      })
      sent.on('error', fail)
      sent.end(payload)
    })
  }
}
