import { createHash, createSecretKey } from 'node:crypto'
import { readFileSync } from 'node:fs'
import { encodeContext, type KeyProvider, KeyProviderError } from '../key-provider.ts'
import { decrypt, encrypt, UnsealError } from '../sealing.ts'

/** The key-encryption key in a file: for development and small installations. */
export function fileKeyProvider(path: string): KeyProvider {
  const bytes = readKey(path)
  const key = createSecretKey(bytes)
  const id = `file:${createHash('sha256').update('florin-key-file').update(bytes).digest('hex').slice(0, 16)}`
  bytes.fill(0)
  return {
    id,
    async wrap(plain, context) {
      return encrypt(key, encodeContext(context), plain)
    },
    async unwrap(wrapped, context) {
      try {
        return decrypt(key, encodeContext(context), wrapped)
      } catch (error) {
        if (error instanceof UnsealError) throw new KeyProviderError(`the key in ${path} does not open it`)
        throw error
      }
    },
  }
}

function readKey(path: string): Buffer {
  let text: Buffer
  try {
    text = readFileSync(path)
  } catch (error) {
    throw new KeyProviderError(`the key file ${path} cannot be read (${(error as NodeJS.ErrnoException).code})`)
  }
  const encoded = text.toString('latin1').trim()
  text.fill(0)
  if (!/^[A-Za-z0-9+/]{43}=$/.test(encoded)) {
    throw new KeyProviderError(
      `the key file ${path} does not hold base64 of 32 bytes: make one with openssl rand -base64 32`,
    )
  }
  return Buffer.from(encoded, 'base64')
}
