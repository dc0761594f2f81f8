/** JSON schema, as far as openapi.json uses it → the text of a TypeScript type. */
export interface Schema {
  $ref?: string
  type?: string | string[]
  const?: unknown
  enum?: unknown[]
  anyOf?: Schema[]
  oneOf?: Schema[]
  items?: Schema
  properties?: Record<string, Schema>
  required?: string[]
  additionalProperties?: boolean | Schema
  description?: string
  default?: unknown
  deprecated?: boolean
}

/** Names of the document that are taken in TypeScript. */
const renamed: Readonly<Record<string, string>> = { Event: 'FlorinEvent' }

export const componentOf = (ref: string) => ref.slice(ref.lastIndexOf('/') + 1)

export const typeName = (component: string) => renamed[component] ?? component

const literal = (value: unknown) => (typeof value === 'string' ? quote(value) : JSON.stringify(value))

export const quote = (text: string) => `'${text.replaceAll('\\', '\\\\').replaceAll("'", "\\'")}'`

export function typeOf(schema: Schema, indent = ''): string {
  if (schema.$ref !== undefined) return typeName(componentOf(schema.$ref))
  if ('const' in schema) return literal(schema.const)
  if (schema.enum) return schema.enum.map(literal).join(' | ')
  const types = [schema.type ?? []].flat()
  const choices = schema.anyOf ?? schema.oneOf
  if (choices) {
    const members = choices.map((choice) => typeOf(choice, indent))
    return [...new Set(types.includes('null') ? [...members, 'null'] : members)].join(' | ')
  }
  if (types.length === 0) return 'unknown'
  return types.map((type) => plainType(type, schema, indent)).join(' | ')
}

function plainType(type: string, schema: Schema, indent: string): string {
  switch (type) {
    case 'integer':
    case 'number':
      return 'number'
    case 'array': {
      const item = typeOf(schema.items ?? {}, indent)
      return item.includes('|') ? `(${item})[]` : `${item}[]`
    }
    case 'object':
      return objectType(schema, indent)
    default:
      return type
  }
}

function objectType({ properties, required = [], additionalProperties }: Schema, indent: string): string {
  const others = typeof additionalProperties === 'object' ? typeOf(additionalProperties, indent) : 'unknown'
  if (!properties) return `Record<string, ${others}>`
  const lines = Object.entries(properties).map(([name, property]) => {
    const mark = required.includes(name) ? '' : '?'
    const key = /^[A-Za-z_]\w*$/.test(name) ? name : quote(name)
    return `${comment(notesOf(property), `${indent}  `)}${indent}  ${key}${mark}: ${typeOf(property, `${indent}  `)}\n`
  })
  const open = additionalProperties === true ? `${indent}  [name: string]: unknown\n` : ''
  return `{\n${lines.join('')}${open}${indent}}`
}

function notesOf({ description, default: value, deprecated }: Schema): string[] {
  return [
    ...(description === undefined ? [] : [description]),
    ...(value === undefined || value === null ? [] : [`Default: \`${JSON.stringify(value)}\`.`]),
    ...(deprecated ? ['@deprecated'] : []),
  ]
}

/** A doc comment; nothing where there is nothing to say. */
export function comment(notes: readonly string[], indent: string): string {
  const lines = notes.join('\n').replaceAll('*/', '*\\/').split('\n')
  if (notes.length === 0) return ''
  if (lines.length === 1) return `${indent}/** ${lines[0] ?? ''} */\n`
  return `${indent}/**\n${lines.map((line) => `${indent} * ${line}`.trimEnd()).join('\n')}\n${indent} */\n`
}

/** A named type of its own. */
export function declare(name: string, schema: Schema): string {
  const text = typeOf(schema)
  const notes = comment(schema.description === undefined ? [] : [schema.description], '')
  const isInterface = schema.properties !== undefined && schema.type === 'object' && !schema.oneOf && !schema.anyOf
  return `${notes}export ${isInterface ? `interface ${name} ${text}` : `type ${name} = ${text}`}\n`
}

/** Components that a schema names, those within them included. */
export function reach(schema: unknown, components: Readonly<Record<string, Schema>>, found = new Set<string>()) {
  if (typeof schema !== 'object' || schema === null) return found
  const { $ref } = schema as Schema
  if ($ref === undefined) {
    for (const child of Object.values(schema)) reach(child, components, found)
  } else if (!found.has(componentOf($ref))) {
    found.add(componentOf($ref))
    reach(components[componentOf($ref)], components, found)
  }
  return found
}
