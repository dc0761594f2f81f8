import { compare } from './compare.ts'
import { type FilterName, filterNames, find, type Meanings, meanings } from './oracle.ts'
import { makeQuery, type Query, without } from './queries.ts'
import { createRandom, type Random } from './random.ts'
import { type Made, makeTransactions } from './transactions.ts'
import type { World } from './world.ts'
import { tables, writeTransactions } from './write.ts'

export interface RunOptions {
  comparisons: number
  seed: number
  /** The oracle's own; others are planted mistakes, as is another reach. */
  by?: Meanings
  reach?: (query: Query) => readonly string[]
  onProgress?: (comparisons: number) => void
}

export interface RunResult {
  comparisons: number
  /** Pages with something on them, of queries that do not let everything through. */
  telling: number
  perFilter: Record<FilterName, number>
  tellingPerFilter: Record<FilterName, number>
  difference: Difference | undefined
}

/** The first, with as few filters as show it. */
export interface Difference {
  filters: FilterName[]
  description: string
}

const noneYet = () => Object.fromEntries(filterNames.map((name) => [name, 0])) as Record<FilterName, number>

const atOnce = 30
/** With other transactions after so many. */
const comparisonsPerRound = 10_000

/** Random queries on random transactions, round by round, up to the first difference. */
export async function runComparisons(world: World, options: RunOptions): Promise<RunResult> {
  const { comparisons } = options
  const result: RunResult = {
    comparisons: 0,
    telling: 0,
    perFilter: noneYet(),
    tellingPerFilter: noneYet(),
    difference: undefined,
  }
  // Each round has a seed of its own: what is found in the last can be seen again without the others.
  for (let { seed } = options; result.comparisons < comparisons && result.difference === undefined; seed += 1) {
    const random = createRandom(seed)
    const transactions = makeTransactions(random)
    await writeTransactions(world.run, random, transactions)
    // A plan by figures and one by guesses must find the same.
    if (random.chance(0.5)) await world.run(`analyze ${tables.join()}`)
    const until = Math.min(comparisons, result.comparisons + comparisonsPerRound)
    const lane = () => runLane(world, { ...options, seed, random, transactions, result, until })
    await Promise.all(Array.from({ length: atOnce }, lane))
  }
  return result
}

interface Lane extends RunOptions {
  random: Random
  transactions: readonly Made[]
  result: RunResult
  until: number
}

const expectedOf = ({ transactions, by = meanings, reach = ({ accounts }) => accounts }: Lane, query: Query) =>
  find(transactions, reach(query), query.filters, by)

async function runLane(world: World, lane: Lane): Promise<void> {
  const { random, transactions, result, until, onProgress } = lane
  while (result.comparisons < until && result.difference === undefined) {
    const query = makeQuery(random, transactions)
    const expected = expectedOf(lane, query)
    const { pages, difference } = await compare(world.ask, query, expected)
    result.comparisons += pages
    const isTelling = expected.length > 0 && expected.length < find(transactions, query.accounts, {}).length
    result.telling += isTelling ? pages : 0
    for (const name of Object.keys(query.filters) as FilterName[]) {
      result.perFilter[name] += pages
      result.tellingPerFilter[name] += isTelling ? pages : 0
    }
    if (difference !== undefined) result.difference ??= await shorten(world, lane, query, difference)
    onProgress?.(result.comparisons)
  }
}

/** Leaves out filters as long as there is a difference. */
async function shorten(world: World, lane: Lane, query: Query, difference: string): Promise<Difference> {
  const { transactions, seed } = lane
  for (const name of Object.keys(query.filters) as FilterName[]) {
    const shorter = without(query, name)
    const compared = await compare(world.ask, shorter, expectedOf(lane, shorter))
    if (compared.difference !== undefined) return shorten(world, lane, shorter, compared.difference)
  }
  return {
    filters: Object.keys(query.filters) as FilterName[],
    description: describe(query, transactions, difference, seed),
  }
}

function describe(query: Query, transactions: readonly Made[], difference: string, seed: number): string {
  const { caller, header, parameters } = query
  const [, expected = '', found = ''] = difference.split('\n')
  // What only one of the two has tells most.
  const odd = transactions.filter(({ id }) => expected.includes(id) !== found.includes(id)).slice(0, 3)
  return [
    `seed ${seed}: key pair that reaches ${caller}, merchant account ${header ?? 'not named'}`,
    `GET /transactions?${parameters.map(([name, text]) => `${name}=${text}`).join('&')}`,
    difference,
    ...odd.map((transaction) => `one of them has ${JSON.stringify(transaction)}`),
  ].join('\n')
}
