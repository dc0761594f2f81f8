import { randomUUID } from 'node:crypto'
import type { Answer } from '../api.ts'
import type { Json } from './answers.ts'
import { failures, same } from './refusals.ts'
import { goodRequest, type Property, makeParams, paramNames } from './requests.ts'
import type { Ask, Check } from './run.ts'

const keyHeader = 'Idempotency-Key'
const withKey = (good: Ask, key: string): Ask => ({ ...good, headers: { ...good.headers, [keyHeader]: key } })

/** That a change leaves one audit row, and the same answer given again none, is checked of every answer. */
export const answersOncePerKey: Check = async (run, of) => {
  if (!of.idempotent) return
  const key = randomUUID()
  const good: Ask = await goodRequest(run, of)
  const first = await run.ask(of, withKey(good, key))
  run.note(first, first.status !== of.returns[0] && `should be ${of.returns[0]}`)
  run.note(first, first.headers.has('idempotency-replayed') && 'is the first answer and says that it is not')
  const again = await run.ask(of, withKey(good, key))
  run.note(again, !same([again.status, again.text], [first.status, first.text]) && 'should be the first answer again')
  run.note(again, again.headers.get('idempotency-replayed') !== 'true' && 'should say that it is given again')

  const refuse = (answer: Answer, type: string) => {
    const isNamed = same(failures(answer), [`header ${keyHeader} ${type}`])
    run.note(answer, (answer.status !== 400 || !isNamed) && `should be 400 and name the header, ${type}`)
  }
  const example = (good.body ?? {}) as Json
  const required = (of.body as Property | undefined)?.required ?? []
  const left = Object.keys(example).find((name) => !required.includes(name))
  if (left !== undefined) {
    const { [left]: _left, ...body } = example
    refuse(await run.ask(of, withKey({ ...good, body }, key)), 'value_error.conflict')
  }
  if (paramNames(of).length > 0) {
    const params = await makeParams(run, of, 'default')
    refuse(await run.ask(of, withKey({ ...good, params }, key)), 'value_error.conflict')
  }
  refuse(await run.ask(of, withKey(await goodRequest(run, of), 'x'.repeat(256))), 'value_error.length')
  const longest = await run.ask(of, withKey(await goodRequest(run, of), randomUUID().padEnd(255, 'x')))
  run.note(longest, longest.status !== of.returns[0] && 'a key of 255 characters should do')
}

export const answersAsPreferred: Check = async (run, of) => {
  if (of.prefers === undefined) return
  const typeWith = async (prefer: string) => {
    const good: Ask = await goodRequest(run, of)
    const answer = await run.ask(of, { ...good, headers: { ...good.headers, prefer } })
    return { answer, type: (answer.body as { type?: unknown }).type }
  }
  for (const prefer of [`resource=${of.prefers}`, `respond-async, resource=${of.prefers}`]) {
    const { answer, type } = await typeWith(prefer)
    run.note(answer, type !== of.prefers && `should be a ${of.prefers}`)
  }
  for (const prefer of ['resource=no-such-thing', `resource=${of.prefers.toUpperCase()}`, 'x', '']) {
    const { answer, type } = await typeWith(prefer)
    run.note(answer, (answer.status !== of.returns[0] || type === of.prefers) && 'should ignore the preference')
  }
}
