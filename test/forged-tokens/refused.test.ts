import { request } from 'node:http'
import { expect, test } from 'vitest'
import { useApi } from '../api.ts'
import { useAsking } from './asking.ts'
import { useCast } from './cast.ts'
import { type ClassName, classes, type Entry, forge } from './corpus.ts'
import { edits } from './edits.ts'
import { ofLength } from './encoding.ts'
import { createVerifier, type Flaw, flaws } from './flawed-verifier.ts'
import { goodTokens } from './good-tokens.ts'
import { claims, encode, headerOf, split, token } from './tokens.ts'

const api = useApi({ verifyConcurrency: 2 })
const { ask, askAll } = useAsking(api)
const { cast, lured } = useCast(api, ask)

let corpus: Entry[] | undefined
/** Made once, after the cast. */
const forgeries = () => (corpus ??= forge(cast()))

const describe = ({ className, what }: Entry) => `${className}: ${what}`
const say = (text: string) => process.stdout.write(`${text}\n`)

test('no forged token is accepted, and all of them are refused alike', async () => {
  const entries = forgeries()
  const counts = Object.fromEntries(
    Object.keys(classes).map((name) => [name, entries.filter(({ className }) => className === name).length]),
  )
  say(
    `forged tokens: ${entries.length}\n${Object.entries(counts)
      .map(([name, count]) => `  ${name}: ${count}`)
      .join('\n')}`,
  )
  expect(entries.length).toBeGreaterThanOrEqual(5_000)
  expect(Object.entries(classes).filter(([name, [, atLeast]]) => (counts[name] ?? 0) < atLeast)).toEqual([])

  const started = performance.now()
  const replies = await askAll(entries.map(({ authorization }) => authorization))
  say(`asked in ${((performance.now() - started) / 1000).toFixed(1)} s`)
  const wrong = entries.filter((_, index) => replies[index]?.status !== 401)
  expect(wrong.map((entry) => `${describe(entry)} → ${replies[entries.indexOf(entry)]?.status}`)).toEqual([])
  expect([...new Set(replies.map(({ body }) => body))]).toEqual([
    '{"type":"error","code":"unauthorized","status":401,"message":"No valid API authentication found","details":[]}',
  ])
  expect(new Set(replies.map(({ challenge }) => challenge))).toEqual(
    new Set(['Bearer realm="florin"', 'Bearer realm="florin", error="invalid_token"']),
  )
  expect(lured()).toBe(0)
  expect(api.logs.filter((line) => /"level":"(warn|error)"/.test(line))).toEqual([])
  // Everything that was good before is good still.
  for (const { token: good } of cast().known) expect(await ask(`Bearer ${good}`)).toMatchObject({ status: 200 })
})

test('a header too large for HTTP, or sent twice, is refused before the token is looked at', async () => {
  const { ec } = cast()
  expect((await ask(`Bearer ${ofLength(ec, 17_000)}`)).status).toBe(400)
  const twice = await new Promise<number | undefined>((resolve, reject) => {
    const values = [`Bearer ${token(ec)}`, `Bearer ${token(ec)}`]
    request(
      `${api.url()}/roles`,
      { headers: ['host', 'florin', 'authorization', ...values.slice(0, 1), 'authorization', ...values.slice(1)] },
      (response) => {
        response.resume()
        resolve(response.statusCode)
      },
    )
      .on('error', reject)
      .end()
  })
  expect(twice).toBe(400)
})

test('an edited token is refused right after its original was accepted and remembered', async () => {
  const refused: number[] = []
  for (const signer of [cast().ec, cast().rsa]) {
    for (const [name, value] of Object.entries(edits)) {
      const original = claims()
      const good = token(signer, headerOf(signer), original)
      const [header, , signature] = split(good)
      const edited = `${header}.${encode({ ...original, [name]: value })}.${signature}`
      expect((await ask(`Bearer ${good}`)).status).toBe(200)
      refused.push((await ask(`Bearer ${edited}`)).status)
      expect((await ask(`Bearer ${good}`)).status).toBe(200)
      refused.push((await ask(`Bearer ${edited}`)).status)
    }
  }
  expect(refused).toEqual(Array.from({ length: 40 }, () => 401))
})

test('the corpus finds flaws: verifiers with one planted each accept something, the same verifier without accepts nothing', () => {
  expect(new Set<string>(Object.values(flaws).flat())).toEqual(new Set(Object.keys(classes)))
  const entries = forgeries()
  const sound = createVerifier(cast())
  expect(entries.filter(({ authorization }) => sound(authorization)).map(describe)).toEqual([])
  for (const make of Object.values(goodTokens)) expect(sound(make(cast().ec))).toBe(true)

  for (const [flaw, expected] of Object.entries(flaws) as [Flaw, readonly ClassName[]][]) {
    const weak = createVerifier(cast(), flaw)
    // All of the classes that must find this flaw; of the others every twentieth, to tell how far it reaches.
    const asked = entries.filter(({ className }, index) => expected.includes(className) || index % 20 === 0)
    const accepted = asked.filter(({ authorization }) => weak(authorization))
    const found = new Set(accepted.map(({ className }) => className))
    say(`a verifier that ${flaw}: ${accepted.length} of ${asked.length} accepted (${[...found].join(', ')})`)
    expect([flaw, expected.filter((name) => !found.has(name))]).toEqual([flaw, []])
  }
})
