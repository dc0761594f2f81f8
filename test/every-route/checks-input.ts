import { newId } from '../../src/ids.ts'
import type { Json } from './answers.ts'
import { refusalProblem, unreadableProblem } from './refusals.ts'
import {
  bodyOf,
  goodRequest,
  paramNames,
  propertiesOf,
  type Property,
  queryOf,
  raw,
  unknownParams,
} from './requests.ts'
import { type Check, fill } from './run.ts'
import { badBodies, unfitTexts, unreadableBodies, worstBody } from './wrong-input.ts'

export const idsAreChecked: Check = async (run, of) => {
  for (const [name, property] of propertiesOf(of.params)) {
    const ids = property.format === 'uuid' ? ['x', newId().toUpperCase(), newId().replaceAll('-', ''), '%00'] : ['%00']
    for (const id of ids) {
      const answer = await run.ask(of, { ...bodyOf(of, 'default'), params: { ...unknownParams(of), [name]: id } })
      run.note(answer, refusalProblem(of, answer, [`path ${name}`]))
    }
    const long = await run.ask(of, {
      ...bodyOf(of, 'default'),
      params: { ...unknownParams(of), [name]: 'x'.repeat(2_000) },
    })
    run.note(long, ![400, 404, 422].includes(long.status) && 'should be refused')
  }
}

export const checksItsQuery: Check = async (run, of) => {
  const properties = propertiesOf(of.query)
  const good = { params: unknownParams(of), ...bodyOf(of, 'default') }
  for (const [name, property] of properties) {
    for (const text of unfitTexts(property)) {
      const answer = await run.ask(of, { ...good, query: `?${name}=${text}` })
      run.note(answer, refusalProblem(of, answer, [`query ${name}`]))
    }
    if (property.items) continue
    const twice = await run.ask(of, { ...good, query: `?${name}=1&${name}=2` })
    run.note(twice, refusalProblem(of, twice, [`query ${name}`]))
  }
  if (properties.length > 1) {
    const bad = properties.flatMap(([name, property]) =>
      unfitTexts(property)
        .map((text) => ({ name, text }))
        .slice(0, 1),
    )
    const answer = await run.ask(of, { ...good, query: `?${bad.map(({ name, text }) => `${name}=${text}`).join('&')}` })
    run.note(
      answer,
      refusalProblem(
        of,
        answer,
        bad.map(({ name }) => `query ${name}`),
      ),
    )
  }
  const query = `${queryOf(of).query ?? '?'}&not_a_parameter=1&__proto__=1&%zz`
  const ignored = await run.ask(of, { ...(await goodRequest(run, of)), query })
  run.note(ignored, ignored.status !== of.returns[0] && 'should ignore parameters it does not know')
}

export const checksItsBody: Check = async (run, of) => {
  if (of.method === 'GET') return
  const params = unknownParams(of)
  if (of.raw) return takesAnyBody(run, of)
  for (const [name, rawBody, headers = {}] of unreadableBodies) {
    const answer = await run.ask(of, { params, rawBody, headers })
    const problem = unreadableProblem(answer)
    run.note(answer, problem && `${name} ${problem}`)
  }
  const head = `${of.method} ${fill(of.path, params)} HTTP/1.1\r\nHost: x\r\nConnection: close\r\nAuthorization: Bearer ${run.owner}\r\nContent-Type: application/json\r\n`
  const size = 1024 * 1024 + 1
  const chunked = await raw(
    run.url,
    `${head}Transfer-Encoding: chunked\r\n\r\n${size.toString(16)}\r\n${' '.repeat(size)}\r\n0\r\n\r\n`,
  )
  run.note(chunked, unreadableProblem(chunked))
  if (!of.body) return

  const schema = of.body as Property
  const example = bodyOf(of, 'default').body
  for (const rawBody of ['null', '']) {
    const answer = await run.ask(of, { params, rawBody })
    const goesOn = paramNames(of).length > 0 ? 404 : of.returns[0]
    if (of.bodyOptional) run.note(answer, answer.status !== goesOn && 'should go on to look for the resource')
    else run.note(answer, refusalProblem(of, answer, ['body ']))
  }
  for (const rawBody of schema.properties ? ['[]', '1', 'true', '"x"'] : []) {
    const answer = await run.ask(of, { params, rawBody })
    run.note(answer, refusalProblem(of, answer, ['body ']))
  }
  for (const { place, body } of badBodies(schema, example)) {
    const answer = await run.ask(of, { params, body })
    run.note(answer, refusalProblem(of, answer, [place]))
  }
  for (const [name, property] of Object.entries(schema.properties ?? {})) {
    if (![property.type].flat().includes('string')) continue
    for (const text of ['a\0b', '\0', 'a\ud800', '\udc00b']) {
      const answer = await run.ask(of, { params, body: { ...(example as Json), [name]: text } })
      run.note(answer, refusalProblem(of, answer, [`body /${name}`]))
    }
  }
  for (const key of ['a\0', '\ud800']) {
    const answer = await run.ask(of, { params, body: { ...(example as Json), [key]: 1 } })
    run.note(answer, answer.status !== (of.validation === 'detail' ? 422 : 400) && 'should be refused')
  }
}

/** Where the body is looked at byte by byte, only its size is the edge's business. */
const takesAnyBody: Check = async (run, of) => {
  for (const [name, rawBody, headers = {}] of unreadableBodies) {
    const answer = await run.ask(of, { params: unknownParams(of), rawBody, headers })
    const isTooLarge = rawBody.length > 1024 * 1024
    const problem = isTooLarge ? unreadableProblem(answer) : answer.status !== 404 && 'should be 404'
    run.note(answer, problem && `${name} ${problem}`)
  }
}

export const reportsEverythingAtOnce: Check = async (run, of) => {
  const query = propertiesOf(of.query).flatMap(([name, property]) =>
    unfitTexts(property)
      .map((text) => ({ place: `query ${name}`, text: `${name}=${text}` }))
      .slice(0, 1),
  )
  const ids = paramNames(of).map((name) => ({ place: `path ${name}`, name }))
  const worst = of.body ? worstBody(of.body as Property) : { places: [], body: undefined }
  const places = [...ids.map(({ place }) => place), ...query.map(({ place }) => place), ...worst.places]
  if (places.length === 0) return
  const answer = await run.ask(of, {
    params: Object.fromEntries(ids.map(({ name }) => [name, '%00'])),
    query: `?${query.map(({ text }) => text).join('&')}`,
    ...(worst.body && { body: worst.body }),
  })
  run.note(answer, refusalProblem(of, answer, places))
}
