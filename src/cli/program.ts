import { Command } from 'commander'
import { binsCommand } from './commands/bins.ts'
import { clockCommand } from './commands/clock.ts'
import { devCommand } from './commands/dev.ts'
import { doctorCommand } from './commands/doctor.ts'
import { eventsCommand } from './commands/events.ts'
import { keysCommand } from './commands/keys.ts'
import { listenCommand } from './commands/listen.ts'
import { migrateCommand } from './commands/migrate.ts'
import { tokenCommand } from './commands/token.ts'
import { triggerCommand } from './commands/trigger.ts'
import { vaultCommand } from './commands/vault.ts'
import { verifyCommand } from './commands/verify.ts'
import { reportError } from './output.ts'
import { version } from './repository.ts'

export function buildProgram(): Command {
  const commands = [
    devCommand(),
    migrateCommand(),
    keysCommand(),
    tokenCommand(),
    vaultCommand(),
    binsCommand(),
    verifyCommand(),
    clockCommand(),
    listenCommand(),
    triggerCommand(),
    eventsCommand(),
    doctorCommand(),
  ]
  const program = new Command('florin')
    .description('Runs and looks after a Florin: a payments service of your own.')
    .version(version, '-V, --version', 'print the version')
    .addHelpText('after', '\nExample:\n  $ florin dev        everything on this machine, with a token to try it')
  for (const command of commands) program.addCommand(command)
  for (const command of [program, ...commands, ...commands.flatMap((command) => command.commands)]) {
    command.showHelpAfterError('Add --help to see how it is used.').helpOption('-h, --help', 'print this help')
  }
  return program.helpCommand('help [command]', 'print the help of a command')
}

export async function runCommandLine(args: readonly string[]): Promise<void> {
  try {
    await buildProgram().parseAsync(args, { from: 'user' })
  } catch (error) {
    reportError(error, args.includes('--json'))
  }
}
