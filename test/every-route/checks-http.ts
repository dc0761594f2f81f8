import { errorTable } from '../../src/errors.ts'
import { isForBrowsers, isOpen } from '../../src/http/browsers.ts'
import { type Answer, send } from '../api.ts'
import { answerProblems } from './answers.ts'
import { comparable, failures, same } from './refusals.ts'
import { accountHeader, goodRequest, raw, unknownParams, withHeaders } from './requests.ts'
import { type Check, fill } from './run.ts'
import { garbage } from './wrong-input.ts'

export const succeeds: Check = async (run, of) => {
  const answer = await run.ask(of, await goodRequest(run, of))
  run.note(answer, answer.status !== of.returns[0] && `should be ${of.returns[0]}`)
}

const methods = ['GET', 'POST', 'PUT', 'PATCH', 'DELETE', 'OPTIONS']

export const knowsItsMethods: Check = async (run, of) => {
  const shape = (path: string) => path.replaceAll(/\{\w+\}/g, '{}')
  const here = run.routes.filter(({ path }) => shape(path) === shape(of.path))
  // Once for all that share the path.
  if (here[0] !== of) return
  const known = [...here.map(({ method }) => method as string), ...(here.some(isForBrowsers) ? ['OPTIONS'] : [])]
  const allow = [...known, ...(known.includes('GET') ? ['HEAD'] : [])].sort().join(', ')
  for (const method of methods.filter((name) => !known.includes(name))) {
    const requests = ['', run.owner, run.bound].flatMap((token) => [{ token }, { token, query: '?limit=x' }])
    for (const options of [...requests, ...(method === 'GET' ? [] : garbage)]) {
      const answer = await run.ask(of, { method, ...options })
      run.note(answer, answer.status !== 405 && 'should be 405')
      run.note(answer, answer.headers.get('allow') !== allow && `should allow ${allow}`)
    }
  }
}

/** Pages of any origin may call what needs no token and no signature or takes a browser's token, and nothing else. */
export const answersBrowsers: Check = async (run, of) => {
  const path = fill(of.path, unknownParams(of))
  const origin = { origin: 'https://shop.example', 'access-control-request-method': of.method }
  // In the order of their names, as fetch hands headers out.
  const ofCors = (answer: Answer) => [...answer.headers].filter(([name]) => name.startsWith('access-control-'))
  const good = await goodRequest(run, of)
  const answers = [
    await run.ask(of, withHeaders(good, origin)),
    await run.ask(of, { params: unknownParams(of), headers: origin }),
    ...(of.method === 'GET' ? [] : [await run.ask(of, { params: unknownParams(of), rawBody: '{', headers: origin })]),
    await run.ask(of, { params: unknownParams(of), headers: { ...origin, 'early-data': '1' } }),
    await run.ask(of, { params: unknownParams(of), headers: origin, token: 'x' }),
  ]
  for (const answer of answers) {
    const exposed = 'x-request-id, link, retry-after, ratelimit, ratelimit-policy, idempotency-replayed'
    const wanted = isForBrowsers(of)
      ? [
          ['access-control-allow-origin', '*'],
          ['access-control-expose-headers', exposed],
        ]
      : []
    run.note(answer, !same(ofCors(answer), wanted) && `should have ${JSON.stringify(wanted)} for other origins`)
  }
  if (!isForBrowsers(of)) return
  const methods = run.routes
    .filter((route) => route.path === of.path && isForBrowsers(route))
    .map(({ method }) => method)
  for (const options of [{}, { rawBody: '{' }, { token: 'x' }]) {
    const answer = await send(run.url, 'OPTIONS', path, { ...options, headers: origin })
    run.note(answer, (answer.status !== 204 || answer.text !== '') && 'a preflight should be 204')
    const wanted = [
      [
        'access-control-allow-headers',
        isOpen(of) ? 'content-type' : `authorization, content-type, idempotency-key, ${accountHeader.toLowerCase()}`,
      ],
      ['access-control-allow-methods', methods.sort().join(', ')],
      ['access-control-allow-origin', '*'],
      ['access-control-max-age', '7200'],
    ]
    run.note(answer, !same(ofCors(answer), wanted) && 'a preflight should allow just this')
  }
}

export const pathsAreExact: Check = async (run, of) => {
  const exact = fill(of.path, unknownParams(of))
  const upper = exact.replace(/[a-z]/, (letter) => letter.toUpperCase())
  // The router takes an empty id for an id; the operation below then says that there is no such thing.
  const isCollection = run.routes.some(({ path }) => path.startsWith(`${of.path}/{`))
  const near = [
    ...(isCollection ? [] : [`${exact}/`]),
    `${exact}/x/y/z`,
    `/x${exact}`,
    `/${exact}`,
    upper,
    `${exact}/%zz`,
    `${exact}%ff`,
  ]
  for (const path of near) {
    for (const method of new Set(['GET', of.method])) {
      for (const token of ['', run.owner]) {
        const answer = await run.ask(of, { method, token, path, ...(method !== 'GET' && { rawBody: '{' }) })
        const { type, code, status, message, details } = answer.body
        const expected = ['error', 'not_found', 404, errorTable.not_found[1], []]
        run.note(answer, !same([type, code, status, message, details], expected) && 'should be 404')
      }
    }
  }
}

export const refusesEarlyData: Check = async (run, of) => {
  const isSafe = of.method === 'GET'
  for (const token of isSafe ? [run.owner] : [run.owner, '']) {
    const good = await goodRequest(run, of)
    const answer = await run.ask(of, withHeaders({ ...good, token }, { 'early-data': '1' }))
    run.note(answer, answer.status !== (isSafe ? of.returns[0] : 425) && `should be ${isSafe ? of.returns[0] : 425}`)
  }
}

export const refusesRepeatedHeaders: Check = async (run, of) => {
  const host = new URL(run.url).host
  const bearer = `Bearer ${run.owner}`
  for (const [name, ...values] of [
    ['Host', host, host],
    ['Host', host, 'elsewhere.example'],
    ['Authorization', bearer, bearer],
    ['authorization', bearer, 'Bearer x'],
    [accountHeader, 'default', 'default'],
    [accountHeader, 'default', 'other'],
    ['Content-Type', 'application/json', 'text/plain'],
    ['Idempotency-Key', 'a', 'b'],
  ] as [string, string, string][]) {
    const single = { Host: host, Authorization: bearer, Connection: 'close' }
    const lines = [
      `${of.method} ${fill(of.path, unknownParams(of))} HTTP/1.1`,
      ...Object.entries(single).flatMap(([key, value]) =>
        key.toLowerCase() === name.toLowerCase() ? [] : [`${key}: ${value}`],
      ),
      ...values.map((value, index) => `${index === 0 ? name : name.toUpperCase()}: ${value}`),
    ]
    const answer = await raw(run.url, `${lines.join('\r\n')}\r\n\r\n`)
    for (const problem of answerProblems(run.openapi, of, of.method, answer)) run.note(answer, problem)
    const [failure = ''] = failures(answer)
    const isNamed = failure.toLowerCase() === `header ${name.toLowerCase()} value_error.conflict`
    run.note(answer, (answer.status !== 400 || !isNamed) && `should refuse two ${name}`)
  }
}

export const answersHead: Check = async (run, of) => {
  if (of.method !== 'GET') return
  const good = await goodRequest(run, of)
  for (const options of [
    good,
    { ...good, token: '' },
    { ...good, params: unknownParams(of) },
    { ...good, query: '?limit=0' },
  ]) {
    const get = await run.ask(of, options)
    const head = await run.ask(of, { ...options, method: 'HEAD' })
    // The time a key was last used may have been written in between, which changes the length; a stream has none.
    const strip = (answer: Answer) =>
      comparable(answer).headers.filter(
        ([name]) => name !== 'transfer-encoding' && (name !== 'content-length' || get.status >= 400),
      )
    run.note(head, !same([head.status, head.text, strip(head)], [get.status, '', strip(get)]) && 'should be like GET')
  }
}
