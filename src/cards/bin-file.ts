import { type CardScheme, cardSchemeIds } from '../card-schemes.ts'
import { binDigits } from './bins.ts'
import type { CsvRecord } from './csv.ts'
import { type CardType, cardTypes } from './facts.ts'

/** docs/bin-file.md describes the file. */
const columnNames = ['bin_start', 'bin_end', 'scheme', 'additional_schemes', 'card_type', 'issuer', 'country'] as const
type ColumnName = (typeof columnNames)[number]

/** For each column of the file, in its order. */
export type BinColumns = readonly ColumnName[]

export interface BinLine {
  line: number
  start: number
  end: number
  scheme: CardScheme | null
  additionalSchemes: readonly CardScheme[]
  cardType: CardType | null
  issuer: string | null
  country: string | null
}

export interface BinProblem {
  line: number
  column: string | null
  /** Never holds a value of the file: a file of another kind may have card numbers in it. */
  message: string
}

export function readHeader({ line, fields }: CsvRecord): BinColumns | BinProblem[] {
  const problem = (column: string | null, message: string): BinProblem => ({ line, column, message })
  const isKnown = (name: string): name is ColumnName => columnNames.some((known) => known === name)
  const columns = fields.filter(isKnown)
  const hint = `The first line names the columns: ${columnNames.join(',')}.`
  if (columns.length === 0) return [problem(null, `is not a header. ${hint}`)]
  const problems = fields.flatMap((name, index) => {
    if (!isKnown(name)) return [problem(`number ${index + 1}`, `has an unknown name. ${hint}`)]
    return fields.indexOf(name) === index ? [] : [problem(name, 'is named twice. Remove one.')]
  })
  if (!columns.includes('bin_start')) problems.push(problem('bin_start', `is missing. ${hint}`))
  return problems.length > 0 ? problems : columns
}

export function readLine({ line, fields }: CsvRecord, columns: BinColumns): BinLine | BinProblem[] {
  if (fields.length !== columns.length) {
    const message = `has ${fields.length} fields and the header ${columns.length}. Quote fields that hold a comma.`
    return [{ line, column: null, message }]
  }
  const problems: BinProblem[] = []
  const field = (column: ColumnName) => fields[columns.indexOf(column)] ?? ''
  const report = (column: ColumnName, message: string) => problems.push({ line, column, message })

  const digits = { bin_start: field('bin_start'), bin_end: field('bin_end') || field('bin_start') }
  for (const column of ['bin_start', 'bin_end'] as const) {
    if (!/^\d{6,11}$/.test(digits[column]))
      report(column, `must be the first 6 to ${binDigits} digits of the card number.`)
  }
  const start = Number(digits.bin_start.padEnd(binDigits, '0'))
  const end = Number(digits.bin_end.padEnd(binDigits, '9'))
  if (problems.length === 0 && end < start) report('bin_end', 'is lower than bin_start. Exchange them.')

  const [scheme, ...additionalSchemes] = [field('scheme'), ...field('additional_schemes').split(';')]
  if (scheme !== '' && !isScheme(scheme)) report('scheme', `must be empty or one of ${cardSchemeIds.join(', ')}.`)
  const others = additionalSchemes.filter((name) => name !== '')
  if (!others.every(isScheme)) {
    report('additional_schemes', `must be empty or some of ${cardSchemeIds.join(', ')}, with semicolons between.`)
  }
  const cardType = field('card_type')
  if (cardType !== '' && !isCardType(cardType)) report('card_type', `must be empty or one of ${cardTypes.join(', ')}.`)
  const issuer = field('issuer').trim()
  if (issuer.length > 200 || /\p{Cc}/u.test(issuer)) {
    report('issuer', 'must have at most 200 characters and no control characters.')
  }
  const country = field('country')
  if (!/^([A-Z]{2})?$/.test(country)) report('country', 'must be empty or two capital letters of ISO 3166-1, as in DE.')

  if (problems.length > 0) return problems
  return {
    line,
    start,
    end,
    scheme: isScheme(scheme) ? scheme : null,
    additionalSchemes: others.filter(isScheme),
    cardType: isCardType(cardType) ? cardType : null,
    issuer: issuer || null,
    country: country || null,
  }
}

const schemeIds: ReadonlySet<string> = new Set(cardSchemeIds)
const isScheme = (name: string | undefined): name is CardScheme => name !== undefined && schemeIds.has(name)
const isCardType = (name: string): name is CardType => cardTypes.some((type) => type === name)
