import { createPrivateKey, createPublicKey, type JsonWebKey } from 'node:crypto'
import { mkdtemp, rm } from 'node:fs/promises'
import { Agent, request } from 'node:http'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { expect, onTestFinished, test } from 'vitest'
import { signToken } from './sign-token.ts'
import { roleIds } from './api.ts'
import { prepareDatabase, queryOn, startTalkativeCluster } from './deployment.ts'
import { dumpTables, readServerFiles, takeSnapshot, watchHeap } from './leak-scan.ts'
import { apiEnvironment, startProcess, type TestProcess } from './processes.ts'

interface CreatedPair {
  algorithm: string
  privateKeyPem: string
  publicKeyPem: string
}

/** The lines of base64 between the markers. */
const bodyLines = (pem: string) => pem.split('\n').filter((line) => line !== '' && !line.startsWith('-----'))

/** Every text that would give the private half away, whole or in part, however it was written down. */
function traces({ privateKeyPem, publicKeyPem }: CreatedPair): string[] {
  const publicBody = bodyLines(publicKeyPem).join('')
  const { d, p, q, dp, dq, qi }: JsonWebKey = createPrivateKey(privateKeyPem).export({ format: 'jwk' })
  const numbers = [d, p, q, dp, dq, qi].flatMap((value) =>
    value === undefined ? [] : [Buffer.from(value, 'base64url')],
  )
  const written = numbers.flatMap((bytes) => [
    bytes.toString('base64url'),
    bytes.toString('base64').replace(/=+$/, ''),
    bytes.toString('hex'),
    bytes.toString('hex').toUpperCase(),
  ])
  // An RSA private key repeats the modulus, which is public. Short last lines could be anywhere by chance.
  const lines = bodyLines(privateKeyPem).filter((line) => line.length >= 32 && !publicBody.includes(line))
  return [...new Set([...lines, ...written])]
}

const findTraces = (pairs: readonly CreatedPair[], text: string | Buffer) =>
  pairs.flatMap((pair) =>
    traces(pair)
      .filter((trace) => text.includes(trace))
      .map((trace) => `${pair.algorithm}: ${trace}`),
  )

/** How many of the pairs have their public half in the text: shows that the text is the right one, and is searched. */
const countPublic = (pairs: readonly CreatedPair[], text: string | Buffer) =>
  pairs.filter(({ publicKeyPem }) => bodyLines(publicKeyPem).some((line) => text.includes(line))).length

interface Client {
  server: TestProcess
  agent: Agent
  token: string
}

function send(
  { server, agent, token }: Client,
  method: string,
  path: string,
  body?: object,
): Promise<{ status: number; text: string }> {
  return new Promise((resolve, reject) => {
    const headers = { authorization: `Bearer ${token}`, ...(body && { 'content-type': 'application/json' }) }
    const sent = request(server.url + path, { method, agent, headers }, (response) => {
      const chunks: Buffer[] = []
      response.on('data', (chunk: Buffer) => chunks.push(chunk))
      response.on('end', () => resolve({ status: response.statusCode ?? 0, text: Buffer.concat(chunks).toString() }))
    })
    sent.on('error', reject)
    sent.end(body && JSON.stringify(body))
  })
}

async function create(client: Client, algorithm: string): Promise<CreatedPair> {
  const body = { display_name: 'Shop', role_ids: [roleIds.full], algorithm }
  const { status, text } = await send(client, 'POST', '/api-key-pairs', body)
  expect(status).toBe(201)
  const { private_key: privateKeyPem } = JSON.parse(text) as { private_key: string }
  const publicKeyPem = createPublicKey(privateKeyPem).export({ type: 'spki', format: 'pem' }).toString()
  return { algorithm, privateKeyPem, publicKeyPem }
}

test('the private half of a key pair is in the answer to its creation and nowhere else', {
  timeout: 90_000,
}, async () => {
  const folder = await mkdtemp(join(tmpdir(), 'florin-heap-'))
  onTestFinished(() => rm(folder, { recursive: true, force: true }))
  const plant = 'kept-on-purpose-1d1c9a'
  const heap = await watchHeap(folder, plant)
  const cluster = await startTalkativeCluster()
  const keyPair = await prepareDatabase(cluster, 'keys')
  const query = queryOn(cluster, 'keys')
  const environment = {
    ...apiEnvironment(cluster.url({ user: 'florin_api', database: 'keys' })),
    ...heap.environment,
    FLORIN_LOG_LEVEL: 'debug',
  }
  const server = await startProcess('src/main/api.ts', environment, heap.options)

  const agent = new Agent({ keepAlive: true, maxSockets: 4 })
  onTestFinished(() => agent.destroy())
  const client = { server, agent, token: await signToken({ privateKeyPem: keyPair.privateKeyPem }) }
  const algorithms = Array.from({ length: 6 }, (_, index) => (index % 3 === 0 ? 'RSA' : 'ECDSA'))
  const pairs = await Promise.all(algorithms.map((algorithm) => create(client, algorithm)))
  // The same connections go on with other things, as they would.
  for (let round = 0; round < 10; round += 1) {
    await Promise.all(
      ['/roles', '/api-key-pairs', '/roles?limit=1', '/nothing'].map((path) => send(client, 'GET', path)),
    )
  }

  const answer = pairs.map(({ privateKeyPem }) => privateKeyPem).join()
  expect(new Set(findTraces(pairs, answer).map((trace) => trace.split(':')[0]))).toEqual(new Set(['RSA', 'ECDSA']))

  const tables = [...(await dumpTables(query)).values()].join('\n')
  expect(countPublic(pairs, tables)).toBe(pairs.length)
  expect(findTraces(pairs, tables)).toEqual([])
  expect(tables).not.toContain('PRIVATE KEY')

  const files = await readServerFiles(query)
  for (const file of Object.values(files)) {
    expect(countPublic(pairs, file)).toBe(pairs.length)
    expect(findTraces(pairs, file)).toEqual([])
  }

  const snapshot = await takeSnapshot(server, heap.snapshotPath)
  const output = server.output()
  expect(output).toContain('"operation":"createAPIKeyPair"')
  expect(findTraces(pairs, output)).toEqual([])
  expect(output).not.toContain('PRIVATE KEY')

  expect(snapshot).toContain(plant)
  expect(snapshot).toContain('createAPIKeyPair')
  process.stdout.write(
    `private keys: ${pairs.length} pairs; searched ${tables.length} characters of tables, ` +
      `${Object.values(files).reduce((sum, { length }) => sum + length, 0)} bytes of files, ${output.length} characters of ` +
      `output, ${snapshot.length} characters of heap; public halves in the heap: ${countPublic(pairs, snapshot)}\n`,
  )
  expect(findTraces(pairs, snapshot)).toEqual([])
  // The words alone are in our own sources; a key would follow them.
  expect(snapshot.match(/PRIVATE KEY-----[\s\\rn]*[A-Za-z0-9+/]{20}/)).toBeNull()
})
