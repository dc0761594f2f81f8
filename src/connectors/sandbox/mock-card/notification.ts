import { createHmac, timingSafeEqual } from 'node:crypto'
import type { InboundMessage, Notification } from '../../payment.ts'

/** How old a message may be, and how far ahead the sender's clock. */
const oldestMs = 5 * 60_000

const sign = (secret: string, timestamp: string, body: Buffer) =>
  createHmac('sha256', secret).update(`${timestamp}.`).update(body).digest()

/** The headers that go with a message of the processor. */
export function signNotification({ secret, body, now }: { secret: string; body: Buffer; now: Date }) {
  const timestamp = String(Math.floor(now.getTime() / 1000))
  return {
    'x-sandbox-timestamp': timestamp,
    'x-sandbox-signature': sign(secret, timestamp, body).toString('hex'),
  }
}

/** Undefined unless the message was signed with the secret, lately, and says what it should. */
export function openNotification(
  { headers, body }: InboundMessage,
  { secret, now }: { secret: string | undefined; now: Date },
): Notification | undefined {
  const timestamp = headers['x-sandbox-timestamp'] ?? ''
  const signature = headers['x-sandbox-signature'] ?? ''
  if (!secret || !/^\d{1,12}$/.test(timestamp) || !/^[0-9a-f]{64}$/.test(signature)) return undefined
  if (!timingSafeEqual(Buffer.from(signature, 'hex'), sign(secret, timestamp, body))) return undefined
  if (Math.abs(now.getTime() - Number(timestamp) * 1000) > oldestMs) return undefined
  return parse(body)
}

function parse(body: Buffer): Notification | undefined {
  try {
    const message: unknown = JSON.parse(body.toString())
    if (typeof message !== 'object' || message === null || !('id' in message) || !('reference' in message))
      return undefined
    const { id, reference } = message
    return typeof id === 'string' && typeof reference === 'string'
      ? { id, reference, kind: 'kind' in message && message.kind === 'report' ? 'report' : 'operation' }
      : undefined
  } catch {
    return undefined
  }
}
