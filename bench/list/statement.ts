import pg from 'pg'
import { searchOf } from '../../src/areas/transactions/operations/filters.ts'
import { listStatement } from '../../src/areas/transactions/store/list.ts'
import { toText } from '../../src/platform/sql.ts'
import { bigAccount } from './world.ts'

/** The statement of a first page exactly as the store sends it, with its values written into it, for pgbench. */
export function firstPageText(limit: number): string {
  const search = searchOf({})
  if (!search) throw new Error('a search without filters finds everything')
  const statement = listStatement([bigAccount], search, { limit, position: undefined, seal: () => '' })
  return `${withoutVariables(toText(statement, pg.escapeLiteral))};\n`
}

/** pgbench takes a colon before a letter for a variable of its own, also in quotes; there it is spelled otherwise. */
const withoutVariables = (text: string): string =>
  text.replaceAll(/'(?:[^']|'')*'/g, (quoted) =>
    /:\w/.test(quoted) ? `E${quoted.replaceAll('\\', '\\\\').replaceAll(':', '\\x3a')}` : quoted,
  )
