import { optionalNames, type Setting, settings } from '../src/platform/settings.ts'

const intro = `# Configuration

<!-- Generated from src/platform/settings.ts by \`npm run generate\`; do not edit. -->

Every setting comes from the environment. A process reads only the settings of its own and refuses to start when one is wrong, naming
every mistake at once; a variable that begins with \`FLORIN_\` and is not in this table is a mistake too. A secret can also come from a
file: set \`<NAME>_FILE\` to its path instead.

| Setting | Read by | Default | Meaning |
|---|---|---|---|
`

export function renderSettings(): string {
  const rows = (Object.entries(settings) as [string, Setting][]).map(
    ([name, { env, for: processes, schema, secret }]) => {
      const {
        default: fallback,
        description = '',
        ...rules
      } = schema as { default?: string | number | boolean; description?: string; [rule: string]: unknown }
      const isOptional = (optionalNames as readonly string[]).includes(name)
      const without = isOptional ? 'not set' : 'none: must be set'
      const value =
        fallback === undefined ? (description.includes('Default:') ? 'see right' : without) : `\`${fallback}\``
      return `| \`${env}\`${secret ? ' (secret)' : ''} | ${processes.join(', ')} | ${value} | ${description}${constraint(rules)} |`
    },
  )
  return `${intro}${rows.join('\n')}\n`
}

function constraint({
  enum: values,
  minimum,
  maximum,
}: {
  enum?: string[]
  minimum?: number
  maximum?: number
}): string {
  if (values) return ` One of ${values.map((value) => `\`${value}\``).join(', ')}.`
  return minimum === undefined ? '' : ` From ${minimum} to ${maximum}.`
}
