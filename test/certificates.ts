import { generateKeyPairSync, type KeyObject, randomBytes, sign } from 'node:crypto'

/** Just enough of X.509 to make certificates for tests: no program is needed, and no private key lies in the repository. */

const der = (tag: number, ...parts: readonly Buffer[]): Buffer => {
  const body = Buffer.concat(parts)
  const length =
    body.length < 128
      ? Buffer.from([body.length])
      : body.length < 256
        ? Buffer.from([0x81, body.length])
        : Buffer.from([0x82, body.length >> 8, body.length & 255])
  return Buffer.concat([Buffer.from([tag]), length, body])
}
const sequence = (...parts: readonly Buffer[]) => der(0x30, ...parts)
const oid = (hex: string) => der(0x06, Buffer.from(hex, 'hex'))
const octets = (content: Buffer) => der(0x04, content)
const yes = der(0x01, Buffer.from([0xff]))
const time = (date: Date) =>
  der(
    0x17,
    Buffer.from(
      date
        .toISOString()
        .replaceAll(/[-:T]|\.\d{3}/g, '')
        .slice(2),
    ),
  )
const name = (commonName: string) => sequence(der(0x31, sequence(oid('550403'), der(0x0c, Buffer.from(commonName)))))
const ecdsaWithSha256 = sequence(oid('2a8648ce3d040302'))

export interface Identity {
  cert: string
  key: string
}

export interface Authority {
  ca: string
  issue(commonName: string): Identity
}

function makeCertificate(options: {
  subject: string
  publicKey: KeyObject
  issuer: string
  issuerKey: KeyObject
  isAuthority: boolean
}): string {
  const day = 24 * 60 * 60 * 1000
  const extensions = options.isAuthority
    ? [sequence(oid('551d13'), yes, octets(sequence(yes)))]
    : [
        sequence(
          oid('551d11'),
          octets(sequence(der(0x82, Buffer.from('localhost')), der(0x87, Buffer.from([127, 0, 0, 1])))),
        ),
      ]
  const toSign = sequence(
    der(0xa0, der(0x02, Buffer.from([2]))),
    der(0x02, Buffer.concat([Buffer.from([1]), randomBytes(8)])),
    ecdsaWithSha256,
    name(options.issuer),
    sequence(time(new Date(Date.now() - day)), time(new Date(Date.now() + day))),
    name(options.subject),
    options.publicKey.export({ type: 'spki', format: 'der' }),
    der(0xa3, sequence(...extensions)),
  )
  const signature = sign('sha256', toSign, options.issuerKey)
  const bytes = sequence(toSign, ecdsaWithSha256, der(0x03, Buffer.from([0]), signature))
  const lines = bytes.toString('base64').replaceAll(/(.{64})/g, '$1\n')
  return `-----BEGIN CERTIFICATE-----\n${lines}\n-----END CERTIFICATE-----\n`
}

export function makeAuthority(commonName: string): Authority {
  const own = generateKeyPairSync('ec', { namedCurve: 'P-256' })
  const common = { issuer: commonName, issuerKey: own.privateKey }
  return {
    ca: makeCertificate({ ...common, subject: commonName, publicKey: own.publicKey, isAuthority: true }),
    issue(subject) {
      const pair = generateKeyPairSync('ec', { namedCurve: 'P-256' })
      return {
        cert: makeCertificate({ ...common, subject, publicKey: pair.publicKey, isAuthority: false }),
        key: String(pair.privateKey.export({ type: 'pkcs8', format: 'pem' })),
      }
    },
  }
}
