import { createHmac, timingSafeEqual } from 'node:crypto'
import type { IncomingHttpHeaders } from 'node:http'

/** How receivers look at a signature: written from the contract and the Standard Webhooks specification, and not from our own signing. */

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

export function isStandardSignature(
  signature: string,
  secret: string,
  { id, timestamp, body }: { id: string; timestamp: string; body: string },
): boolean {
  const key = Buffer.from(secret.replace(/^whsec_/, ''), 'base64')
  return isSame(signature, createHmac('sha256', key).update(`${id}.${timestamp}.${body}`).digest('base64'))
}

export function acceptsStandardForm(secret: string, headers: IncomingHttpHeaders, body: string): boolean {
  const [id, timestamp] = [one(headers['webhook-id']), one(headers['webhook-timestamp'])]
  if (id === '' || !isTimely(timestamp)) return false
  return one(headers['webhook-signature'])
    .split(' ')
    .some((part) => {
      const [version, signature = ''] = part.split(',')
      return version === 'v1' && isStandardSignature(signature, secret, { id, timestamp, body })
    })
}
