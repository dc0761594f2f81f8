import { Command, type Help } from 'commander'
import { type Listed, listed } from './command-list.ts'
import { loadManifest } from './operations/manifest.ts'
import { reportError, withoutCardNumbers } from './output.ts'
import { version } from './repository.ts'

/** The program for these arguments: the command that they name is loaded, of the others only name and description are there. */
export async function buildProgram(args: readonly string[]): Promise<Command> {
  const program = new Command('florin')
    .description('Runs and looks after a Florin: a payments service of your own.')
    .version(version, '-V, --version', 'print the version')
    .addHelpText(
      'after',
      `
Examples:
  $ florin dev                  everything on this machine, with a token to try it
  $ florin transactions list    the API of that, or of --api URL; each operation is a command`,
    )
    .configureHelp(shortGroups)
  const words = wordsIn(args)
  for (const entry of [...listed, ...apiGroups(words)]) {
    const command = entry.name === words[0] ? await entry.load() : new Command(entry.name)
    if (command.description() === '') command.description(entry.description)
    program.addCommand(command.helpGroup(entry.heading))
  }
  for (const command of everyCommand(program)) {
    command
      .helpCommand(false)
      .showHelpAfterError('Add --help to see how it is used.')
      .helpOption('-h, --help', 'print this help')
      .configureOutput({ outputError: (text, write) => write(withoutCardNumbers(text)) })
  }
  return program.commandsGroup('Try:').helpCommand('help [command]', 'Print the help of a command.')
}

const apiHeading = 'API, a command an operation ("florin GROUP --help" lists them):'

/** The groups of the API are many, and their names say enough. */
const shortGroups: Partial<Help> = {
  padWidth: () => 15,
  formatItemList(heading, items, helper) {
    if (items.length === 0) return []
    const names = items.map((item) => item.trim().split(/\s/)[0])
    const lines =
      heading === apiHeading ? indent(helper.boxWrap(names.join('  '), (helper.helpWidth ?? 80) - 2)) : items
    return [helper.styleTitle(heading), ...lines, '']
  },
}

const indent = (text: string): string[] => text.split('\n').map((line) => `  ${line}`)

/** What is no option: the words of the command come first among them. */
function wordsIn(args: readonly string[]): string[] {
  const words = args.filter((word) => !word.startsWith('-'))
  return words[0] === 'help' ? words.slice(1) : words
}

function apiGroups(words: readonly string[]): Listed[] {
  const manifest = loadManifest()
  return manifest.groups.map((group) => ({
    heading: apiHeading,
    name: group.name,
    description: group.description,
    load: async () => {
      const { groupCommand } = await import('./operations/command.ts')
      const command = groupCommand(group, manifest, words)
      // The one command of an area that is more than one of its operations.
      if (group.name === 'events') command.addCommand((await import('./commands/events.ts')).resendCommand())
      return command
    },
  }))
}

const everyCommand = (command: Command): Command[] => [command, ...command.commands.flatMap(everyCommand)]

export async function runCommandLine(args: readonly string[]): Promise<void> {
  try {
    const [first, ...words] = args
    if (first === 'complete') {
      const { complete } = await import('./complete.ts')
      return complete(await buildProgram(words), words)
    }
    const program = await buildProgram(args)
    await program.parseAsync(args, { from: 'user' })
  } catch (error) {
    reportError(error, args.includes('--json'))
  }
}
