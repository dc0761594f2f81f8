import { expect, test } from 'vitest'
import { type AccountClock } from '../src/areas/merchant-accounts/clock/schema.ts'
import { createAccount, createKeyPair, send } from './api.ts'
import { accountHeader } from './checkout.ts'
import { rules, type Scene } from './clocks/rules.ts'
import { type DatabaseRole, useDatabase } from './database.ts'
import { startDeployment } from './deployment.ts'
import { makeService } from './every-state.ts'
import { useFolder, writeKeyFile } from './vault.ts'

const database = useDatabase()
const folder = useFolder()
const day = 24 * 60 * 60

/** The next fifth of January. There what expires with the month does so within 30 days, on whatever day the test runs. */
function january(): Date {
  const now = new Date()
  const fifth = (year: number) => new Date(Date.UTC(year, 0, 5))
  return fifth(now.getUTCFullYear()) > now ? fifth(now.getUTCFullYear()) : fifth(now.getUTCFullYear() + 1)
}

test('of accounts in which the same was done, 30 days pass in one: every time rule fires there and nowhere else', async () => {
  const url = database.url('florin_api')
  const keyPair = await createKeyPair(url)
  const deployment = await startDeployment({
    cluster: { url: ({ user } = {}) => database.url(user as DatabaseRole) },
    database: '',
    folder,
    keyFile: writeKeyFile(folder),
    keyPair,
  })
  const apis = [deployment.processes.api.url]
  await deployment.start('api')
  apis.push(deployment.processes.api.url)
  const token = await deployment.token()
  // Every request goes to the other process than the one before, as behind a balancer.
  let requests = 0
  const api = () => apis[(requests += 1) % apis.length] ?? ''

  const start = january()
  const sceneOf = (account: string): Scene => ({
    year: start.getUTCFullYear(),
    call: (method, path, { headers, ...options } = {}) =>
      send(api(), method, path, { token, headers: { [accountHeader]: account, ...headers }, ...options }),
    browse: (method, path, body) => send(api(), method, path, { body }),
    query: database.query,
    until: (isSo) => expect.poll(isSo, { timeout: 120_000, interval: 200 }).toBe(true),
  })
  const clockOf = async (account: string) => {
    const { body } = await send<AccountClock>(api(), 'GET', `/merchant-accounts/${account}/clock`, { token })
    return body
  }
  const advance = async (account: string, seconds: number) => {
    const path = `/merchant-accounts/${account}/clock/advance`
    const { status, body } = await send<AccountClock>(api(), 'POST', path, { token, body: { by: `${seconds}s` } })
    expect(status).toBe(200)
    // A worker on a busy machine may take longer than the answer waits.
    await expect.poll(async () => (await clockOf(account)).is_settled, { timeout: 120_000 }).toBe(true)
    return body
  }

  // Two whose clocks were moved to the same time before, and one that never had a clock of its own.
  const accounts = ['moved', 'still', 'plain']
  for (const account of accounts) {
    await createAccount(url, account)
    await makeService(sceneOf(account).call)
  }
  const head = Math.ceil((start.getTime() - Date.now()) / 1000)
  for (const account of ['moved', 'still']) await advance(account, head)

  const looks: { rule: string; account: string; look: () => Promise<unknown> }[] = []
  for (const { name, begin } of rules) {
    for (const account of accounts) looks.push({ rule: name, account, look: await begin(sceneOf(account)) })
  }
  const moved = await advance('moved', 30 * day)
  expect(moved.ahead_seconds).toBe(head + 30 * day)

  const seen: Record<string, unknown> = {}
  for (const { rule, account, look } of looks) seen[`${rule}: ${account}`] = await look()
  expect(seen).toEqual(
    Object.fromEntries(
      rules.flatMap(({ name, waiting, due }) =>
        accounts.map((account) => [`${name}: ${account}`, account === 'moved' ? due : waiting]),
      ),
    ),
  )
  expect((await clockOf('still')).ahead_seconds).toBe(head)
  expect(await clockOf('plain')).toMatchObject({ ahead_seconds: 0, updated_at: null })
})
