import { createCipheriv, createDecipheriv, createHash, randomBytes } from 'node:crypto'
import type { Position } from '../page.ts'

export interface CursorCodec {
  seal(position: Position, binding: string): string
  /** Undefined for anything that was not sealed by us for exactly this binding. */
  open(cursor: string, binding: string): Position | undefined
}

const sizes = { keyId: 4, nonce: 12, plain: 17, tag: 16 }
const sealedSize = sizes.keyId + sizes.nonce + sizes.plain + sizes.tag

/** AES-256-GCM; the binding is authenticated but not carried. The first key seals, all of them open. */
export function createCursorCodec(keys: readonly Buffer[]): CursorCodec {
  const ring = keys.map((key) => ({
    key,
    id: createHash('sha256').update('florin cursor').update(key).digest().subarray(0, sizes.keyId),
  }))
  const [current] = ring
  if (!current) throw new Error('at least one cursor key is needed')

  return {
    seal(position, binding) {
      const nonce = randomBytes(sizes.nonce)
      const cipher = createCipheriv('aes-256-gcm', current.key, nonce).setAAD(Buffer.from(binding))
      const plain = Buffer.concat([
        Buffer.from([flagsOf(position)]),
        Buffer.from(position.id.replaceAll('-', ''), 'hex'),
      ])
      const sealed = Buffer.concat([current.id, nonce, cipher.update(plain), cipher.final(), cipher.getAuthTag()])
      return sealed.toString('base64url')
    },

    open(cursor, binding) {
      const sealed = Buffer.from(cursor, 'base64url')
      // Buffer.from is lenient; only the one canonical spelling of a cursor is ours.
      if (sealed.length !== sealedSize || sealed.toString('base64url') !== cursor) return undefined
      const key = ring.find(({ id }) => id.equals(sealed.subarray(0, sizes.keyId)))?.key
      if (!key) return undefined
      const nonce = sealed.subarray(sizes.keyId, sizes.keyId + sizes.nonce)
      const decipher = createDecipheriv('aes-256-gcm', key, nonce, { authTagLength: sizes.tag })
      decipher.setAAD(Buffer.from(binding)).setAuthTag(sealed.subarray(-sizes.tag))
      try {
        return positionOf(
          Buffer.concat([decipher.update(sealed.subarray(-sizes.tag - sizes.plain, -sizes.tag)), decipher.final()]),
        )
      } catch {
        return undefined
      }
    },
  }
}

const flagsOf = ({ direction, inclusive }: Position) => (direction === 'newer' ? 1 : 0) + (inclusive ? 2 : 0)

function positionOf(plain: Buffer): Position {
  const flags = plain[0] ?? 0
  const hex = plain.subarray(1).toString('hex')
  const id = hex.replace(/^(.{8})(.{4})(.{4})(.{4})(.{12})$/, '$1-$2-$3-$4-$5')
  return { direction: flags & 1 ? 'newer' : 'older', inclusive: (flags & 2) !== 0, id }
}
