import { execFile } from 'node:child_process'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { useApi } from '../../../test/api.ts'
import { root } from '../repository.ts'

const api = useApi()

function clock(args: string[], environment: Record<string, string> = {}) {
  const inherited = Object.entries(process.env).filter(([name]) => !/^(DATABASE|FLORIN)_/.test(name))
  const env = { ...Object.fromEntries(inherited), DATABASE_URL: api.database.url('florin_api'), ...environment }
  return new Promise<{ code: number; stdout: string; stderr: string }>((resolve) => {
    execFile(process.execPath, [join(root, 'src/main/florin.ts'), 'clock', ...args], { env }, (error, stdout, stderr) =>
      resolve({ code: error ? Number(error.code ?? 1) : 0, stdout, stderr }),
    )
  })
}
const parse = (text: string) => JSON.parse(text) as Record<string, unknown>

test('the clock of one account is moved and shown; the api goes by it, and the audit log says who', async () => {
  expect(await clock(['show', '--account', 'default'])).toEqual({
    code: 0,
    stdout: expect.stringMatching(/^default \d{4}-\d\d-\d\dT[\d:.]+Z, real time\n$/) as string,
    stderr: '',
  })
  const moved = await clock(['advance', '--account', 'default', '3d'])
  expect(moved).toMatchObject({ code: 0, stdout: expect.stringMatching(/, 3d ahead of real time\n$/) as string })
  // No worker runs here.
  expect(moved.stderr).toContain('a worker does it')
  const more = parse((await clock(['advance', '--json', '--account', 'default', '90m'])).stdout)
  expect(more).toMatchObject({
    type: 'clock',
    merchant_account_id: 'default',
    ahead_seconds: 264_600,
    is_settled: false,
  })
  expect((await clock(['show', '--account', 'default'])).stdout).toContain(', 3d 1h 30m ahead of real time')
  expect((await clock(['show', '--account', 'other'])).stdout).toContain(', real time')

  const { body: buyer } = await api.request('POST', '/buyers', { body: { display_name: 'Ada' } })
  expect(Math.abs(Date.parse(String(buyer['created_at'])) - Date.now() - 264_600_000)).toBeLessThan(60_000)
  const { body: logs } = await api.request<{ items: object[] }>('GET', '/audit-logs?limit=2')
  expect(logs.items[1]).toMatchObject({
    user: { name: 'command line' },
    resource: { type: 'clock', id: 'default' },
  })
})

test('what stands in the way is named', async () => {
  expect(await clock(['advance', '--account', 'nowhere', '3d'])).toMatchObject({
    code: 1,
    stderr: 'error: There is no merchant account nowhere.\n',
  })
  expect((await clock(['advance', '--account', 'other', 'tomorrow'])).stderr).toContain('90s, 3d')
  expect((await clock(['advance', '--account', 'other', '3651d'])).stderr).toContain('more than 3650 days')
  expect((await clock(['advance', '--account', 'other'])).stderr).toContain("missing required argument 'duration'")
  expect((await clock(['show', '--account', 'other'], { FLORIN_ENVIRONMENT: 'production' })).stderr).toBe(
    'error: Only a sandbox has clocks, and FLORIN_ENVIRONMENT is production.\n',
  )
  expect((await clock(['show', '--account', 'other'])).stdout).toContain(', real time')
})
