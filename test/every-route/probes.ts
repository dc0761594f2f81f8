import { Type } from 'typebox'
import { audit } from '../../src/areas/audit-logs/operations.ts'
import type { Context } from '../../src/context.ts'
import { forbidden, notFound } from '../../src/errors.ts'
import { badHeader } from '../../src/http/errors.ts'
import { type Route, route } from '../../src/http/route.ts'
import { newId } from '../../src/ids.ts'
import { includesAccount } from '../../src/platform/accounts.ts'
import { transact } from '../../src/platform/postgres.ts'
import { Rendered } from '../../src/rendered.ts'
import { Body, DateTime, Enum, Nullable, Uuid } from '../../src/schema.ts'

const Probe = Type.Object(
  { type: Enum(['probe', 'probe-report']), id: Uuid(), merchant_account_id: Type.String(), name: Type.String() },
  { title: 'Probe' },
)

const ProbeBody = Body(
  {
    name: Type.String({ minLength: 1, maxLength: 20 }),
    kind: Type.Optional(Nullable(Enum(['one', 'two']))),
    owner: Body({ name: Type.String(), tags: Type.Optional(Type.Array(Type.String())) }),
    parts: Type.Optional(Type.Array(Body({ number: Type.Integer() }))),
  },
  { title: 'ProbeBody' },
)

const ProbePath = Type.Object({ probe_id: Uuid() })
const probeExample = () => ({ name: 'Probe', owner: { name: 'x', tags: ['a'] }, parts: [{ number: 1 }] })

interface StoredProbe {
  type: 'probe'
  id: string
  merchant_account_id: string
  name: string
}

export type Mistake =
  | 'none'
  | 'no audit row'
  | 'two audit rows'
  | 'an audit row of a refused change'
  | 'the account is ignored'
  | 'another account is forbidden'
  | 'a fault'
  | 'unknown fields are taken'
  | 'not described'
  | 'keys are ignored'
  | 'a key answers any request'
  | 'preferences are ignored'
  | 'knowing the id is not enough'
  | 'a buyer by another name'
  | 'nobody knows whose it is'

/** A resource of one merchant account, in memory, with a mistake in it; the way to see what a check makes of that mistake. */
export function probeRoutes(mistake: Mistake): Route[] {
  const stored = new Map<string, StoredProbe>()
  const answers = new Map<string, { request: string; text: string }>()
  const common = { merchantAccount: 'one', summary: 'Probe' } as const
  const record = (ctx: Context, action: 'created' | 'updated' | 'deleted', probe: StoredProbe) =>
    transact(ctx, async (inside) => {
      const { id, name, merchant_account_id } = probe
      const rows = mistake === 'no audit row' ? 0 : mistake === 'two audit rows' ? 2 : 1
      for (let row = 0; row < rows; row += 1) {
        await audit(inside, action, { type: 'probe', id, name, merchantAccountId: merchant_account_id })
      }
      return probe
    })
  const find = (ctx: Context, id: string): StoredProbe => {
    const probe = stored.get(id)
    if (!probe) throw notFound()
    if (mistake === 'the account is ignored' || includesAccount(ctx.accounts, probe.merchant_account_id)) return probe
    throw mistake === 'another account is forbidden' ? forbidden('It belongs to somebody else') : notFound()
  }
  const taken = mistake === 'unknown fields are taken' ? { ...ProbeBody, additionalProperties: true } : ProbeBody
  const findOpen = (ctx: Context, id: string): StoredProbe => {
    const probe = stored.get(id)
    if (!probe || mistake === 'knowing the id is not enough') return find(ctx, id)
    return probe
  }
  return [
    route({
      id: 'markProbe',
      method: 'POST',
      path: '/roles/probes/{probe_id}/mark',
      summary: 'Probe',
      scope: 'none',
      merchantAccount: 'none',
      params: ProbePath,
      returns: [204],
      handle: async (ctx, { params }) => {
        const probe = findOpen(ctx, params.probe_id)
        await record({ ...ctx, accounts: [probe.merchant_account_id] }, 'updated', probe)
      },
    }),
    route({
      id: 'listProbesOfBuyer',
      method: 'GET',
      path: '/roles/probes/of-buyer',
      scope: ['roles.read', 'embed'],
      ...common,
      query: Type.Object(
        mistake === 'nobody knows whose it is'
          ? {}
          : {
              [mistake === 'a buyer by another name' ? 'customer_buyer_id' : 'buyer_id']: Type.Optional(Uuid()),
            },
      ),
      returns: [200, Type.Object({ items: Type.Array(Probe) }, { title: 'Probes' })],
      handle: () => ({ items: [] }),
    }),
    route({
      id: 'listProbes',
      method: 'GET',
      path: '/roles/probes',
      scope: ['roles.read', 'reports.read'],
      ...common,
      merchantAccount: 'list',
      query: Type.Object({
        since: Type.Optional(DateTime()),
        kinds: Type.Optional(Type.Array(Enum(['one', 'two']))),
        big: Type.Optional(Type.Boolean()),
        probe_id: Type.Optional(Uuid()),
      }),
      returns: [200, Type.Object({ items: Type.Array(Probe) }, { title: 'Probes' })],
      handle: (ctx) => ({
        items: [...stored.values()]
          .filter((probe) => includesAccount(ctx.accounts, probe.merchant_account_id))
          .slice(0, 5),
      }),
    }),
    route({
      id: 'createProbe',
      method: 'POST',
      path: '/roles/probes',
      scope: 'roles.write',
      ...common,
      body: taken,
      idempotent: true,
      prefers: 'probe-report',
      example: probeExample,
      returns: [201, Probe],
      handle: async (ctx, { body, idempotencyKey = newId(), isPreferred }) => {
        const [account = ''] = ctx.accounts
        const request = JSON.stringify(body)
        const given = mistake === 'keys are ignored' ? undefined : answers.get(idempotencyKey)
        if (given && given.request !== request && mistake !== 'a key answers any request') {
          throw badHeader('Idempotency-Key', 'value_error.conflict', 'Was used for another request')
        }
        if (given) return new Rendered(given.text, { headers: { 'idempotency-replayed': 'true' } })
        const probe = { type: 'probe', id: newId(), merchant_account_id: account, name: body.name } as const
        stored.set(probe.id, probe)
        const type = isPreferred && mistake !== 'preferences are ignored' ? 'probe-report' : 'probe'
        const text = JSON.stringify({ ...(await record(ctx, 'created', probe)), type })
        answers.set(idempotencyKey, { request, text })
        return new Rendered(text)
      },
    }),
    route({
      id: 'getProbe',
      method: 'GET',
      path: '/roles/probes/{probe_id}',
      scope: 'roles.read',
      ...common,
      params: ProbePath,
      returns: [200, Probe],
      handle: (ctx, { params }) => {
        if (mistake === 'a fault') throw new TypeError('cannot read properties of undefined')
        return find(ctx, params.probe_id)
      },
    }),
    route({
      id: 'updateProbe',
      method: 'PUT',
      path: '/roles/probes/{probe_id}',
      scope: 'roles.write',
      ...common,
      params: ProbePath,
      body: taken,
      example: probeExample,
      returns: [200, Probe],
      handle: async (ctx, { params }) => {
        if (mistake === 'an audit row of a refused change') {
          const [account = ''] = ctx.accounts
          await record(ctx, 'updated', { type: 'probe', id: newId(), merchant_account_id: account, name: 'x' })
        }
        return record(ctx, 'updated', find(ctx, params.probe_id))
      },
    }),
    route({
      id: 'deleteProbe',
      method: 'DELETE',
      path: '/roles/probes/{probe_id}',
      scope: 'roles.write',
      ...common,
      params: ProbePath,
      returns: [204],
      handle: async (ctx, { params }) => {
        const probe = find(ctx, params.probe_id)
        await record(ctx, 'deleted', probe)
        stored.delete(probe.id)
      },
    }),
  ]
}
