import { isOpen } from '../../src/http/browsers.ts'
import { type Route, scopesOf } from '../../src/http/route.ts'
import { type Answer, type RequestOptions, send } from '../api.ts'
import { answerProblems, type Json } from './answers.ts'

/** An API to check, and what is needed to call it. */
export interface Subject {
  routes: readonly Route[]
  url: string
  openapi: Json
  /** Reaches all merchant accounts. */
  owner: string
  /** Reaches the account `default` only. */
  bound: string
  sign: (scopes: readonly string[], claims?: Record<string, unknown>) => Promise<string>
  /** Brings about what comes with time only, for the resources of a path. */
  wait: (params: Params, account: string) => Promise<void>
  /** Audit rows by id of the request that made them. */
  auditRows: (requestIds: readonly string[]) => Promise<Map<string, number>>
}

export interface Ask extends RequestOptions {
  method?: string
  /** Instead of the route's own with its parameters filled in. */
  path?: string
  params?: Params
  query?: string
}
export type Params = Record<string, string>

/** One check of one route: it asks, and writes down what is wrong. */
export interface Run extends Subject {
  ask(route: Route, options?: Ask): Promise<Answer>
  note(answer: Answer, problem: string | false): void
}
export type Check = (run: Run, route: Route) => Promise<void>

const isWrite = (of: Route) =>
  of.method !== 'GET' && of.changes !== false && (isOpen(of) || scopesOf(of).some((scope) => scope.endsWith('.write')))

/** Runs a check; beside what it notes, every answer must be as documented and every change leave its audit row. */
export async function problemsOf(subject: Subject, check: Check, checked: Route): Promise<string[]> {
  const problems: string[] = []
  const asked: { label: string; requestId: string; rows: number }[] = []
  const labels = new Map<Answer, string>()
  const run: Run = {
    ...subject,
    async ask(of, { method = of.method, path: wanted, params = {}, query = '', ...options } = {}) {
      const path = (wanted ?? fill(of.path, params)) + query
      const answer = await send(subject.url, method, path, { token: subject.owner, ...options })
      const label = `${method} ${path.slice(0, 150)} → ${answer.status} ${answer.text.slice(0, 300)}`
      labels.set(answer, label)
      problems.push(...answerProblems(subject.openapi, of, method, answer).map((found) => `${label}: ${found}`))
      // An answer that is given again changes nothing.
      const isFirst = !answer.headers.has('idempotency-replayed')
      const succeeded = answer.status < 300 && method === of.method && isFirst
      asked.push({
        label,
        requestId: answer.headers.get('x-request-id') ?? '',
        rows: succeeded && isWrite(of) ? 1 : 0,
      })
      return answer
    },
    note(answer, problem) {
      if (problem) problems.push(`${labels.get(answer) ?? `${answer.status} ${answer.text}`}: ${problem}`)
    },
  }
  await check(run, checked)
  const rows = await subject.auditRows(asked.map(({ requestId }) => requestId))
  for (const { label, requestId, rows: expected } of asked) {
    const found = rows.get(requestId) ?? 0
    if (found !== expected) problems.push(`${label}: left ${found} audit rows instead of ${expected}`)
  }
  return problems
}

export const fill = (path: string, params: Params) =>
  path.replaceAll(/\{(\w+)\}/g, (_match, name: string) => params[name] ?? '00000000-0000-7000-8000-000000000000')
