import { setTimeout as sleep } from 'node:timers/promises'
import { KeyProviderError } from '../key-provider.ts'

export interface ProviderAnswer {
  status: number
  body: Record<string, unknown>
}

export interface ProviderCall {
  provider: string
  url: string
  body: string
  /** Asked anew for each attempt: a signature holds the time. */
  headers: () => Record<string, string>
  timeoutMs: number
}

const attempts = 3

/** One POST of JSON, tried again when the provider is busy or silent. What it says about a refusal is the caller's to read. */
export async function callProvider({ provider, url, body, headers, timeoutMs }: ProviderCall): Promise<ProviderAnswer> {
  for (let attempt = 1; ; attempt += 1) {
    const answer = await post(url, body, headers(), timeoutMs).catch((error: Error) => error)
    if (!(answer instanceof Error) && !isBusy(answer)) return answer
    if (attempt === attempts) {
      const how = answer instanceof Error ? describe(answer, timeoutMs) : `it answers with status ${answer.status}`
      throw new KeyProviderError(`${provider} cannot be used: ${how}`)
    }
    await sleep(100 * 2 ** attempt)
  }
}

/** One of the providers says so with status 400 and the name of the error. */
const isBusy = ({ status, body }: ProviderAnswer) =>
  status >= 500 || status === 429 || /Throttling/.test(textOf(body['__type']) ?? '')

async function post(
  url: string,
  body: string,
  headers: Record<string, string>,
  timeoutMs: number,
): Promise<ProviderAnswer> {
  const signal = AbortSignal.timeout(timeoutMs)
  // A redirect would carry the token to somewhere else.
  const response = await fetch(url, { method: 'POST', body, headers, signal, redirect: 'error' })
  const text = await response.text()
  return { status: response.status, body: parse(text) }
}

function parse(text: string): Record<string, unknown> {
  try {
    const value: unknown = JSON.parse(text)
    return typeof value === 'object' && value !== null ? (value as Record<string, unknown>) : {}
  } catch {
    return {}
  }
}

function describe(error: Error, timeoutMs: number): string {
  if (error.name === 'TimeoutError') return `it does not answer within ${timeoutMs} ms`
  const { code } = (error.cause ?? {}) as { code?: string }
  return code ?? error.message
}

export const textOf = (value: unknown) => (typeof value === 'string' && value !== '' ? value : undefined)
