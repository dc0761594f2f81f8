import { Command, Option } from 'commander'
import { accountOption, addApiOptions } from '../api-client.ts'
import { type Field, flagOf, type Group, type Manifest, type Operation } from './manifest.ts'
import { type OperationOptions, runOperation } from './run.ts'

/** The commands of one area of the API: `transactions`, with all that is below it. Only the one that is asked for gets its options. */
export function groupCommand(
  { name, description }: Group,
  { operations }: Manifest,
  words: readonly string[],
): Command {
  const own = operations.filter(({ name: [first] }) => first === name)
  const group = new Command(name).description(description)
  for (const operation of own) {
    const parent = operation.name.slice(1, -1).reduce((command, word) => subgroup(command, word), group)
    const isAsked = operation.name.every((word, index) => word === words[index])
    parent.addCommand(isAsked ? operationCommand(operation, operations) : listedCommand(operation))
  }
  for (const command of groupsIn(group)) {
    const verbs = command.commands.map((inner) => inner.name()).join(', ')
    if (command !== group) command.description(`Operations: ${verbs}`)
    command.configureHelp({ subcommandTerm, visibleCommands: operationsFirst })
    command.addHelpText('after', `\nExample:\n  $ florin ${exampleBelow(command, own)}`)
  }
  return group
}

const subcommandTerm = (command: Command): string =>
  [command.name(), ...command.registeredArguments.map((argument) => `<${argument.name()}>`)].join(' ')

const operationsFirst = ({ commands }: Command): Command[] =>
  commands.toSorted((left, right) => Math.sign(left.commands.length) - Math.sign(right.commands.length))

function subgroup(parent: Command, name: string): Command {
  const known = parent.commands.find((command) => command.name() === name)
  if (known) return known
  const fresh = new Command(name)
  parent.addCommand(fresh)
  return fresh
}

const groupsIn = (command: Command): Command[] => [
  command,
  ...command.commands.filter((inner) => inner.commands.length > 0).flatMap(groupsIn),
]

const wordsOf = (command: Command): string[] => [...(command.parent ? wordsOf(command.parent) : []), command.name()]

const exampleBelow = (command: Command, own: readonly Operation[]): string => {
  const words = wordsOf(command)
  return own.find(({ name }) => words.every((word, index) => name[index] === word))?.example ?? ''
}

function listedCommand({ name, summary, parameters }: Operation): Command {
  const command = new Command(name.at(-1)).summary(summary)
  for (const { name, description } of parameters) command.argument(`<${name}>`, description)
  return command
}

function operationCommand(operation: Operation, all: readonly Operation[]): Command {
  const { summary, description } = operation
  const command = listedCommand(operation).description(
    [summary, description.replaceAll('`', '')].filter((text) => text !== '').join('.\n\n'),
  )
  const filters = addFields(command, operation.filters, 'Filters:')
  const fields = addFields(command, operation.fields, 'Fields:')
  for (const option of callOptions(operation)) command.addOption(option)
  return addApiOptions(command, accountOf(operation))
    .option('--json', 'print the answer as JSON, as it is when the output is no terminal')
    .configureHelp({ minWidthToWrap: 20 })
    .addHelpText('after', helpOf(operation))
    .action(async () => {
      const options = command.opts<OperationOptions & Record<string, readonly string[] | boolean | undefined>>()
      const given = new Map(
        [...filters, ...fields].flatMap(([field, attribute]) => {
          const said = options[attribute]
          return said === undefined ? [] : [[field, said] as const]
        }),
      )
      await runOperation(operation, command.args, given, options, { create: creatorOf(operation, all) })
    })
}

/** The options of fields, and under which name their values are found. */
function addFields(command: Command, fields: readonly Field[], heading: string): [Field, string][] {
  return fields.map((field) => {
    const option = new Option(field.kind === 'boolean' ? flagOf(field) : `${flagOf(field)} <${placeOf(field)}>`)
    option.description = describe(field, fields)
    option.helpGroup(heading).hideHelp(field.name.includes('.'))
    if (field.choices) option.choices([...field.choices])
    // As they are typed: what they mean is decided where nothing repeats them in a message.
    if (field.kind !== 'boolean') option.argParser(repeated)
    command.addOption(option)
    if (field.kind === 'boolean') command.addOption(new Option(`--no-${flagOf(field).slice(2)}`).hideHelp())
    return [field, option.attributeName()]
  })
}

const repeated = (text: string, before: string[] = []): string[] => [...before, text]

const placeOf = ({ kind, choices, name }: Field): string => {
  if (choices) return 'choice'
  if (kind !== 'string') return kind
  return name.endsWith('_id') || name === 'id' ? 'id' : 'text'
}

function describe(field: Field, all: readonly Field[]): string {
  const inner = all.filter(
    ({ name }) => name.startsWith(`${field.name}.`) && !name.slice(field.name.length + 1).includes('.'),
  )
  return [
    field.description?.replaceAll('`', '') ?? '',
    field.isRequired ? '(required)' : '',
    field.isList ? '(repeat for more)' : '',
    field.kind === 'boolean' ? `(or --no-${flagOf(field).slice(2)})` : '',
    inner.length > 0 ? `(or its fields: ${namesOf(inner)})` : '',
  ]
    .filter((part) => part !== '')
    .join(' ')
}

const mostNamed = 6

const namesOf = (fields: readonly Field[]): string =>
  [...fields.slice(0, mostNamed).map(flagOf), ...(fields.length > mostNamed ? ['…'] : [])].join(', ')

function callOptions({ body, isPaged, isIdempotent, prefers, isStream }: Operation): Option[] {
  const options: Option[] = []
  if (!isStream) options.push(new Option('--print <field>', 'print this field alone, as "id" or "buyer.id"'))
  if (isPaged) options.push(new Option('--all', 'every page, as lines of JSON when the output is no terminal'))
  if (body === 'raw') {
    options.push(
      new Option('--data <text>', 'the message; @FILE reads a file, - standard input'),
      new Option('--header <line>', "'Name: value', such as the signature (repeat for more)").argParser(repeated),
    )
  }
  if (body === 'optional' || body === 'required') {
    options.push(
      new Option('--data <json>', 'the whole body; @FILE reads a file, - standard input; options change fields of it'),
    )
  }
  if (isIdempotent) {
    options.push(new Option('--idempotency-key <key>', 'with the same key the same request happens once only'))
  }
  if (prefers !== undefined) {
    options.push(new Option('--prefer <resource>', 'answer with this instead').choices([prefers]))
  }
  return options
}

function accountOf({ account }: Operation): Option | null {
  if (account === 'none') return null
  if (account === 'one') return accountOption()
  return accountOption(
    account === 'list'
      ? 'the merchant account, or "*" for all that the key reaches (default: the first one it reaches)'
      : 'the merchant account, or "*" for the whole instance (default: the first one the key reaches)',
  )
}

function creatorOf(operation: Operation, all: readonly Operation[]): string | undefined {
  const group = operation.name.slice(0, -1).join(' ')
  return all.find(({ name }) => name.join(' ') === `${group} create`)?.name.join(' ')
}

function helpOf({ id, scopes, example, fields, filters, isPaged }: Operation): string {
  const filter = filters.find(({ choices }) => choices)
  const choice = filter && `${flagOf(filter)} ${filter.choices?.[0]}`
  const examples = [example, ...(isPaged ? [`${example} ${choice === undefined ? '' : `${choice} `}--all`] : [])]
  const takesCards = fields.some(({ name }) => /(^|\.)(number|card_number|security_code|pin)$/.test(name))
  return [
    ...(takesCards
      ? [
          '',
          'Others on this machine can see what is typed here. Outside a sandbox give card data with --data @FILE or --data -.',
        ]
      : []),
    '',
    `Scope: ${scopes.length === 0 ? 'none, and no token' : scopes.join(' or ')}. Reference: /docs#${id} of the API.`,
    '',
    `Example${examples.length > 1 ? 's' : ''}:`,
    ...examples.map((line) => `  $ florin ${line}`),
  ].join('\n')
}
