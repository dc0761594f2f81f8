import { randomUUID } from 'node:crypto'
import { writeFileSync } from 'node:fs'
import { connect as connectPlain } from 'node:net'
import { join } from 'node:path'
import { type ConnectionOptions, connect as connectTls } from 'node:tls'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { startVault, type VaultProcess } from '../src/main/vault.ts'
import { connectVault, type Vault, VaultUnavailableError } from '../src/vault/client.ts'
import type { TlsIdentity } from '../src/vault/protocol.ts'
import { makeAuthority } from './certificates.ts'
import { useDatabase } from './database.ts'
import { makeCardNumber, useFolder, vaultConfig, writeKeyFile } from './vault.ts'

const database = useDatabase()
const folder = useFolder()
const ours = makeAuthority('our authority')
const foreign = makeAuthority('our authority')
const logs: string[] = []
const clients: Vault[] = []
let vault: VaultProcess

function writeFiles({ ca, cert, key }: TlsIdentity): { vaultTlsCa: string; vaultTlsCert: string; vaultTlsKey: string } {
  const write = (name: string, text: string) => {
    writeFileSync(join(folder, name), text)
    return join(folder, name)
  }
  return { vaultTlsCa: write('ca', ca), vaultTlsCert: write('cert', cert), vaultTlsKey: write('tls-key', key) }
}

beforeAll(async () => {
  const files = writeFiles({ ca: ours.ca, ...ours.issue('vault') })
  const listen = 'tls://127.0.0.1:0'
  const config = vaultConfig(database.url('florin_vault'), { keyFile: writeKeyFile(folder), listen }, files)
  vault = await startVault(config, (line) => logs.push(line))
})
afterAll(async () => {
  for (const client of clients) await client.close()
  await vault.close()
})

function connect(tls: TlsIdentity, url = vault.url): Vault {
  const client = connectVault({ url, tls, timeoutMs: 10_000 })
  clients.push(client)
  return client
}
const reference = { merchantAccountId: 'default', id: randomUUID() }
const address = () => ({ host: '127.0.0.1', port: Number(vault.url.split(':').at(-1)) })

/** What comes back for a request sent over a raw connection, and whether it was cut off. */
async function rawRequest(
  options: Partial<TlsIdentity> & Pick<ConnectionOptions, 'minVersion' | 'maxVersion' | 'ciphers'>,
): Promise<string> {
  const socket = connectTls({ ...address(), ca: ours.ca, ...options })
  let text = ''
  socket.on('data', (chunk: Buffer) => (text += chunk.toString()))
  socket.on('error', (error: NodeJS.ErrnoException) => (text += `error ${error.code} ${error.message}`))
  socket.write('POST /v1/listKeys HTTP/1.1\r\nhost: v\r\nconnection: close\r\ncontent-length: 3\r\n\r\n{}\n')
  await new Promise((resolve) => socket.once('close', resolve))
  return text
}

test('with a certificate of our authority cards go in and out, and the audit line names its subject', async () => {
  const client = connect({ ca: ours.ca, ...ours.issue('api-1') })
  const number = makeCardNumber()
  await client.storeCard(reference, number)
  expect(await client.readCard(reference)).toBe(number)
  const audits = logs
    .filter((line) => line.includes('"audit":true'))
    .map((line) => JSON.parse(line) as { caller: string })
  expect(audits.map(({ caller }) => caller)).toEqual(['api-1'])
})

test('the control: a raw request with a certificate is answered', async () => {
  expect(await rawRequest(ours.issue('raw'))).toMatch(/^HTTP\/1\.1 200 /)
})

test('without a certificate nothing is answered', async () => {
  const answer = await rawRequest({})
  expect(answer).not.toContain('HTTP/1.1')
  expect(answer).toMatch(/CERTIFICATE_REQUIRED|ECONNRESET|EPIPE/)
})

test('with a certificate of a foreign authority of the same name nothing is answered', async () => {
  expect(await rawRequest(foreign.issue('api-1'))).not.toContain('HTTP/1.1')
  const client = connect({ ca: ours.ca, ...foreign.issue('api-1') })
  await expect(client.readCard(reference)).rejects.toThrow(VaultUnavailableError)
})

test('a client does not talk to a vault whose certificate is of a foreign authority, or for another host', async () => {
  await expect(connect({ ca: foreign.ca, ...ours.issue('api-1') }).readCard(reference)).rejects.toThrow(
    VaultUnavailableError,
  )
  const { port } = address()
  const elsewhere = connect({ ca: ours.ca, ...ours.issue('api-1') }, `tls://127.0.0.2:${port}`)
  await expect(elsewhere.readCard(reference)).rejects.toThrow(VaultUnavailableError)
})

test('TLS older than 1.2 and plain HTTP are not spoken', async () => {
  const old = { minVersion: 'TLSv1.1', maxVersion: 'TLSv1.1', ciphers: 'DEFAULT@SECLEVEL=0' } as const
  expect(await rawRequest({ ...ours.issue('old'), ...old })).toMatch(/^error .*alert protocol version/s)
  expect(await rawRequest({ ...ours.issue('new'), maxVersion: 'TLSv1.2' })).toMatch(/^HTTP\/1\.1 200 /)
  const socket = connectPlain(address())
  let text = ''
  socket.on('data', (chunk: Buffer) => (text += chunk.toString()))
  socket.on('error', () => undefined)
  socket.write('POST /v1/listKeys HTTP/1.1\r\nhost: v\r\ncontent-length: 3\r\n\r\n{}\n')
  await new Promise((resolve) => socket.once('close', resolve))
  expect(text).not.toContain('200')
})

test('tls:// without its three files is a problem of the configuration', async () => {
  const config = vaultConfig(database.url('florin_vault'), { keyFile: 'unused', listen: 'tls://127.0.0.1:0' })
  await expect(startVault({ ...config, vaultTlsCa: '/nowhere' })).rejects.toThrow(
    /FLORIN_VAULT_TLS_CA names a file that cannot be read.*FLORIN_VAULT_TLS_CERT is not set.*FLORIN_VAULT_TLS_KEY is not set/s,
  )
})
