import { encodeContext, type KeyContext, type KeyProvider, KeyProviderError } from '../key-provider.ts'
import { callProvider, textOf } from './call.ts'

export interface TransitOptions {
  /** Of the mount: `https://host:8200/v1/transit`. */
  url: string
  token: string
  key: string
  timeoutMs?: number
}

/**
 * A key behind the transit HTTP interface. The context is sent twice: a derived key needs it as `context` and any other kind
 * silently ignores that, while the AES-GCM kinds check it as `associated_data`.
 */
export function transitKeyProvider({ url, token, key, timeoutMs = 5_000 }: TransitOptions): KeyProvider {
  const id = `transit:${key}`

  async function call(verb: 'encrypt' | 'decrypt', context: KeyContext, input: Record<string, string>) {
    const bound = encodeContext(context).toString('base64')
    const { status, body } = await callProvider({
      provider: id,
      url: `${url.replace(/\/+$/, '')}/${verb}/${encodeURIComponent(key)}`,
      body: JSON.stringify({ ...input, context: bound, associated_data: bound }),
      headers: () => ({ 'x-vault-token': token, 'content-type': 'application/json' }),
      timeoutMs,
    })
    if (status !== 200) throw new KeyProviderError(`${id} refuses to ${verb}: ${reasonOf(body, status)}`)
    return (body['data'] ?? {}) as Record<string, unknown>
  }

  return {
    id,
    async wrap(plain, context) {
      const { ciphertext } = await call('encrypt', context, { plaintext: plain.toString('base64') })
      const text = textOf(ciphertext)
      if (!text) throw new KeyProviderError(`${id} answers without a ciphertext`)
      return Buffer.from(text, 'utf8')
    },
    async unwrap(wrapped, context) {
      const { plaintext } = await call('decrypt', context, { ciphertext: wrapped.toString('utf8') })
      const text = textOf(plaintext)
      if (!text) throw new KeyProviderError(`${id} answers without a plaintext`)
      return Buffer.from(text, 'base64')
    },
  }
}

function reasonOf(body: Record<string, unknown>, status: number): string {
  const { errors } = body
  return Array.isArray(errors) && errors.length > 0 ? errors.join('; ').slice(0, 300) : `status ${status}`
}
