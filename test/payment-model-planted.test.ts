import { afterAll, describe, expect, test } from 'vitest'
import { useDatabase } from './database.ts'
import { planted } from './payment-model/planted.ts'
import { runModel } from './payment-model/run.ts'
import { createWorld, type World } from './payment-model/world.ts'

/** More than any of them needs by far; from a fixed seed, so that chance cannot make it red. */
const most = 400
const usualSeed = 4711

describe.each(planted)(
  'the model finds $name',
  ({ dropConstraints = [], rewrites = [], replace, seed = usualSeed }) => {
    const database = useDatabase()
    let world: World | undefined
    afterAll(() => world?.close())

    test(`within ${most} sequences`, { timeout: 300_000 }, async () => {
      for (const [table, constraint] of dropConstraints) {
        await database.query(`alter table ${table} drop constraint ${constraint}`)
      }
      const met = new Set<RegExp>()
      const rewrite = (text: string) =>
        rewrites.reduce((changed, [search, replacement]) => {
          if (search.test(changed)) met.add(search)
          return changed.replace(search, replacement)
        }, text)
      world = await createWorld({
        apiUrl: database.url('florin_api'),
        workerUrl: database.url('florin_worker'),
        adminUrl: database.url(),
        rewrite,
        ...(replace && { replace }),
      })
      const { difference } = await runModel(world, { sequences: most, seed, isShortened: false })
      expect(difference).toBeDefined()
      // A statement that PostgreSQL does not understand is a plant gone stale, not a bug found.
      expect(difference).not.toMatch(/syntax error|is of type|does not exist|could not determine/)
      expect(rewrites.map(([search]) => search).filter((search) => !met.has(search))).toEqual([])
    })
  },
)
