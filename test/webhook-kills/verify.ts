import { createHmac, timingSafeEqual } from 'node:crypto'
import type { IncomingHttpHeaders } from 'node:http'
import { Webhook, WebhookVerificationError } from 'standardwebhooks'

/** How receivers look at a signature: by the contract and by the published verifier of Standard Webhooks, and not by our own signing. */

const toleranceSeconds = 5 * 60

const isSame = (one: string, other: string) => {
  const [left, right] = [Buffer.from(one), Buffer.from(other)]
  return left.length === right.length && timingSafeEqual(left, right)
}

const isTimely = (timestamp: string) =>
  /^\d+$/.test(timestamp) && Math.abs(Date.now() / 1000 - Number(timestamp)) <= toleranceSeconds

const one = (value: string | string[] | undefined): string => (typeof value === 'string' ? value : '')

export function isHexSignature(signature: string, secret: string, timestamp: string, body: string): boolean {
  const expected = createHmac('sha256', Buffer.from(secret, 'utf8')).update(`${timestamp}.${body}`).digest('hex')
  return isSame(signature, expected)
}

export function acceptsHexForm(secret: string, headers: IncomingHttpHeaders, body: string): boolean {
  const timestamp = one(headers['x-service-webhook-timestamp'])
  // Split and not trimmed, as receivers do.
  const signatures = one(headers['x-service-webhook-signatures']).split(',')
  return isTimely(timestamp) && signatures.some((signature) => isHexSignature(signature, secret, timestamp, body))
}

/** As receivers do that use the published verifier. */
export function acceptsStandardForm(secret: string, headers: IncomingHttpHeaders, body: string): boolean {
  try {
    new Webhook(secret).verify(body, headers as Record<string, string>)
    return true
  } catch (error) {
    if (error instanceof WebhookVerificationError) return false
    throw error
  }
}
