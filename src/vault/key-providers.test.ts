import { createHmac, randomBytes } from 'node:crypto'
import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { afterEach, describe, expect, test } from 'vitest'
import { startKmsServer, startTransitServer } from '../../test/key-servers.ts'
import { useFolder, vaultConfig, writeKeyFile } from '../../test/vault.ts'
import { ConfigError } from '../platform/config.ts'
import {
  encodeContext,
  type KeyContext,
  type KeyProvider,
  KeyProviderError,
  unwrapKey,
  wrapKey,
} from './key-provider.ts'
import { awsKmsKeyProvider } from './key-providers/aws-kms.ts'
import { openKeyProvider } from './key-providers/configured.ts'
import { fileKeyProvider } from './key-providers/file.ts'
import { signRequest } from './key-providers/signature-v4.ts'
import { transitKeyProvider } from './key-providers/transit.ts'

const folder = useFolder()
const context: KeyContext = {
  instance: 'acme',
  id: '0190a1b2-c3d4-7e5f-8a9b-0c1d2e3f4a5b',
  purpose: 'data',
  version: 1,
}
const elsewhere: KeyContext[] = [
  { ...context, instance: 'other' },
  { ...context, id: '0190a1b2-c3d4-7e5f-8a9b-0c1d2e3f4a5c' },
  { ...context, purpose: 'fingerprint' },
  { ...context, version: 2 },
]
const transit = { token: 'test-token', key: 'florin' }
const kms = {
  accessKeyId: 'AKIDEXAMPLEEXAMPLE',
  secretAccessKey: 'not/a+real/secret',
  region: 'eu-north-1',
  keyId: 'alias/florin',
}

const cleanups: (() => Promise<void>)[] = []
afterEach(async () => {
  for (const cleanup of cleanups.splice(0)) await cleanup()
})
const kept = async <Kept extends { close(): Promise<void> }>(starting: Promise<Kept>): Promise<Kept> => {
  const server = await starting
  cleanups.push(server.close)
  return server
}

async function transitProvider({
  derived = true,
  checksAssociated = true,
  token = transit.token,
  timeoutMs = 500,
} = {}) {
  const server = await kept(startTransitServer({ ...transit, derived, checksAssociated }))
  return {
    server,
    provider: transitKeyProvider({ url: `${server.url}/v1/transit`, key: transit.key, token, timeoutMs }),
  }
}

async function kmsProvider(changes: Partial<typeof kms> = {}) {
  const server = await kept(startKmsServer(kms))
  return { server, provider: awsKmsKeyProvider({ ...kms, ...changes, endpoint: server.url, timeoutMs: 500 }) }
}

describe.each<[string, () => Promise<KeyProvider>]>([
  ['file', async () => fileKeyProvider(writeKeyFile(folder))],
  ['transit, derived key', async () => (await transitProvider()).provider],
  ['transit, plain key', async () => (await transitProvider({ derived: false })).provider],
  // The oldest servers know neither: what is wrapped itself says where it belongs.
  [
    'transit that ignores every context',
    async () => (await transitProvider({ derived: false, checksAssociated: false })).provider,
  ],
  ['aws-kms', async () => (await kmsProvider()).provider],
])('%s', (_name, make) => {
  test('a wrapped key opens in its own place and in no other', async () => {
    const provider = await make()
    const key = randomBytes(32)
    const wrapped = await wrapKey(provider, context, key)
    expect(wrapped.includes(key)).toBe(false)
    expect((await unwrapKey(provider, context, wrapped)).export().equals(key)).toBe(true)
    for (const place of elsewhere) {
      await expect(unwrapKey(provider, place, wrapped), JSON.stringify(place)).rejects.toThrow(KeyProviderError)
    }
  })
})

test('without the commitment a provider that ignores the context lets a swapped key through: the check above can fail', async () => {
  const { provider } = await transitProvider({ derived: false, checksAssociated: false })
  const wrapped = await provider.wrap(randomBytes(32), context)
  await expect(provider.unwrap(wrapped, { ...context, version: 2 })).resolves.toHaveLength(32)
})

test('the context of a key has one spelling, known beforehand', () => {
  expect(encodeContext(context).toString('hex')).toBe(
    '000d666c6f72696e2d6b65792d7631000461636d65002430313930613162322d633364342d376535662d38' +
      '6139622d306331643265336634613562000464617461000131',
  )
  const key = Buffer.from(Array.from({ length: 32 }, (_, index) => index))
  expect(createHmac('sha256', key).update(encodeContext(context)).digest('hex')).toBe(
    '90fb6f17ad5977b60f1129c239066cf5704c76410406a0c6c441ec64fd09d746',
  )
})

describe('file', () => {
  test('another key does not open it, and its name says that it is another', async () => {
    const first = fileKeyProvider(writeKeyFile(folder, 'first'))
    const second = fileKeyProvider(writeKeyFile(folder, 'second'))
    expect(first.id).not.toBe(second.id)
    const wrapped = await wrapKey(first, context, randomBytes(32))
    await expect(unwrapKey(second, context, wrapped)).rejects.toThrow(/does not open it/)
  })

  test('a file that is missing or holds something else is told so, without its content', () => {
    expect(() => fileKeyProvider(join(folder, 'nowhere'))).toThrow(/cannot be read \(ENOENT\)/)
    for (const text of ['', 'hunter2', randomBytes(31).toString('base64'), randomBytes(32).toString('hex')]) {
      writeFileSync(join(folder, 'bad'), text)
      expect(() => fileKeyProvider(join(folder, 'bad'))).toThrow(/does not hold base64 of 32 bytes/)
      if (text !== '') expect(() => fileKeyProvider(join(folder, 'bad'))).not.toThrow(text)
    }
  })
})

describe('transit', () => {
  test('a wrong token and an unknown key are told in the words of the server', async () => {
    const { provider } = await transitProvider({ token: 'wrong' })
    await expect(provider.wrap(randomBytes(32), context)).rejects.toThrow(/refuses to encrypt: permission denied/)
    const { server } = await transitProvider()
    const other = transitKeyProvider({ url: `${server.url}/v1/transit/`, token: transit.token, key: 'other' })
    await expect(other.wrap(randomBytes(32), context)).rejects.toThrow(/encryption key not found/)
  })

  test('a server that is busy or silent for a moment is asked again', async () => {
    const { server, provider } = await transitProvider()
    server.misbehave({ status: 503, body: { errors: ['sealed'] } }, 'silence')
    const wrapped = await provider.wrap(randomBytes(32), context)
    expect(wrapped.toString()).toMatch(/^vault:v1:/)
    expect(server.requests).toBe(3)
  })

  test('a server that stays busy, silent or away, or answers nonsense, is given up', async () => {
    const { server, provider } = await transitProvider({ timeoutMs: 100 })
    server.misbehave('silence', 'silence', 'silence')
    await expect(provider.wrap(randomBytes(32), context)).rejects.toThrow(/does not answer within 100 ms/)
    server.misbehave(...Array.from({ length: 3 }, () => ({ status: 500, body: {} })))
    await expect(provider.wrap(randomBytes(32), context)).rejects.toThrow(/answers with status 500/)
    server.misbehave({ status: 200, body: { data: {} } })
    await expect(provider.wrap(randomBytes(32), context)).rejects.toThrow(/without a ciphertext/)
    server.misbehave({ status: 200, body: 'nonsense' })
    await expect(provider.unwrap(Buffer.from('vault:v1:x'), context)).rejects.toThrow(/without a plaintext/)
    await server.close()
    await expect(provider.wrap(randomBytes(32), context)).rejects.toThrow(/ECONNREFUSED/)
  })

  test('no message holds the token', async () => {
    const { provider } = await transitProvider({ token: 'hunter2' })
    await expect(provider.wrap(randomBytes(32), context)).rejects.not.toThrow(/hunter2/)
  })
})

describe('aws-kms', () => {
  test.each(['secretAccessKey', 'accessKeyId', 'region'] as const)(
    'a wrong %s is refused by its signature',
    async (name) => {
      const { provider } = await kmsProvider({ [name]: `${kms[name]}X` })
      await expect(provider.wrap(randomBytes(32), context)).rejects.toThrow(/InvalidSignatureException/)
    },
  )

  test('an unknown key and a foreign ciphertext are told in the words of the service', async () => {
    const { provider } = await kmsProvider({ keyId: 'alias/other' })
    await expect(provider.wrap(randomBytes(32), context)).rejects.toThrow(/NotFoundException: Key does not exist/)
    const { provider: right } = await kmsProvider()
    await expect(right.unwrap(randomBytes(80), context)).rejects.toThrow(/InvalidCiphertextException/)
  })

  test('throttling and silence are waited out, and given up in the end', async () => {
    const { server, provider } = await kmsProvider()
    server.misbehave({ status: 400, body: { __type: 'com.amazon#ThrottlingException' } }, 'silence')
    await expect(provider.wrap(randomBytes(32), context)).resolves.toBeInstanceOf(Buffer)
    server.misbehave('silence', 'silence', 'silence')
    await expect(provider.wrap(randomBytes(32), context)).rejects.toThrow(/does not answer within 500 ms/)
  })

  test('signatures equal the published examples of the scheme', () => {
    const identity = {
      accessKeyId: 'AKIDEXAMPLE',
      secretAccessKey: 'wJalrXUtnFEMI/K7MDENG+bPxRfiCYEXAMPLEKEY',
      region: 'us-east-1',
      service: 'service',
    }
    const signatureOf = (method: string) =>
      signRequest(
        { method, url: new URL('https://example.amazonaws.com/'), headers: {}, body: '' },
        identity,
        new Date('2015-08-30T12:36:00Z'),
      )['authorization']
    expect(signatureOf('GET')).toBe(
      'AWS4-HMAC-SHA256 Credential=AKIDEXAMPLE/20150830/us-east-1/service/aws4_request, SignedHeaders=host;x-amz-date, ' +
        'Signature=5fa00fa31553b73ebf1942676e86291e8372ff2a2260956d9b8aae1d763fbf31',
    )
    expect(signatureOf('POST')).toContain('Signature=5da7c1a2acd57cee7505fc6676e4e544621c30862966e37dddb68e92efbe5d6b')
  })
})

test('a provider without its settings is a problem of the configuration, every missing one named', () => {
  const config = vaultConfig('postgresql://unused', { keyFile: 'unused', listen: 'unix:/unused' })
  const problemsOf = (changes: Partial<typeof config>) => {
    try {
      openKeyProvider({ ...config, ...changes })
    } catch (error) {
      if (error instanceof ConfigError) return error.problems.map((problem) => problem.split(' ')[0])
      throw error
    }
    return []
  }
  expect(problemsOf({ keyFile: undefined })).toEqual(['FLORIN_KEY_FILE'])
  expect(problemsOf({ keyProvider: 'transit' })).toEqual([
    'FLORIN_TRANSIT_URL',
    'FLORIN_TRANSIT_TOKEN',
    'FLORIN_TRANSIT_KEY',
  ])
  expect(problemsOf({ keyProvider: 'aws-kms' })).toEqual([
    'FLORIN_AWS_REGION',
    'FLORIN_AWS_ACCESS_KEY_ID',
    'FLORIN_AWS_SECRET_ACCESS_KEY',
    'FLORIN_AWS_KMS_KEY_ID',
  ])
})
