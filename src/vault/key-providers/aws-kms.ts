import { type KeyContext, type KeyProvider, KeyProviderError } from '../key-provider.ts'
import { callProvider, textOf } from './call.ts'
import { signRequest } from './signature-v4.ts'

export interface KmsOptions {
  region: string
  accessKeyId: string
  secretAccessKey: string
  keyId: string
  /** Default: that of the region. */
  endpoint?: string | undefined
  timeoutMs?: number
}

export function awsKmsKeyProvider(options: KmsOptions): KeyProvider {
  const { region, accessKeyId, secretAccessKey, keyId, timeoutMs = 5_000 } = options
  const url = new URL('/', options.endpoint ?? `https://kms.${region}.amazonaws.com`)
  const id = `aws-kms:${keyId}`
  const identity = { accessKeyId, secretAccessKey, region, service: 'kms' }

  async function call(target: 'Encrypt' | 'Decrypt', context: KeyContext, input: Record<string, string>) {
    const text = JSON.stringify({ KeyId: keyId, EncryptionContext: encryptionContext(context), ...input })
    const headers = { 'content-type': 'application/x-amz-json-1.1', 'x-amz-target': `TrentService.${target}` }
    const { status, body } = await callProvider({
      provider: id,
      url: url.href,
      body: text,
      headers: () => signRequest({ method: 'POST', url, headers, body: text }, identity, new Date()),
      timeoutMs,
    })
    if (status !== 200) throw new KeyProviderError(`${id} refuses to ${target}: ${reasonOf(body, status)}`)
    return body
  }

  return {
    id,
    async wrap(plain, context) {
      const { CiphertextBlob } = await call('Encrypt', context, { Plaintext: plain.toString('base64') })
      const text = textOf(CiphertextBlob)
      if (!text) throw new KeyProviderError(`${id} answers without a ciphertext`)
      return Buffer.from(text, 'base64')
    },
    async unwrap(wrapped, context) {
      const { Plaintext } = await call('Decrypt', context, { CiphertextBlob: wrapped.toString('base64') })
      const text = textOf(Plaintext)
      if (!text) throw new KeyProviderError(`${id} answers without a plaintext`)
      return Buffer.from(text, 'base64')
    },
  }
}

/** Shown in the provider's own audit trail. */
const encryptionContext = ({ instance, id, purpose, version }: KeyContext) => ({
  'florin:instance': instance,
  'florin:key': id,
  'florin:purpose': purpose,
  'florin:version': String(version),
})

function reasonOf(body: Record<string, unknown>, status: number): string {
  const type = textOf(body['__type'])?.replace(/^.*#/, '') ?? `status ${status}`
  const message = textOf(body['message']) ?? textOf(body['Message'])
  return message ? `${type}: ${message.slice(0, 300)}` : type
}
