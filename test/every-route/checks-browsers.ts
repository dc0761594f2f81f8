import { randomUUID } from 'node:crypto'
import { type Route, scopesOf } from '../../src/http/route.ts'
import type { Json } from './answers.ts'
import { failures } from './refusals.ts'
import { accountOf, bodyOf, goodRequest, makeParams, paramNames, type Property, propertiesOf } from './requests.ts'
import type { Ask, Check, Run } from './run.ts'

/** Routes for browsers that name their resources in the body by ids alone, each with the test that says whose they may be. */
const toldElsewhere: Record<string, string> = {
  lookUpGiftCardBalances: 'src/areas/gift-cards/browser-tokens.test.ts',
}

interface Place {
  path: string[]
  format: string | undefined
}

/** Every property that sounds like a name of a stored buyer, wherever it is. */
function placesIn(schema: Property | undefined, path: string[] = []): Place[] {
  if (!schema) return []
  const own = Object.entries(schema.properties ?? {}).flatMap(([name, property]) =>
    /buyer.*(id|identifier)$/.test(name)
      ? [{ path: [...path, name], format: property.format }]
      : placesIn(property, [...path, name]),
  )
  const branches = (schema.oneOf ?? []).flatMap((branch) => placesIn(branch, path))
  const found = [...own, ...branches, ...placesIn(schema.items, [...path, '0'])]
  return [...new Map(found.map((place) => [place.path.join('/'), place])).values()]
}

/** A copy with this value at that place. */
function withValue(body: Json, [first = '', ...rest]: readonly string[], value: string): Json {
  const inner = rest.length === 0 ? value : withValue((body[first] ?? {}) as Json, rest, value)
  return Array.isArray(body) ? (body.with(Number(first), inner) as unknown as Json) : { ...body, [first]: inner }
}

/** Whom the token pins, and whether the request may name somebody: nobody, or somebody else. */
const strangers = [{}, { embed: { buyer_id: randomUUID() } }, { embed: { buyer_external_identifier: 'somebody-else' } }]

export const refusesForeignBuyers: Check = async (run, of) => {
  if (!scopesOf(of).includes('embed')) return
  const inBody = placesIn(of.body as Property | undefined)
  const inQuery = placesIn({ properties: Object.fromEntries(propertiesOf(of.query)) })
  for (const claims of strangers) {
    for (const { path, format } of [...inBody, ...inQuery]) {
      const buyer = format === 'uuid' ? randomUUID() : 'buyer-4711'
      const isBody = inBody.some((place) => place.path === path)
      const good = await goodRequest(run, of)
      const request: Ask = isBody
        ? { ...good, body: withValue(good.body as Json, path, buyer) }
        : { ...good, query: `?${new URLSearchParams({ [path.join('')]: buyer }).toString()}` }
      const answer = await run.ask(of, { ...request, token: await run.sign(['embed'], claims) })
      const wanted = `${isBody ? `body /${path.join('/')}` : `query ${path.join('')}`} value_error.conflict`
      const isRefused = answer.status === 400 && failures(answer).includes(wanted)
      run.note(answer, !isRefused && `should refuse ${path.join('/')} of a buyer that the token does not pin`)
    }
    if (paramNames(of).length > 0) await hidesWhatIsOwned(run, of, claims)
  }
  if (inBody.length + inQuery.length + paramNames(of).length === 0 && !toldElsewhere[of.id]) {
    const answer = await run.ask(of, await goodRequest(run, of))
    run.note(answer, 'cannot be told whom it acts for: name the test that does in toldElsewhere')
  }
}

/** What is in the path belongs to a buyer: it is not there for others, and is for servers. */
async function hidesWhatIsOwned(run: Run, of: Route, claims: Record<string, unknown>): Promise<void> {
  const makeBuyer = run.routes.find(({ id }) => id === 'createBuyer')
  const buyer = makeBuyer && (await run.ask(makeBuyer, bodyOf(makeBuyer, 'default')))
  const given = Object.fromEntries(paramNames(of).map((name) => [name, { buyer_id: buyer?.body['id'] }]))
  const params = await makeParams(run, { ...of, given: { ...of.given, ...given } }, 'default')
  const ask = async (token: string) =>
    run.ask(of, { params, ...bodyOf(of, 'default'), ...accountOf(of, 'default'), token })
  const hidden = await ask(await run.sign(['embed'], claims))
  run.note(hidden, hidden.status !== 404 && 'should be 404 to a browser whose token does not pin the buyer')
  const own = await ask(await run.sign(['embed'], { embed: { buyer_id: buyer?.body['id'] } }))
  run.note(own, own.status !== of.returns[0] && `should be ${of.returns[0]} to a browser whose token pins the buyer`)
}
