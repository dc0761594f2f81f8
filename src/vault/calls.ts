import type { AuditingLog } from '../platform/log.ts'
import type { Database } from '../platform/postgres.ts'
import { describeKeys, destroyDataKey, rewrapSecrets, rotateDataKey } from './key-life.ts'
import type { KeyRing } from './key-ring.ts'
import { type Answers, type CallName, cardFields, type Question, type SecretReference } from './protocol.ts'
import type { PlainValue, Secrets } from './secrets.ts'

export interface CallContext {
  db: Database
  keys: KeyRing
  secrets: Secrets
  instance: string
  log: AuditingLog
  /** Who asks, as far as the connection tells. */
  caller: string
}

/** The values of an answer are wiped once they are sent, those of a question once the call is over. */
export interface CallResult<Answer> {
  answer: Answer
  values?: readonly Buffer[]
}

type Call<Name extends CallName> = (
  ctx: CallContext,
  question: Question<Name>,
  values: readonly Buffer[],
) => Promise<CallResult<Answers[Name]>>

/** The call itself is wrong: a bug of whoever calls. */
export class InvalidCallError extends Error {
  override name = 'InvalidCallError'
}

const referenceOf = ({ merchant_account_id, id }: { merchant_account_id: string; id: string }): SecretReference => ({
  merchantAccountId: merchant_account_id,
  id,
})

/** Without ever making a string of it. */
function requireNumber(values: readonly Buffer[]): Buffer {
  const [number] = values
  const isNumber = values.length === 1 && number && number.length >= 12 && number.length <= 19
  if (!isNumber || !number.every((byte) => byte >= 48 && byte <= 57)) {
    throw new InvalidCallError('a card number has 12 to 19 digits')
  }
  return number
}

function requireOther(fields: readonly string[]): void {
  if (fields.some((field) => cardFields.includes(field))) {
    throw new InvalidCallError('card numbers have calls of their own')
  }
}

function requireNamed(fields: readonly string[], values: readonly Buffer[]): PlainValue[] {
  requireOther(fields)
  if (values.length !== fields.length) throw new InvalidCallError('each field has one value')
  return fields.map((field, index) => ({ field, plain: values[index] ?? Buffer.alloc(0) }))
}

function found(named: readonly PlainValue[]): CallResult<Answers['readSecrets']> {
  const values = named.map(({ plain }) => plain)
  return { answer: { fields: named.map(({ field }) => field), lengths: values.map(({ length }) => length) }, values }
}

export const calls: { [Name in Exclude<CallName, 'rewrap'>]: Call<Name> } = {
  async storeCard({ secrets }, question, values) {
    const number = requireNumber(values)
    const fingerprint = secrets.fingerprintOf('card', number)
    await secrets.store(referenceOf(question), [{ field: question.field, plain: number }])
    return { answer: { fingerprint } }
  },

  async readCard(ctx, question) {
    const audit = (reason: string) =>
      ctx.log.audit('card read', {
        operation: 'readCard',
        merchant_account_id: question.merchant_account_id,
        resource_id: question.id,
        caller: ctx.caller,
        reason,
      })
    try {
      const found = await ctx.secrets.read(referenceOf(question), [question.field])
      audit(found.length > 0 ? 'handed out' : 'not there')
      const values = found.map(({ plain }) => plain)
      return { answer: { lengths: values.map(({ length }) => length) }, values }
    } catch (error) {
      audit('failed')
      throw error
    }
  },

  async fingerprintCard({ secrets }, _question, values) {
    return { answer: { fingerprint: secrets.fingerprintOf('card', requireNumber(values)) } }
  },

  async fingerprintGiftCard({ secrets }, _question, values) {
    return { answer: { fingerprint: secrets.fingerprintOf('gift-card', requireNumber(values)) } }
  },

  async applyReplacement({ secrets }, question) {
    return { answer: { applied: await secrets.applyReplacement(referenceOf(question)) } }
  },

  async remove({ secrets }, { references, fields }) {
    await secrets.remove(references.map(referenceOf), fields)
    return { answer: {} }
  },

  async listOwners({ secrets }, { created_before, after, limit }) {
    const createdBefore = new Date(created_before)
    const owners = await secrets.listOwners({ createdBefore, after: after && referenceOf(after), limit })
    return {
      answer: { owners: owners.map(({ merchantAccountId, id }) => ({ merchant_account_id: merchantAccountId, id })) },
    }
  },

  async storeSecrets({ secrets }, question, values) {
    await secrets.store(referenceOf(question), requireNamed(question.fields, values))
    return { answer: {} }
  },

  async readSecrets({ secrets }, question) {
    requireOther(question.fields)
    return found(await secrets.read(referenceOf(question), question.fields))
  },

  async readEach({ secrets }, { wanted }) {
    requireOther(wanted.map(({ field }) => field))
    const read = await Promise.all(wanted.map((one) => secrets.read(referenceOf(one), [one.field])))
    const found = read.flatMap((values, place) => values.map(({ plain }) => ({ place, plain })))
    const values = found.map(({ plain }) => plain)
    return { answer: { places: found.map(({ place }) => place), lengths: values.map(({ length }) => length) }, values }
  },

  async storeWaiting({ secrets }, question, values) {
    const named = requireNamed(question.fields, values)
    await secrets.storeWaiting(referenceOf(question), named, new Date(question.expires_at))
    return { answer: {} }
  },

  async takeWaiting({ secrets }, question) {
    return found(await secrets.takeWaiting(referenceOf(question), question.fields))
  },

  async listKeys(ctx) {
    return { answer: { keys: await describeKeys(ctx) } }
  },

  async rotateKey(ctx) {
    const answer = await rotateDataKey(ctx)
    ctx.log.audit('data key rotated', { operation: 'rotateKey', caller: ctx.caller, version: String(answer.version) })
    return { answer }
  },

  async destroyKey(ctx, { version }) {
    const answer = await destroyDataKey(ctx, version)
    ctx.log.audit('data key destroyed', { operation: 'destroyKey', caller: ctx.caller, version: String(version) })
    return { answer }
  },
}

/** One line of JSON each. */
export async function* rewrap(ctx: CallContext, signal: AbortSignal): AsyncGenerator<string> {
  ctx.log.audit('rewrap started', { operation: 'rewrap', caller: ctx.caller })
  for await (const progress of rewrapSecrets(ctx, signal)) yield `${JSON.stringify(progress)}\n`
}
