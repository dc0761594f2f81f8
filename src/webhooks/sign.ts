import { createHmac } from 'node:crypto'

/** Both signature forms of a delivery, by every secret that is good at the moment. Made anew for each attempt: the time is part of it. */
export function signatureHeaders({
  prefix,
  id,
  now,
  body,
  secrets,
}: {
  /** Of the headers' names, such as `X-Service-`. */
  prefix: string
  /** Of the event: the same in every attempt, and what a receiver knows a copy by. */
  id: string
  now: Date
  body: string
  /** The active one first. */
  secrets: readonly string[]
}): Record<string, string> {
  const timestamp = String(Math.floor(now.getTime() / 1000))
  return {
    [`${prefix}Webhook-ID`]: id,
    [`${prefix}Webhook-Timestamp`]: timestamp,
    // Receivers may not trim: no space after the comma.
    [`${prefix}Webhook-Signatures`]: secrets.map((secret) => hexSignature(secret, timestamp, body)).join(','),
    'webhook-id': id,
    'webhook-timestamp': timestamp,
    'webhook-signature': secrets.map((secret) => standardSignature(secret, id, timestamp, body)).join(' '),
  }
}

/** By the characters of the secret, over time and body. */
export const hexSignature = (secret: string, timestamp: string, body: string): string =>
  createHmac('sha256', secret).update(`${timestamp}.${body}`).digest('hex')

/** By the bytes that the secret spells, over id, time and body. */
export const standardSignature = (secret: string, id: string, timestamp: string, body: string): string => {
  const key = Buffer.from(secret.slice(secretPrefix.length), 'base64')
  return `v1,${createHmac('sha256', key).update(`${id}.${timestamp}.${body}`).digest('base64')}`
}

export const secretPrefix = 'whsec_'
