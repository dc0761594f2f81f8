import { execFile } from 'node:child_process'
import { join } from 'node:path'
import { beforeAll, expect, test } from 'vitest'
import { useApi } from '../../../test/api.ts'
import { makeService, payOnce } from '../../../test/every-state.ts'
import { root } from '../repository.ts'

const api = useApi()
let id = ''

beforeAll(async () => {
  await makeService(api.request)
  id = await payOnce(api.request)
})

function verify(args: string[] = [], url = api.database.url('florin_worker')) {
  const inherited = Object.entries(process.env).filter(([name]) => !/^(DATABASE|FLORIN)_/.test(name))
  const env = { ...Object.fromEntries(inherited), DATABASE_URL: url }
  return new Promise<{ code: number; stdout: string; stderr: string }>((resolve) => {
    execFile(
      process.execPath,
      [join(root, 'src/main/florin.ts'), 'verify', ...args],
      { env },
      (error, stdout, stderr) => resolve({ code: error ? Number(error.code ?? 1) : 0, stdout, stderr }),
    )
  })
}

test('books that agree', async () => {
  expect(await verify()).toEqual({
    code: 0,
    stdout: expect.stringMatching(/^1 transaction\(s\), \d+ checks: no difference\n$/) as string,
    stderr: '',
  })
  const { code, stdout } = await verify(['--json', '--account', 'default'])
  expect(code).toBe(0)
  expect(JSON.parse(stdout)).toEqual({ transactions: 1, checks: expect.any(Number) as number, differences: [] })
})

test('books that do not: a line each, the exit code, and the same as JSON', async () => {
  await api.database.query('update transactions set authorized_amount = 1300')
  const { code, stdout } = await verify()
  expect(code).toBe(1)
  expect(stdout).toContain(`default ${id} authorized_amount: expected 1299, found 1300\n`)
  expect(stdout).toMatch(/checks: 1 difference\(s\)\n$/)
  const inJson = await verify(['--json'])
  expect(inJson.code).toBe(1)
  expect(JSON.parse(inJson.stdout)).toMatchObject({
    transactions: 1,
    differences: [{ merchant_account_id: 'default', id, what: 'authorized_amount', expected: 1299, found: 1300 }],
  })
  expect(JSON.parse((await verify(['--json', '--account', 'other'])).stdout)).toMatchObject({ transactions: 0 })
})

test('what stands in the way is named', async () => {
  expect(await verify(['--account', 'nowhere'])).toMatchObject({
    code: 1,
    stderr: 'error: There is no merchant account nowhere.\n',
  })
  expect((await verify([], api.database.url('florin_vault'))).stderr).toMatch(/does not let this user do that/)
})
