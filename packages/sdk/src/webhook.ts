import type { FlorinEvent } from './generated/events.ts'
import { fromBase64, type Key, utf8 } from './token.ts'

export interface WebhookRequest {
  /** The body as it came, before anything parsed it. */
  body: string | Uint8Array<ArrayBuffer>
  headers: Headers | Readonly<Record<string, string | readonly string[] | undefined>>
  /** Of the subscription, `whsec_…`. Several while you change from one to another. */
  secret: string | readonly string[]
  /** How old a delivery may be, and how far the clocks may differ. Default: 5 minutes. */
  toleranceSeconds?: number
}

/** The request was not sent by your Florin, not now, or not like this. Answer 400 and do nothing. */
export class WebhookVerificationError extends Error {
  override name = 'WebhookVerificationError'
}

/** The event, if a secret of yours signed it a moment ago. A delivery may come twice: `id` is the same then. */
export async function verifyWebhook(request: WebhookRequest): Promise<FlorinEvent> {
  const { body, headers, secret, toleranceSeconds = 300 } = request
  const bytes = typeof body === 'string' ? utf8(body) : body
  if (!ArrayBuffer.isView(bytes)) throw new TypeError('body must be the text of the request as it came, not parsed')
  const id = headerOf(headers, 'webhook-id')
  const timestamp = headerOf(headers, 'webhook-timestamp')
  const signatures = headerOf(headers, 'webhook-signature')
  if (!/^\d{1,12}$/.test(timestamp)) throw new WebhookVerificationError('webhook-timestamp is not a time in seconds')
  const age = Math.abs(Date.now() / 1_000 - Number(timestamp))
  if (age > toleranceSeconds) {
    const message = `It was signed ${Math.round(age)} s from now, more than ${toleranceSeconds} s. Look at this machine's clock.`
    throw new WebhookVerificationError(message)
  }
  if (!(await isSigned(joined(utf8(`${id}.${timestamp}.`), bytes), signatures, [secret].flat()))) {
    throw new WebhookVerificationError(
      'No signature fits. Is this the secret of the subscription, and the body as it came?',
    )
  }
  return JSON.parse(new TextDecoder().decode(bytes)) as FlorinEvent
}

function headerOf(headers: WebhookRequest['headers'], name: string): string {
  // By its shape and not by its class, which may be of another realm.
  const get = headers as { get?: unknown }
  const value =
    typeof get.get === 'function'
      ? (headers as Headers).get(name)
      : Object.entries(headers).find(([key]) => key.toLowerCase() === name)?.[1]
  if (typeof value !== 'string' || value === '') throw new WebhookVerificationError(`The header ${name} is missing`)
  return value
}

function joined(head: Uint8Array, tail: Uint8Array): Uint8Array<ArrayBuffer> {
  const whole = new Uint8Array(head.length + tail.length)
  whole.set(head)
  whole.set(tail, head.length)
  return whole
}

async function isSigned(
  content: Uint8Array<ArrayBuffer>,
  header: string,
  secrets: readonly string[],
): Promise<boolean> {
  const signatures = header.split(' ').flatMap((signature) => {
    const [, text] = /^v1,([A-Za-z0-9+/]{43}=)$/.exec(signature) ?? []
    return text === undefined ? [] : [fromBase64(text)]
  })
  for (const secret of secrets) {
    const key = await importSecret(secret)
    for (const signature of signatures) {
      // In constant time.
      if (await crypto.subtle.verify('HMAC', key, signature, content)) return true
    }
  }
  return false
}

async function importSecret(secret: string): Promise<Key> {
  const [, text] = /^whsec_([A-Za-z0-9+/]+=*)$/.exec(secret) ?? []
  if (text === undefined) throw new TypeError('secret is not that of a webhook subscription ("whsec_…")')
  return await crypto.subtle.importKey('raw', fromBase64(text), { name: 'HMAC', hash: 'SHA-256' }, false, ['verify'])
}
