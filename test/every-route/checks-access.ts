import { isOpen } from '../../src/http/browsers.ts'
import { scopesOf } from '../../src/http/route.ts'
import { allScopes } from '../../src/scopes.ts'
import type { Answer } from '../api.ts'
import { comparable, failures, same } from './refusals.ts'
import {
  accountHeader,
  accountOf,
  bodyOf,
  goodRequest,
  makeParams,
  paramNames,
  unknownId,
  unknownParams,
  withHeaders,
} from './requests.ts'
import type { Ask, Check, Params } from './run.ts'
import { garbage } from './wrong-input.ts'

/** Where the id is the credential, a token changes nothing: not its absence, not a good one, not nonsense. */
const ignoresTokens: Check = async (run, of) => {
  const params = unknownParams(of)
  const without = await run.ask(of, { token: '', params, ...bodyOf(of, 'default') })
  run.note(without, without.status !== 404 && 'an unknown id should be 404')
  const none = await run.sign([])
  const credentials: Ask[] = [
    { token: '' },
    ...['x', 'a.b.c', `${run.owner}x`, run.owner, run.bound, none].map((token): Ask => ({ token })),
    { headers: { authorization: `Basic ${btoa('a:b')}` } },
    { headers: { authorization: '' } },
  ]
  for (const options of credentials) {
    const unknown = await run.ask(of, {
      params,
      ...options,
      ...withHeaders(bodyOf(of, 'default'), options.headers),
    })
    run.note(unknown, !same(comparable(unknown), comparable(without)) && 'should be the same whatever the token')
    const good = await run.ask(of, { ...options, ...withHeaders(await goodRequest(run, of), options.headers) })
    run.note(good, good.status !== of.returns[0] && `should be ${of.returns[0]} whatever the token`)
  }
}

export const needsToken: Check = async (run, of) => {
  if (isOpen(of)) return ignoresTokens(run, of)
  const params = unknownParams(of)
  const refuse = async (options: Ask) => {
    const answer = await run.ask(of, { token: '', params, ...options })
    run.note(answer, answer.status !== 401 && 'should be 401')
    run.note(answer, failures(answer).length > 0 && 'says more than that there is no token')
  }
  await refuse({})
  for (const token of ['x', 'a.b.c', `${run.owner}x`, run.owner.slice(0, -2)]) await refuse({ token })
  await refuse({ headers: { authorization: `Basic ${btoa('a:b')}` } })
  await refuse({ headers: { [accountHeader]: 'x'.repeat(300) }, query: '?limit=x' })
  if (of.method === 'GET') return
  for (const options of garbage) await refuse(options)
}

export const needsScope: Check = async (run, of) => {
  // Said above: no token, and so no scope.
  if (isOpen(of)) return
  const scopes = scopesOf(of)
  const without = await run.sign(allScopes.filter((scope) => !scopes.includes(scope)))
  const params = unknownParams(of)
  for (const options of [
    {},
    { headers: { [accountHeader]: 'x'.repeat(300) }, query: '?limit=x' },
    ...(of.method === 'GET' ? [] : garbage),
  ]) {
    const answer = await run.ask(of, { token: without, params, ...options })
    run.note(answer, answer.status !== 403 && 'should be 403')
  }
  if (!scopes.includes('embed')) {
    const answer = await run.ask(of, { params, token: await run.sign([...allScopes, '*.read', '*.write']) })
    run.note(answer, answer.status !== 403 && 'should be 403 to a token of a browser, whatever else it lists')
  }
  for (const scope of scopes) {
    const answer = await run.ask(of, { ...(await goodRequest(run, of)), token: await run.sign([scope]) })
    const refused = answer.headers.get('www-authenticate')?.includes('insufficient_scope')
    run.note(answer, refused === true && `should be open to a token with ${scope} alone`)
  }
}

/** Whoever knows the id may, whatever token and header come along; which account it is of is not asked. */
const anyoneWhoKnowsTheId: Check = async (run, of) => {
  for (const account of ['default', 'other']) {
    for (const headers of [{}, { [accountHeader]: 'default' }, { [accountHeader]: 'no-such-account' }]) {
      const good = await goodRequest(run, of, account)
      const answer = await run.ask(of, withHeaders({ ...good, token: run.bound }, headers))
      run.note(answer, answer.status !== of.returns[0] && 'should be open to whoever knows the id')
    }
  }
}

export const hidesOtherAccounts: Check = async (run, of) => {
  if (isOpen(of)) return anyoneWhoKnowsTheId(run, of)
  for (const name of paramNames(of)) {
    const [own, foreign] = [await makeParams(run, of, 'default'), await makeParams(run, of, 'other')]
    const ask = (params: Params, token: string, account: string) =>
      run.ask(of, { params, token, ...bodyOf(of, account), ...accountOf(of, account) })
    const unknown = await ask({ ...own, [name]: unknownId(of, name) }, run.bound, 'default')
    run.note(unknown, unknown.status !== 404 && 'an unknown id should be 404')
    if (of.exampleParams?.[name] !== undefined) continue
    for (const params of [{ ...own, [name]: foreign[name] ?? '' }, foreign]) {
      const hidden = await ask(params, run.bound, 'default')
      run.note(
        hidden,
        !same(comparable(hidden), comparable(unknown)) && "another account's id should be answered like an unknown one",
      )
    }
    const seen = await ask(foreign, run.owner, 'other')
    run.note(seen, seen.status !== of.returns[0] && 'should still be there for those who reach it')
  }
}

export const takesTheAccountHeader: Check = async (run, of) => {
  type Request = Awaited<ReturnType<typeof goodRequest>>
  const send = (good: Request, account: string, token: string) =>
    run.ask(of, withHeaders({ ...good, token }, { [accountHeader]: account }))
  const ask = async (account: string, token = run.owner) => send(await goodRequest(run, of), account, token)
  const expectStatus = (answer: Answer, status: number, why: string) =>
    run.note(answer, answer.status !== status && `${why} should be ${status}`)
  const [success] = of.returns
  if (of.merchantAccount === 'none') {
    for (const account of ['default', 'no-such-account', 'x'.repeat(256), '*', '']) {
      expectStatus(await ask(account), success, `the header ${account.slice(0, 20)}, ignored here,`)
    }
    return
  }
  for (const account of ['default', '']) expectStatus(await ask(account), success, 'an account within reach')
  // What is refused can be sent again.
  const good = await goodRequest(run, of)
  const unknown = await send(good, 'no-such-account', run.owner)
  expectStatus(unknown, 404, 'an unknown account')
  const hidden = await send(good, 'other', run.bound)
  run.note(hidden, !same(comparable(hidden), comparable(unknown)) && 'should be answered like an unknown account')
  for (const account of ['default,other', 'DEFAULT', 'x'.repeat(255), "default' or true --", '**']) {
    for (const token of [run.owner, run.bound]) expectStatus(await send(good, account, token), 404, 'no account')
  }
  const long = await send(good, 'x'.repeat(256), run.owner)
  const isNamed = same(failures(long), [`header ${accountHeader} value_error.length`])
  run.note(long, (long.status !== 400 || !isNamed) && 'should be 400, too long')
  const all = await ask('*')
  if (of.merchantAccount === 'list') return expectStatus(all, success, 'all accounts')
  if (of.merchantAccount === 'instance') {
    // What was made in an account is not the instance's.
    expectStatus(all, paramNames(of).length === 0 ? success : 404, 'the whole instance')
    return expectStatus(await ask('*', run.bound), 403, 'the whole instance, for a key pair of one account,')
  }
  const isRefused = same(failures(all), [`header ${accountHeader} value_error.unsupported`])
  run.note(all, (all.status !== 400 || !isRefused) && 'should be 400, one account only')
}
