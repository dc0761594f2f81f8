import { execFile } from 'node:child_process'
import { generateKeyPairSync } from 'node:crypto'
import { existsSync } from 'node:fs'
import { mkdtemp, readFile, rm, stat, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { decodeJwt } from 'jose'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { useDatabase } from '../../test/database.ts'
import { loadSigningKey } from '../areas/api-key-pairs/operations.ts'
import { listMigrations } from '../platform/migrations.ts'
import { withDatabase } from './database-url.ts'
import { root } from './repository.ts'

const database = useDatabase()
const empty = useDatabase({ template: 'template0' })
let folder = ''

beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'florin-test-'))
})
afterAll(() => rm(folder, { recursive: true, force: true }))

interface Outcome {
  code: number
  stdout: string
  stderr: string
}

function florin(args: string[], environment: NodeJS.ProcessEnv = {}): Promise<Outcome> {
  const inherited = Object.entries(process.env).filter(([name]) => !/^(DATABASE|FLORIN)_/.test(name))
  const env = { ...Object.fromEntries(inherited), ...environment }
  return new Promise((resolve) => {
    execFile(process.execPath, [join(root, 'src/main/florin.ts'), ...args], { env }, (error, stdout, stderr) =>
      resolve({ code: error ? Number(error.code ?? 1) : 0, stdout, stderr }),
    )
  })
}

const asApi = () => ({ DATABASE_URL: database.url('florin_api') })
const parse = (text: string) => JSON.parse(text) as Record<string, unknown>

describe('every command', () => {
  test.each([
    'dev',
    'demo',
    'migrate',
    'keys',
    'keys create',
    'token',
    'vault',
    'vault keys',
    'vault keys list',
    'vault keys rotate',
    'vault keys rewrap',
    'vault keys destroy',
    'bins',
    'verify',
    'clock',
    'clock show',
    'clock advance',
    'listen',
    'trigger',
    'events',
    'events resend',
    'doctor',
    'completion',
  ])('%s explains itself', async (command) => {
    const { code, stdout } = await florin([...command.split(' '), '--help'])
    expect(code).toBe(0)
    expect(stdout).toMatch(/Examples?:\n {2}\$ /)
  })

  test('a command that does not exist is answered with the one that was meant', async () => {
    const { code, stderr } = await florin(['mirgate'])
    expect(code).toBe(1)
    expect(stderr).toContain('Did you mean migrate?')
  })

  test('the version is that of the package', async () => {
    const { version } = parse(await readFile(join(root, 'package.json'), 'utf8'))
    expect((await florin(['--version'])).stdout).toBe(`${String(version)}\n`)
  })

  test.each([
    [{ DATABASE_URL: 'postgresql://u:hidden@127.0.0.1:1/florin' }, /nothing listens there\. Start PostgreSQL/],
    [{ DATABASE_URL: 'mysql://u:hidden@localhost' }, /DATABASE_URL must match/],
  ])('a database that cannot be used is explained, without its password', async (environment, message) => {
    for (const command of [['migrate'], ['keys', 'create', '--name', 'x']]) {
      const outcome = await florin(command, environment)
      expect(outcome).toMatchObject({ code: 1, stdout: '', stderr: expect.stringMatching(message) })
      expect(outcome.stderr).not.toContain('hidden')
    }
    const { stdout, stderr } = await florin(['migrate', '--status', '--json'], environment)
    expect(stdout).toBe('')
    expect(parse(stderr)['error']).toMatch(message)
  })
})

describe('migrate', () => {
  test('applies what is missing, once, and --status tells without applying', async () => {
    const environment = { DATABASE_URL: empty.url() }
    const names = listMigrations().map(({ name }) => name)

    expect(parse((await florin(['migrate', '--status', '--json'], environment)).stdout)).toEqual({
      applied: [],
      missing: names,
    })
    expect((await florin(['migrate', '--status'], environment)).stdout).toContain(`missing  ${names[0]}`)

    const first = await florin(['migrate'], environment)
    expect(first.stdout).toContain(`applying ${names[0]}\n`)
    expect(first.stdout).toContain(`${names.length} migration(s) applied`)
    expect(parse((await florin(['migrate', '--json'], environment)).stdout)).toEqual({ applied: [] })

    const status = parse((await florin(['migrate', '--status', '--json'], environment)).stdout)
    expect(status['missing']).toEqual([])
    expect(status['applied']).toHaveLength(names.length)
  })
})

describe('keys create', () => {
  test('writes a private key that only its owner can read, and never over another', async () => {
    const file = join(folder, 'shop.pem')
    const { code, stdout } = await florin(['keys', 'create', '--name', 'Shop', '--out', file, '--json'], asApi())
    expect(code).toBe(0)
    const { thumbprint, private_key_file } = parse(stdout)
    expect(private_key_file).toBe(file)
    expect((await stat(file)).mode & 0o777).toBe(0o600)
    expect(
      await withDatabase(database.url('florin_api'), (db) => loadSigningKey(db, String(thumbprint))),
    ).toMatchObject({
      displayName: 'Shop',
      algorithm: 'ECDSA',
      active: true,
      reach: 'all',
      permissions: ['*.read', '*.write'],
    })

    const before = await readFile(file, 'utf8')
    const again = await florin(['keys', 'create', '--name', 'Shop', '--out', file], asApi())
    expect(again).toMatchObject({ code: 1, stderr: expect.stringContaining('exists already and is not overwritten') })
    expect(await readFile(file, 'utf8')).toBe(before)
    expect(await database.query('select from api_key_pairs')).toHaveLength(1)

    const token = parse((await florin(['token', '--key', file, '--json'])).stdout)
    expect(token['thumbprint']).toBe(thumbprint)
  })

  test('without --out the private key alone is on standard output', async () => {
    const args = ['keys', 'create', '--name', 'Till', '--algorithm', 'RSA', '--role', 'processing']
    const { stdout, stderr } = await florin(args, asApi())
    expect(stdout).toMatch(/^-----BEGIN PRIVATE KEY-----\n[\s\S]+-----END PRIVATE KEY-----\n$/)
    expect(stderr).toMatch(/^key pair [0-9a-f-]{36}\nthumbprint \S{43}\n$/)
  })

  test.each([
    [['--name', 'x', '--role', 'king'], /no role "king" for key pairs\. Choose among: .*full-access/],
    [['--name', 'x', '--account', 'nowhere'], /There is no merchant account "nowhere"/],
    [['--name', 'x', '--algorithm', 'DSA'], /Allowed choices are ECDSA, RSA/],
    [['--name', ''], /--name must have 1 to 200 characters/],
    [[], /required option '--name <name>' not specified/],
  ])('%j is refused', async (args, message) => {
    const file = join(folder, 'refused.pem')
    const outcome = await florin(['keys', 'create', ...args, '--out', file], asApi())
    expect(outcome).toMatchObject({ code: 1, stdout: '', stderr: expect.stringMatching(message) })
    expect(existsSync(file)).toBe(false)
  })

  test('a database without tables is sent to florin migrate', async () => {
    const { stderr } = await florin(['keys', 'create', '--name', 'x'], {
      DATABASE_URL: database.url().replace(/[^/]+$/, 'postgres'),
    })
    expect(stderr).toContain('Run "florin migrate"')
  })
})

describe('token', () => {
  const write = async (name: string, curve: string) => {
    const { privateKey } = generateKeyPairSync('ec', { namedCurve: curve })
    await writeFile(join(folder, name), privateKey.export({ type: 'pkcs8', format: 'pem' }))
    return join(folder, name)
  }

  test('prints nothing but the token, with the scopes and lifetime that were asked for', async () => {
    const key = await write('good.pem', 'P-521')
    const usual = await florin(['token', '--key', key])
    expect(usual.stdout).toMatch(/^\S+\n$/)
    const claims = decodeJwt(usual.stdout.trim())
    expect(claims).toMatchObject({ scopes: ['*.read', '*.write'], iss: 'florin command line' })
    expect((claims.exp ?? 0) - (claims.iat ?? 0)).toBe(3_600)

    const args = ['--scope', 'buyers.read', '--scope', 'embed', '--expires', '15m']
    const other = decodeJwt((await florin(['token', '--key', key, ...args])).stdout.trim())
    expect(other).toMatchObject({ scopes: ['buyers.read', 'embed'] })
    expect((other.exp ?? 0) - (other.iat ?? 0)).toBe(900)
  })

  test('signs tokens for browsers: pinned values, and the checkout session that payments belong to', async () => {
    const key = await write('browser.pem', 'P-521')
    const session = '5f1c2a77-1a8e-4e6c-9a1f-0d9b6c1f2e3d'
    const pins = ['amount=1299', 'currency=EUR', 'buyer_external_identifier=a=b', 'metadata={"order":"4711"}']
    const args = [...pins.flatMap((pin) => ['--pin', pin]), '--checkout-session', session]
    const claims = decodeJwt((await florin(['token', '--key', key, ...args])).stdout.trim())
    expect(claims).toMatchObject({
      scopes: ['embed'],
      embed: { amount: 1299, currency: 'EUR', buyer_external_identifier: 'a=b', metadata: { order: '4711' } },
      checkout_session_id: session,
    })
    const plain = decodeJwt((await florin(['token', '--key', key, '--scope', 'embed'])).stdout.trim())
    expect(plain).not.toHaveProperty('embed')
    expect(plain).not.toHaveProperty('checkout_session_id')
  })

  test.each([
    [['--pin', 'amount'], /write name=value/],
    [['--pin', 'colour=red'], /What can be pinned: amount, currency/],
    [['--pin', 'amount=twelve'], /not what amount can be/],
    [['--pin', 'metadata={"order":1}'], /not what metadata can be/],
    [['--pin', 'buyer_external_identifier=a', '--pin', 'buyer_id=5f1c2a77-1a8e-4e6c-9a1f-0d9b6c1f2e3d'], /one name/],
    [['--pin', 'amount=1', '--scope', '*.read'], /say --scope embed/],
    [['--checkout-session', 'x'], /not the id of a checkout session/],
    [['--expires', '25h'], /at most 24h/],
    [['--expires', '0s'], /30s, 15m, 24h/],
    [['--expires', 'tomorrow'], /30s, 15m, 24h/],
    [['--scope', 'everything'], /There is no such scope/],
    [['--key', '/nowhere/key.pem'], /There is no file \/nowhere\/key\.pem/],
    [['--key', join(root, 'package.json')], /is not a private key in PEM/],
  ])('%j is refused', async (args, message) => {
    expect(await florin(['token', ...args])).toMatchObject({
      code: 1,
      stdout: '',
      stderr: expect.stringMatching(message),
    })
  })

  test('a key in an older form of PEM signs, too', async () => {
    const { privateKey } = generateKeyPairSync('ec', { namedCurve: 'P-521' })
    const key = join(folder, 'older.pem')
    await writeFile(key, privateKey.export({ type: 'sec1', format: 'pem' }))
    expect((await florin(['token', '--key', key])).stdout).toMatch(/^\S+\.\S+\.\S+\n$/)
  })

  test('a key of another curve is refused', async () => {
    const { code, stderr } = await florin(['token', '--key', await write('p256.pem', 'P-256')])
    expect(code).toBe(1)
    expect(stderr).toContain('nor an EC key of the curve P-521')
  })
})
