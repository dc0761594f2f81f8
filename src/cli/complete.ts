import type { Command, Option } from 'commander'
import { say } from './output.ts'

/** What may come next on a command line, for the scripts of `florin completion`: a line each, with what it means after a tab. */

interface Candidate {
  text: string
  meaning: string
}

export function complete(program: Command, words: readonly string[]): void {
  for (const { text, meaning } of candidatesOf(program, words)) say(`${text}\t${firstLine(meaning)}`)
}

/** The last word is the one that is being typed, perhaps empty. */
export function candidatesOf(program: Command, words: readonly string[]): Candidate[] {
  // bash hands `--status=x` over in three words.
  const said = words.filter((word, index) => word !== '=' || index === words.length - 1)
  const current = said.at(-1) === '=' ? '' : (said.at(-1) ?? '')
  const before = said.slice(0, -1)
  const command = commandAt(program, before)
  const option = optionOf(command, before.at(-1))
  const candidates = option
    ? choicesOf(option)
    : current.startsWith('-')
      ? optionsOf(command, current)
      : [...below(command), ...command.registeredArguments.flatMap(choicesOf)]
  return candidates.filter(({ text }) => text.startsWith(current))
}

function commandAt(program: Command, words: readonly string[]): Command {
  return words.reduce((command, word) => command.commands.find((inner) => inner.name() === word) ?? command, program)
}

/** The option whose value comes next. */
function optionOf(command: Command, word: string | undefined): Option | undefined {
  const option = command.options.find(({ long, short }) => word !== undefined && (long === word || short === word))
  return option && (option.required || option.optional) ? option : undefined
}

const choicesOf = ({ argChoices = [] }: Pick<Option, 'argChoices'>): Candidate[] =>
  argChoices.map((text) => ({ text, meaning: '' }))

/** Fields of objects are many, and offered once the object is named. */
const optionsOf = (command: Command, current: string): Candidate[] =>
  [...command.options.map((option) => ({ text: option.long ?? '', meaning: option.description })), help].filter(
    ({ text }) => text !== '' && (!text.includes('.') || current.includes('.')),
  )

const help: Candidate = { text: '--help', meaning: 'print this help' }

const below = (command: Command): Candidate[] =>
  command.commands.map((inner) => ({ text: inner.name(), meaning: inner.description() }))

const firstLine = (text: string): string => text.replaceAll(/\s+/g, ' ').slice(0, 100)
