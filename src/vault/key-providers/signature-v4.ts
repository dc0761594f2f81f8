import { createHash, createHmac } from 'node:crypto'

export interface SignableRequest {
  method: string
  url: URL
  headers: Readonly<Record<string, string>>
  body: string
}

export interface SigningIdentity {
  accessKeyId: string
  secretAccessKey: string
  region: string
  service: string
}

const sha256 = (text: string) => createHash('sha256').update(text).digest('hex')
const hmac = (key: string | Buffer, text: string) => createHmac('sha256', key).update(text).digest()

/** The headers of a request with its signature (AWS Signature Version 4). There is no query string in what we send. */
export function signRequest(
  { method, url, headers, body }: SignableRequest,
  { accessKeyId, secretAccessKey, region, service }: SigningIdentity,
  now: Date,
): Record<string, string> {
  const moment = now.toISOString().replaceAll(/[-:]|\.\d{3}/g, '')
  const day = moment.slice(0, 8)
  const signed: Record<string, string> = { ...headers, host: url.host, 'x-amz-date': moment }
  const names = Object.keys(signed).sort()
  const canonical = [
    method,
    url.pathname,
    '',
    ...names.map((name) => `${name}:${signed[name]?.trim()}`),
    '',
    names.join(';'),
    sha256(body),
  ].join('\n')
  const scope = [day, region, service, 'aws4_request'].join('/')
  const toSign = ['AWS4-HMAC-SHA256', moment, scope, sha256(canonical)].join('\n')
  const key = [day, region, service, 'aws4_request'].reduce<string | Buffer>(hmac, `AWS4${secretAccessKey}`)
  const signature = hmac(key, toSign).toString('hex')
  // The client sets `host` itself.
  const { host: _, ...sent } = signed
  const credential = `Credential=${accessKeyId}/${scope}`
  return {
    ...sent,
    authorization: `AWS4-HMAC-SHA256 ${credential}, SignedHeaders=${names.join(';')}, Signature=${signature}`,
  }
}
