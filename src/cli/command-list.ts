import type { Command } from 'commander'

/** A command that is not loaded: what most of them need takes far longer to load than to run. */
export interface Listed {
  heading: string
  name: string
  description: string
  load: () => Promise<Command>
}

const [run, lookAfter, tryOut] = ['Run:', 'Look after:', 'Try:']

export const listed: readonly Listed[] = [
  {
    heading: run,
    name: 'dev',
    description: 'Start everything on this machine: PostgreSQL, the processes, a key pair and a token.',
    load: async () => (await import('./commands/dev.ts')).devCommand(),
  },
  {
    heading: run,
    name: 'migrate',
    description: 'Bring the database in DATABASE_DIRECT_URL or DATABASE_URL to the newest schema.',
    load: async () => (await import('./commands/migrate.ts')).migrateCommand(),
  },
  {
    heading: lookAfter,
    name: 'doctor',
    description: 'Say what is wrong with this installation, and how to mend it.',
    load: async () => (await import('./commands/doctor.ts')).doctorCommand(),
  },
  {
    heading: lookAfter,
    name: 'keys',
    description: 'Manage the key pairs that sign access tokens.',
    load: async () => (await import('./commands/keys.ts')).keysCommand(),
  },
  {
    heading: lookAfter,
    name: 'vault',
    description: 'Look after the card vault.',
    load: async () => (await import('./commands/vault.ts')).vaultCommand(),
  },
  {
    heading: lookAfter,
    name: 'bins',
    description: 'Manage what is known of cards by their first digits.',
    load: async () => (await import('./commands/bins.ts')).binsCommand(),
  },
  {
    heading: lookAfter,
    name: 'verify',
    description: 'Recompute every amount, status and stored text of all transactions, and report what differs.',
    load: async () => (await import('./commands/verify.ts')).verifyCommand(),
  },
  {
    heading: tryOut,
    name: 'demo',
    description: 'Fill a sandbox with a shop: buyers, cards, gift cards and payments of the last months.',
    load: async () => (await import('./commands/demo.ts')).demoCommand(),
  },
  {
    heading: tryOut,
    name: 'token',
    description: 'Sign an access token with a private key and print it.',
    load: async () => (await import('./commands/token.ts')).tokenCommand(),
  },
  {
    heading: tryOut,
    name: 'clock',
    description: 'Show and move the clock of a merchant account, in a sandbox.',
    load: async () => (await import('./commands/clock.ts')).clockCommand(),
  },
  {
    heading: tryOut,
    name: 'listen',
    description: 'Print events as they happen, and send them to a URL on this machine.',
    load: async () => (await import('./commands/listen.ts')).listenCommand(),
  },
  {
    heading: tryOut,
    name: 'trigger',
    description: 'Bring an event about in a sandbox, by really doing what it tells of.',
    load: async () => (await import('./commands/trigger.ts')).triggerCommand(),
  },
  {
    heading: tryOut,
    name: 'completion',
    description: 'Print a script that lets bash, zsh or fish complete commands.',
    load: async () => (await import('./commands/completion.ts')).completionCommand(),
  },
]
