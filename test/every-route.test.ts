import { randomBytes } from 'node:crypto'
import { readFileSync } from 'node:fs'
import type { AddressInfo } from 'node:net'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { loadSigningKey } from '../src/areas/api-key-pairs/operations.ts'
import { merchantAccountExists, oldestMerchantAccount } from '../src/areas/merchant-accounts/operations.ts'
import { buildApp } from '../src/http/app.ts'
import { createAuthenticator } from '../src/http/authenticate.ts'
import { createCursorCodec } from '../src/http/cursor.ts'
import { createKeyRing } from '../src/http/key-ring.ts'
import { createAccountDirectory } from '../src/http/merchant-account.ts'
import { describeApi } from '../src/http/openapi.ts'
import type { Route } from '../src/http/route.ts'
import { routes } from '../src/http/routes.ts'
import { createLog } from '../src/platform/log.ts'
import { connect, type Database } from '../src/platform/postgres.ts'
import { useApi } from './api.ts'
import type { Json } from './every-route/answers.ts'
import { hidesOtherAccounts, needsScope, needsToken, takesTheAccountHeader } from './every-route/checks-access.ts'
import {
  answersBrowsers,
  answersHead,
  knowsItsMethods,
  pathsAreExact,
  refusesEarlyData,
  refusesRepeatedHeaders,
  succeeds,
} from './every-route/checks-http.ts'
import { refusesForeignBuyers } from './every-route/checks-browsers.ts'
import { checksItsBody, checksItsQuery, idsAreChecked, reportsEverythingAtOnce } from './every-route/checks-input.ts'
import { answersAsPreferred, answersOncePerKey } from './every-route/checks-repeats.ts'
import { furnish, waitFor } from './every-route/instance.ts'
import { type Mistake, probeRoutes } from './every-route/probes.ts'
import { type Check, problemsOf, type Subject } from './every-route/run.ts'
import { realClocks } from '../src/clocks.ts'

/*
 * What holds for every operation, read from the list of routes: a new route is covered without a new test. The checks are
 * functions that return problems, so that the end of this file can show that they find the mistakes they are there for.
 */

const checks: Record<string, Check> = {
  'succeeds with its example, and a change leaves one audit row': succeeds,
  'answers 401 without a valid token, whatever else is wrong; looks at none where it needs none': needsToken,
  'answers 403 to a token with every scope but its own, whatever else is wrong': needsScope,
  "is open to pages of other origins if it needs no token or takes a browser's, and only then": answersBrowsers,
  'acts for no buyer whom the token of a browser does not pin': refusesForeignBuyers,
  'answers other methods with 405 and those it has': knowsItsMethods,
  'is at its path only; anything near it is 404': pathsAreExact,
  'refuses ids that cannot be': idsAreChecked,
  "answers another account's id exactly like an unknown one, unless the id is the credential": hidesOtherAccounts,
  'answers early data with 425 unless it is safe': refusesEarlyData,
  'refuses headers sent twice': refusesRepeatedHeaders,
  'refuses query values that do not fit and names each': checksItsQuery,
  'refuses bodies that do not fit and names each field': checksItsBody,
  'reports everything that is wrong in one answer': reportsEverythingAtOnce,
  'takes the merchant account header as declared': takesTheAccountHeader,
  'answers HEAD like GET without a body': answersHead,
  'does what it is asked once per key, where it takes keys': answersOncePerKey,
  'answers with what is preferred, where it has a choice': answersAsPreferred,
}

const api = useApi()
let boundToken: string

const subjectOf = (url: string, list: readonly Route[], openapi: Json): Subject => ({
  routes: list,
  url,
  openapi,
  owner: api.token(),
  bound: boundToken,
  sign: (scopes, claims = {}) => api.makeToken(api.owner(), { scopes, claims }),
  wait: (params, account) => waitFor(api, params, account),
  auditRows: async (requestIds) => {
    const rows = await api.database.query<{ request_id: string; count: string }>(
      'select request_id, count(*) from audit_logs where request_id = any($1) group by 1',
      [requestIds],
    )
    return new Map(rows.map(({ request_id, count }) => [request_id, Number(count)]))
  },
})

beforeAll(async () => {
  boundToken = await api.makeToken(await api.makeKeyPair({ merchantAccountIds: ['default'] }))
  for (const account of ['default', 'other']) await furnish(api, account)
})

const written = JSON.parse(readFileSync(join(import.meta.dirname, '../openapi.json'), 'utf8')) as Json

describe.each(routes.map((of) => [`${of.method} ${of.path}`, of] as const))('%s', (_name, of) => {
  test.each(Object.entries(checks))('%s', async (_guarantee, check) => {
    expect(await problemsOf(subjectOf(api.url(), routes, written), check, of)).toEqual([])
  })
})

test('no prototype was polluted on the way', () => {
  expect({}).not.toHaveProperty('polluted')
})

describe('the checks', () => {
  const open: { close(): unknown }[] = []
  let db: Database

  beforeAll(() => {
    db = connect({
      url: api.database.url('florin_api'),
      applicationName: 'test',
      poolSize: 4,
      onError: () => undefined,
    })
  })
  afterAll(async () => {
    for (const app of open) await app.close()
    await db.close()
  })

  /** The whole edge with these routes instead of the real ones. */
  async function serve(mistake: Mistake): Promise<Subject> {
    const probes = probeRoutes(mistake)
    const now = () => new Date()
    const keys = createKeyRing((thumbprint) => loadSigningKey(db, thumbprint))
    const app = buildApp({
      routes: probes,
      files: new Map(),
      pages: [],
      authenticate: createAuthenticator({ keys, now, concurrency: 1, onUse: () => undefined }),
      accounts: createAccountDirectory({
        exists: (id) => merchantAccountExists(db, id),
        oldest: () => oldestMerchantAccount(db),
      }),
      buyers: { idOf: async () => undefined },
      limiter: async () => ({}),
      cursors: createCursorCodec([randomBytes(32)]),
      db,
      vault: api.vault.client(),
      connectors: new Map(),
      antiFraud: new Map(),
      giftCards: new Map(),
      instance: 'test',
      environment: 'sandbox',
      maxGiftCards: 10,
      checkTarget: () => undefined,
      clocks: realClocks,
      log: createLog({ level: 'silent', process: 'test' }),
      metrics: { observeRequest: () => undefined },
      headerPrefix: 'X-Service-',
      isDraining: () => false,
      baseUrl: () => '',
    })
    open.push(app)
    await app.listen({ host: '127.0.0.1', port: 0 })
    const { port } = app.server.address() as AddressInfo
    const openapi = describeApi(mistake === 'not described' ? [] : probes)
    return subjectOf(`http://127.0.0.1:${port}`, probes, openapi)
  }

  async function allProblems(mistake: Mistake, used: readonly Check[]): Promise<string[]> {
    const subject = await serve(mistake)
    const problems: string[] = []
    for (const of of subject.routes) {
      for (const check of used) problems.push(...(await problemsOf(subject, check, of)))
    }
    return problems
  }

  test('find nothing wrong with routes that are right, whatever kind they are of', async () => {
    expect(await allProblems('none', Object.values(checks))).toEqual([])
  })

  test.each<[Mistake, Check, RegExp]>([
    ['no audit row', succeeds, /POST \/roles\/probes → 201 .*left 0 audit rows instead of 1/],
    ['two audit rows', succeeds, /DELETE .* → 204 .*left 2 audit rows instead of 1/],
    ['an audit row of a refused change', hidesOtherAccounts, /PUT .* → 404 .*left 1 audit rows instead of 0/],
    [
      'the account is ignored',
      hidesOtherAccounts,
      /GET .* → 200 .*another account's id should be answered like an unknown one/,
    ],
    [
      'another account is forbidden',
      hidesOtherAccounts,
      /DELETE .* → 403 .*another account's id should be answered like an unknown one/,
    ],
    ['a fault', succeeds, /GET .* → 500 .*is a fault of ours/],
    ['unknown fields are taken', checksItsBody, /POST .* → 201 .*should be 400/],
    ['not described', succeeds, /is not in openapi\.json/],
    ['keys are ignored', answersOncePerKey, /POST .* → 201 .*should be the first answer again/],
    ['a key answers any request', answersOncePerKey, /POST .* → 201 .*should be 400 and name the header/],
    ['preferences are ignored', answersAsPreferred, /POST .* → 201 .*should be a probe-report/],
    ['knowing the id is not enough', hidesOtherAccounts, /POST .*mark → 404 .*should be open to whoever knows the id/],
    ['knowing the id is not enough', needsToken, /POST .*mark → 404 .*should be 204 whatever the token/],
    ['no audit row', succeeds, /POST .*mark → 204 .*left 0 audit rows instead of 1/],
    ['a buyer by another name', refusesForeignBuyers, /GET .*of-buyer.* → 200 .*should refuse customer_buyer_id/],
    ['nobody knows whose it is', refusesForeignBuyers, /GET .*of-buyer.*cannot be told whom it acts for/],
  ])('report a route with this mistake: %s', async (mistake, check, problem) => {
    expect(await allProblems(mistake, [check])).toContainEqual(expect.stringMatching(problem))
  })

  test('report a path whose resources nothing can make', async () => {
    const subject = await serve('none')
    const get = subject.routes.find(({ id }) => id === 'getProbe')
    const list = subject.routes.filter(({ method }) => method !== 'POST')
    await expect(problemsOf({ ...subject, routes: list }, succeeds, get as Route)).rejects.toThrow(
      /no POST \/roles\/probes/,
    )
  })
})
