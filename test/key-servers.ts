import { createCipheriv, createDecipheriv, createHash, createHmac, hkdfSync, randomBytes } from 'node:crypto'
import { createServer, type IncomingMessage, type Server } from 'node:http'
import type { AddressInfo } from 'node:net'

/** What a stand-in for somebody else's key service answers. */
interface Answer {
  status: number
  body: unknown
}

interface KeyServer {
  url: string
  requests: number
  /** The next requests are answered like this, or not at all. */
  misbehave(...answers: (Answer | 'silence')[]): void
  close(): Promise<void>
}

async function startKeyServer(answer: (request: IncomingMessage, body: string) => Answer): Promise<KeyServer> {
  const planned: (Answer | 'silence')[] = []
  const server: Server = createServer((request, response) => {
    const chunks: Buffer[] = []
    request.on('data', (chunk: Buffer) => chunks.push(chunk))
    request.on('end', () => {
      keyServer.requests += 1
      const next = planned.shift()
      if (next === 'silence') return
      const { status, body } = next ?? answer(request, Buffer.concat(chunks).toString('utf8'))
      response.writeHead(status, { 'content-type': 'application/json' }).end(JSON.stringify(body))
    })
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  const keyServer: KeyServer = {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    requests: 0,
    misbehave: (...answers) => void planned.push(...answers),
    close: () =>
      new Promise((resolve) => {
        server.close(() => resolve())
        server.closeAllConnections()
      }),
  }
  return keyServer
}

function gcmSeal(key: Buffer, additional: Buffer, plain: Buffer): Buffer {
  const nonce = randomBytes(12)
  const cipher = createCipheriv('aes-256-gcm', key, nonce).setAAD(additional)
  return Buffer.concat([nonce, cipher.update(plain), cipher.final(), cipher.getAuthTag()])
}

function gcmOpen(key: Buffer, additional: Buffer, sealed: Buffer): Buffer {
  const decipher = createDecipheriv('aes-256-gcm', key, sealed.subarray(0, 12))
  decipher.setAAD(additional).setAuthTag(sealed.subarray(-16))
  return Buffer.concat([decipher.update(sealed.subarray(12, -16)), decipher.final()])
}

/** Like the real one: a key made with `derived` mixes the context in, any other ignores it. */
export function startTransitServer(options: {
  token: string
  key: string
  derived: boolean
  checksAssociated?: boolean
}) {
  const master = randomBytes(32)
  return startKeyServer((request, text) => {
    if (request.headers['x-vault-token'] !== options.token)
      return { status: 403, body: { errors: ['permission denied'] } }
    const [, verb, name] = /^\/v1\/transit\/(encrypt|decrypt)\/([^/]+)$/.exec(request.url ?? '') ?? []
    if (name !== options.key) return { status: 400, body: { errors: ['encryption key not found'] } }
    const input = JSON.parse(text) as Record<string, string>
    const context = Buffer.from(input['context'] ?? '', 'base64')
    const associated = options.checksAssociated === false ? '' : (input['associated_data'] ?? '')
    const key = options.derived ? Buffer.from(hkdfSync('sha256', master, '', context, 32)) : master
    try {
      if (verb === 'encrypt') {
        const sealed = gcmSeal(key, Buffer.from(associated, 'base64'), Buffer.from(input['plaintext'] ?? '', 'base64'))
        return { status: 200, body: { data: { ciphertext: `vault:v1:${sealed.toString('base64')}`, key_version: 1 } } }
      }
      const sealed = Buffer.from((input['ciphertext'] ?? '').replace('vault:v1:', ''), 'base64')
      const plain = gcmOpen(key, Buffer.from(associated, 'base64'), sealed)
      return { status: 200, body: { data: { plaintext: plain.toString('base64') } } }
    } catch {
      return { status: 400, body: { errors: ['cipher: message authentication failed'] } }
    }
  })
}

export interface KmsIdentity {
  accessKeyId: string
  secretAccessKey: string
  region: string
  keyId: string
}

/** Checks the signature from the request as it came over the wire, by the published steps and none of our code. */
function isSigned(
  request: IncomingMessage,
  body: string,
  { accessKeyId, secretAccessKey, region }: KmsIdentity,
): boolean {
  const pattern =
    /^AWS4-HMAC-SHA256 Credential=([^/]+)\/(\d{8})\/([^/]+)\/kms\/aws4_request, SignedHeaders=([a-z0-9;-]+), Signature=([0-9a-f]{64})$/
  const [, id, date = '', where, names = '', signature] = pattern.exec(request.headers.authorization ?? '') ?? []
  const moment = String(request.headers['x-amz-date'])
  if (id !== accessKeyId || where !== region || !moment.startsWith(date)) return false
  for (const needed of ['host', 'x-amz-date', 'x-amz-target']) if (!names.split(';').includes(needed)) return false
  const instant = moment.replace(/^(\d{4})(\d\d)(\d\d)T(\d\d)(\d\d)(\d\d)Z$/, '$1-$2-$3T$4:$5:$6Z')
  if (!(Math.abs(Date.parse(instant) - Date.now()) < 5 * 60_000)) return false
  const headerLines = names.split(';').map((name) => `${name}:${String(request.headers[name])}\n`)
  const payload = createHash('sha256').update(body).digest('hex')
  const canonical = `POST\n${request.url}\n\n${headerLines.join('')}\n${names}\n${payload}`
  const digest = createHash('sha256').update(canonical).digest('hex')
  const toSign = `AWS4-HMAC-SHA256\n${moment}\n${date}/${region}/kms/aws4_request\n${digest}`
  let key = Buffer.from(`AWS4${secretAccessKey}`)
  for (const part of [date, region, 'kms', 'aws4_request']) key = createHmac('sha256', key).update(part).digest()
  return createHmac('sha256', key).update(toSign).digest('hex') === signature
}

export function startKmsServer(identity: KmsIdentity) {
  const master = randomBytes(32)
  const refuse = (type: string, message: string) => ({ status: 400, body: { __type: type, message } })
  return startKeyServer((request, text) => {
    if (request.headers['content-type'] !== 'application/x-amz-json-1.1')
      return refuse('SerializationException', 'type')
    if (!isSigned(request, text, identity)) {
      return refuse('InvalidSignatureException', 'The request signature we calculated does not match')
    }
    const input = JSON.parse(text) as Record<string, string> & { EncryptionContext?: Record<string, string> }
    if (input['KeyId'] !== identity.keyId) return refuse('NotFoundException', 'Key does not exist')
    const context = Buffer.from(
      JSON.stringify(
        Object.entries(input.EncryptionContext ?? {})
          .map(String)
          .toSorted(),
      ),
    )
    switch (String(request.headers['x-amz-target'])) {
      case 'TrentService.Encrypt': {
        const blob = gcmSeal(master, context, Buffer.from(input['Plaintext'] ?? '', 'base64'))
        return { status: 200, body: { KeyId: identity.keyId, CiphertextBlob: blob.toString('base64') } }
      }
      case 'TrentService.Decrypt': {
        try {
          const plain = gcmOpen(master, context, Buffer.from(input['CiphertextBlob'] ?? '', 'base64'))
          return { status: 200, body: { KeyId: identity.keyId, Plaintext: plain.toString('base64') } }
        } catch {
          return refuse('InvalidCiphertextException', '')
        }
      }
      default:
        return refuse('UnknownOperationException', '')
    }
  })
}
