import { createCipheriv, createDecipheriv, createHmac, type KeyObject, randomBytes } from 'node:crypto'

/** What a ciphertext belongs to. Put anywhere else, it does not open. */
export interface Place {
  instance: string
  merchantAccountId: string
  id: string
  field: string
}

/** A ciphertext that is damaged, was moved, or belongs to another key. Which of them cannot be told, nor should it be. */
export class UnsealError extends Error {
  override name = 'UnsealError'
}

const cipher = 'aes-256-gcm'
const formatVersion = 1
const nonceLength = 12
const tagLength = 16
const overhead = 1 + nonceLength + tagLength

/** Each part with its length before it, so that no two lists of parts have the same bytes. */
export function encodeParts(parts: readonly string[]): Buffer {
  const pieces: Buffer[] = []
  for (const part of parts) {
    const text = Buffer.from(part, 'utf8')
    const length = Buffer.alloc(2)
    length.writeUInt16BE(text.length)
    pieces.push(length, text)
  }
  return Buffer.concat(pieces)
}

export const additionalData = ({ instance, merchantAccountId, id, field }: Place) =>
  encodeParts([`florin-secret-v${formatVersion}`, instance, merchantAccountId, id, field])

export const seal = (key: KeyObject, place: Place, plain: Buffer) => encrypt(key, additionalData(place), plain)

/** The caller zeroes what it gets. */
export const unseal = (key: KeyObject, place: Place, sealed: Buffer) => decrypt(key, additionalData(place), sealed)

/** Format version (1 byte), nonce (12), ciphertext (as long as the plain text), tag (16). */
export function encrypt(key: KeyObject, additional: Buffer, plain: Buffer): Buffer {
  const sealed = Buffer.allocUnsafe(overhead + plain.length)
  const nonce = randomBytes(nonceLength)
  sealed[0] = formatVersion
  nonce.copy(sealed, 1)
  const encryption = createCipheriv(cipher, key, nonce, { authTagLength: tagLength }).setAAD(additional)
  encryption.update(plain).copy(sealed, 1 + nonceLength)
  encryption.final()
  encryption.getAuthTag().copy(sealed, sealed.length - tagLength)
  return sealed
}

export function decrypt(key: KeyObject, additional: Buffer, sealed: Buffer): Buffer {
  if (sealed.length < overhead || sealed[0] !== formatVersion) throw new UnsealError('not a ciphertext of this format')
  const nonce = sealed.subarray(1, 1 + nonceLength)
  const decryption = createDecipheriv(cipher, key, nonce, { authTagLength: tagLength })
    .setAAD(additional)
    .setAuthTag(sealed.subarray(sealed.length - tagLength))
  const plain = decryption.update(sealed.subarray(1 + nonceLength, sealed.length - tagLength))
  try {
    decryption.final()
    return plain
  } catch {
    plain.fill(0)
    throw new UnsealError('the ciphertext does not belong here, or is damaged')
  }
}

/** What a number is of: a card and a gift card with the same digits have nothing in common. */
export type NumberKind = 'card' | 'gift-card'

/**
 * The same value has the same fingerprint in one instance, and nowhere else. The key never changes, or cards stored before
 * and after would not be recognised as the same.
 */
export function fingerprint(key: KeyObject, instance: string, kind: NumberKind, value: Buffer): string {
  return createHmac('sha256', key)
    .update(encodeParts(['florin-fingerprint-v1', instance, kind]))
    .update(value)
    .digest('hex')
}
