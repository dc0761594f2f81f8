import { createHash } from 'node:crypto'
import type { Context } from '../context.ts'
import { ApiError, concurrentRequest } from '../errors.ts'
import { Rendered } from '../rendered.ts'
import { deleteOldKeys, findKey, insertKey, type KeyOwner, type KeyRow, type NewKey, takeOverKey } from './store.ts'

const keptMs = 24 * 60 * 60 * 1000
/** Longer than a request can take: all providers that may be asked one after the other. */
const leaseMs = 60_000

/** The key was held when it was to be recorded: undoes the transaction of the intent. */
export class KeyTaken extends Error {}

/** The key of a request, and what tells this request from another with the same key. */
export function newKey(ctx: Pick<Context, 'now' | 'operation'>, key: string, request: unknown): NewKey {
  const now = ctx.now().getTime()
  return {
    operation: ctx.operation,
    key,
    fingerprint: createHash('sha256').update(canonical(request)).digest('hex'),
    lease_until: new Date(now + leaseMs),
    forgotten_before: new Date(now - keptMs),
  }
}

/** The same for any order of fields. */
function canonical(value: unknown): string {
  if (Array.isArray(value)) return `[${value.map(canonical).join(',')}]`
  if (typeof value !== 'object' || value === null) return JSON.stringify(value ?? null)
  const fields = Object.entries(value)
    .filter(([, field]) => field !== undefined)
    .sort(([left], [right]) => (left < right ? -1 : 1))
  return `{${fields.map(([name, field]) => `${JSON.stringify(name)}:${canonical(field)}`).join(',')}}`
}

/** Looks before anything is done; the insert of the key decides. */
export async function findAnswer(ctx: Context, key: NewKey, finish: (row: KeyRow) => Promise<Rendered>) {
  const row = await findKey(ctx.db, ctx.accounts, key)
  return row && row.created_at >= key.forgotten_before ? answerOf(ctx, key, row, finish) : undefined
}

/** After the insert found the key taken: there is an answer, or one is being made, or somebody died making it. */
export async function repeatAnswer(
  ctx: Context,
  key: NewKey,
  finish: (row: KeyRow) => Promise<Rendered>,
): Promise<Rendered> {
  const row = await findKey(ctx.db, ctx.accounts, key)
  if (!row) throw concurrentRequest()
  return answerOf(ctx, key, row, finish)
}

async function answerOf(ctx: Context, key: NewKey, row: KeyRow, finish: (row: KeyRow) => Promise<Rendered>) {
  if (row.fingerprint !== key.fingerprint) throw otherRequest()
  if (row.status !== null && row.body !== null) {
    return new Rendered(row.body, { status: row.status, headers: { 'idempotency-replayed': 'true' } })
  }
  if (row.lease_until > ctx.now()) throw concurrentRequest()
  if (!(await takeOverKey(ctx.db, ctx.accounts, key, ctx.now()))) throw concurrentRequest()
  return finish(row)
}

const otherRequest = () =>
  new ApiError('bad_request', {
    message: 'Request failed validation',
    details: [
      {
        location: 'header',
        pointer: 'Idempotency-Key',
        message: 'Was used for another request within the last 24 hours; use a new key for a new request',
        type: 'value_error.conflict',
      },
    ],
  })

/** Runs `work` at most once for a key; who comes again gets the first answer. */
export async function onceByKey(
  ctx: Context,
  idempotencyKey: string | undefined,
  request: unknown,
  finish: (row: KeyRow) => Promise<Rendered>,
  work: (key: NewKey | null) => Promise<Rendered>,
): Promise<Rendered> {
  if (idempotencyKey === undefined) return work(null)
  const key = newKey(ctx, idempotencyKey, request)
  const answered = await findAnswer(ctx, key, finish)
  if (answered) return answered
  try {
    return await work(key)
  } catch (error) {
    if (error instanceof KeyTaken) return repeatAnswer(ctx, key, finish)
    throw error
  }
}

/** First thing in the transaction of the intent. */
export async function holdKey(
  ctx: Pick<Context, 'db' | 'now'>,
  key: NewKey | null,
  owner: KeyOwner & { merchantAccountId: string },
): Promise<void> {
  if (key && !(await insertKey(ctx.db, owner.merchantAccountId, key, owner, ctx.now()))) throw new KeyTaken()
}

/** An hour longer than promised, so that nobody who asks at the last moment finds it half gone. */
export async function forgetOldKeys(ctx: Pick<Context, 'db' | 'accounts' | 'now'>, signal: AbortSignal): Promise<void> {
  const before = new Date(ctx.now().getTime() - keptMs - 60 * 60 * 1000)
  while (!signal.aborted && (await deleteOldKeys(ctx.db, ctx.accounts, before, 1_000)) === 1_000);
}
