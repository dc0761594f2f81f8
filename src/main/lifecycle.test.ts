import { once } from 'node:events'
import { type AddressInfo, createServer } from 'node:net'
import { TLSSocket } from 'node:tls'
import { expect, onTestFinished, test } from 'vitest'
import { makeAuthority } from '../../test/certificates.ts'
import { useDatabase } from '../../test/database.ts'
import { databaseAdvice } from '../platform/database-advice.ts'
import { connect } from '../platform/postgres.ts'
import { databaseProblems } from './lifecycle.ts'

const database = useDatabase()
const empty = useDatabase({ template: 'template0' })

async function problemsAt(url: string, process: 'api' | 'worker' | 'vault' = 'api'): Promise<string> {
  const db = connect({ url, applicationName: 'test', poolSize: 1, onError: () => undefined })
  try {
    return (await databaseProblems(db, process)).join('; ')
  } finally {
    await db.close()
  }
}

test.each(['api', 'worker', 'vault'] as const)('%s is ready as its own role on a migrated database', async (name) => {
  expect(await problemsAt(database.url(`florin_${name}`), name)).toBe('')
})

test('a process that is somebody else in the database is not ready, an administrator least of all', async () => {
  expect(await problemsAt(database.url('florin_worker'))).toBe(
    'the database role is florin_worker and must be florin_api: correct DATABASE_URL',
  )
  expect(await problemsAt(database.url('florin_admin'))).toMatch(/role is florin_admin/)
})

test('a database that was never migrated is not taken for one that is away', async () => {
  expect(await problemsAt(empty.url('florin_api'))).toBe('the database has no Florin tables yet. Run "florin migrate".')
})

test('what keeps a process out of the database is said, each with what mends it', async () => {
  const url = database.url('florin_api')
  expect(await problemsAt('postgresql://florin_api@127.0.0.1:1/none')).toMatch(/nothing listens there. Start/)
  expect(await problemsAt(url.replace(/florin_test_\w+/, 'no_such'))).toMatch(/does not exist. Create it/)
  expect(await problemsAt(url.replace('florin_api', 'nobody_here'))).toMatch(/refuses the user name/)
  expect(await problemsAt(`${url}?sslmode=verify-full`)).toMatch(/does not speak TLS. Switch it on/)
  expect(await problemsAt(`${url}?sslmode=verify-full&sslrootcert=/no/such.pem`)).toMatch(
    /\/no\/such.pem cannot be read. Correct "sslrootcert"/,
  )
  expect(await problemsAt(await serverWithCertificate())).toMatch(/not trusted .* Add "&sslrootcert=FILE"/)
  const refusal = 'no pg_hba.conf entry for host "10.0.0.7", user "florin_api", database "florin", no encryption'
  expect(databaseAdvice(Object.assign(new Error(refusal), { code: '28000' }))).toMatch(
    /If it wants TLS, add "\?sslmode=verify-full"/,
  )
})

/** Says yes to TLS, as PostgreSQL does, with a certificate of an authority that nobody knows. */
async function serverWithCertificate(): Promise<string> {
  const identity = makeAuthority('Nobody').issue('localhost')
  const server = createServer((socket) => {
    socket.on('error', () => undefined)
    socket.once('data', () => {
      socket.write('S')
      new TLSSocket(socket, { isServer: true, ...identity }).on('error', () => undefined)
    })
  }).listen(0, '127.0.0.1')
  await once(server, 'listening')
  onTestFinished(() => void server.close())
  return `postgresql://florin_api@127.0.0.1:${(server.address() as AddressInfo).port}/florin?sslmode=verify-full`
}
