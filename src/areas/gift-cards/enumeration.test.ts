import { afterAll, beforeAll, beforeEach, expect, test } from 'vitest'
import { useApi } from '../../../test/api.ts'
import { newNumber } from '../../../test/gift-card-provider.ts'
import { makeGiftCardService } from '../../../test/gift-cards.ts'
import { commandLineContext } from '../../cli/command-line-context.ts'
import { createGiftCards } from '../../connectors/registry.ts'
import type { GiftCardConnector } from '../../connectors/gift-card.ts'
import type { Context } from '../../context.ts'
import { connect, type Database } from '../../platform/postgres.ts'
import { toQuery } from '../../platform/sql.ts'
import { activateGiftCard } from './operations/activations.ts'
import { lookUpBalances } from './operations/balances.ts'
import { createGiftCard } from './operations/create.ts'

/* Whoever guesses gift cards learns nothing from an answer but the documented code, nor from what it takes to find it. */

const api = useApi()
const stored = { number: newNumber(), pin: '05000' }
let db: Database
/** Everything that was asked of the database, the vault and the provider. */
const asked: string[] = []

beforeAll(async () => {
  await makeGiftCardService(api)
  const { status } = await api.request('POST', '/gift-cards', { body: stored })
  expect(status).toBe(201)
  db = connect({ url: api.database.url('florin_api'), applicationName: 'test', poolSize: 2, onError: () => undefined })
})
afterAll(() => db.close())
beforeEach(() => void asked.splice(0))

/** Cards that do not work, each for a reason of its own, and the code for it. */
const guesses = () =>
  ({
    unknown: [{ number: newNumber(), pin: '10000' }, 'invalid_gift_card'],
    'wrong PIN': [{ number: stored.number, pin: '4711' }, 'invalid_gift_card'],
    inactive: [{ number: newNumber(), pin: '10002' }, 'inactive_card'],
  }) as const
type Guess = ReturnType<typeof guesses>[keyof ReturnType<typeof guesses>][0]

/** The same thing that writes down what is called. */
const listening = <Thing extends object>(thing: Thing, name: string): Thing =>
  new Proxy(thing, {
    get(target, property) {
      const value: unknown = Reflect.get(target, property)
      if (typeof value !== 'function') return value
      return (...args: unknown[]) => {
        asked.push(`${name}.${String(property)}`)
        return (value as (...values: unknown[]) => unknown).apply(target, args)
      }
    },
  })

function listeningContext(): Context {
  const watched: Database = {
    ...db,
    run(statement) {
      asked.push(toQuery(statement).text)
      return db.run(statement)
    },
  }
  const connectors = createGiftCards({ environment: 'sandbox', db: watched, now: () => new Date() })
  const giftCards = new Map(
    [...connectors].map(([id, connector]) => [id, listening<GiftCardConnector>(connector, 'provider')]),
  )
  return {
    ...commandLineContext(watched, 'test'),
    vault: listening(api.vault.client(), 'vault'),
    giftCards,
    accounts: ['default'],
  }
}

/** What an operation asks for such a card, in whatever order: some of it happens side by side. */
async function effortOf(operation: (ctx: Context, guess: Guess) => Promise<unknown>, guess: Guess): Promise<string[]> {
  asked.splice(0)
  await operation(listeningContext(), guess).catch(() => undefined)
  return asked.toSorted()
}

const operations: Record<string, (ctx: Context, guess: Guess) => Promise<unknown>> = {
  'POST /gift-cards': (ctx, guess) => createGiftCard(ctx, guess),
  'POST /gift-cards/balances': (ctx, guess) => lookUpBalances(ctx, { items: [guess] }),
}

test.each(Object.entries(operations))(
  '%s asks the same of everybody for an unknown card, a wrong PIN and an inactive card',
  async (_name, operation) => {
    const { unknown, 'wrong PIN': wrong, inactive } = guesses()
    const effort = await effortOf(operation, unknown[0])
    expect(effort).toContain('provider.balance')
    expect(await effortOf(operation, wrong[0])).toEqual(effort)
    expect(await effortOf(operation, inactive[0])).toEqual(effort)
  },
)

test('an activation asks the same too', async () => {
  const { unknown, 'wrong PIN': wrong, inactive } = guesses()
  const activate = (ctx: Context, guess: Guess) => activateGiftCard(ctx, guess, undefined)
  const effort = await effortOf(activate, unknown[0])
  expect(effort).toContain('provider.activate')
  expect(await effortOf(activate, wrong[0])).toEqual(effort)
  expect(await effortOf(activate, inactive[0])).toEqual(effort)
})

test('answers to them differ in the documented code only', async () => {
  const paths = ['/gift-cards', '/gift-cards/activations']
  for (const path of paths) {
    const answers = await Promise.all(
      Object.values(guesses()).map(async ([body, code]) => {
        const { status, text } = await api.request('POST', path, { body })
        expect(text).toContain(`value_error.${code}"`)
        return [status, text.replace(code, 'CODE')]
      }),
    )
    expect(new Set(answers.map((answer) => JSON.stringify(answer))).size, path).toBe(1)
  }
})

test('items of balances differ in the codes and in what is sent back of the number', async () => {
  const items = await Promise.all(
    Object.values(guesses()).map(async ([card, code]) => {
      const { status, body } = await api.request<{ items: Record<string, unknown>[] }>('POST', '/gift-cards/balances', {
        body: { items: [card] },
      })
      const { balance_error_code, balance_raw_error_code, balance_raw_error_message, bin, sub_bin, last4, ...rest } =
        body.items[0] ?? {}
      expect(balance_error_code).toBe(code)
      expect([balance_raw_error_code, balance_raw_error_message]).toEqual([expect.any(String), expect.any(String)])
      expect([bin, sub_bin, last4]).toEqual([card.number.slice(0, 6), card.number.slice(6, 9), card.number.slice(-4)])
      return [status, rest]
    }),
  )
  expect(items).toEqual([items[0], items[0], items[0]])
})
