import type { Direction } from './example.ts'
import { anchor, html, type Html, join, type Part } from '../../html.ts'
import { inline, markdown } from './markdown.ts'
import type { OpenApi, Parameter, Schema, SchemaObject } from './openapi.ts'
import { mapOf, type Shape, shapeOf, typeOf } from './shape.ts'

export const schemaId = (name: string): string => `schema-${name}`

interface View {
  document: OpenApi
  /** Fields a caller cannot send are not shown in a request, nor those it never gets in a response. */
  direction: Direction | undefined
  /** How many components deep to show fields in place; beyond that the type is a link to the component. */
  depth: number
  /** The components the table is inside of, so that one that contains itself is not shown without end. */
  trail: readonly string[]
}

export const typeLabel = (document: OpenApi, source: Schema | undefined, depth = 0): Part => {
  const shape = shapeOf(document, source)
  const { schema, name, nullable, alternatives } = shape
  const orNull = nullable && ' or null'
  const type = typeOf(shape)
  const known = name !== undefined && document.components?.schemas?.[name] !== undefined
  if (known && (type === 'object' || type === undefined || alternatives.length > 0))
    return [html`<a href="${anchor(schemaId(name))}">${name}</a>`, orNull]
  if (depth > 4) return ['any', orNull]
  if (alternatives.length > 0) {
    const labels = alternatives.map((alternative) => typeLabel(document, alternative, depth + 1))
    return [join(labels, ' or '), orNull]
  }
  if (type === 'array') return ['array of ', typeLabel(document, schema.items, depth + 1), orNull]
  const map = mapOf(shape)
  if (type === 'object' && map && !schema.properties)
    return ['map of ', typeLabel(document, map.values, depth + 1), orNull]
  const types = [schema.type ?? []].flat()
  const label = types.length > 1 ? types.join(' or ') : (type ?? 'any')
  return [label, schema.format !== undefined && html` <i>${schema.format}</i>`, orNull]
}

/** "1 to 5 items"; the unit is in the singular. */
const span = (least: number | undefined, most: number | undefined, unit?: string): string | undefined => {
  const named = (count: number): string =>
    unit === undefined ? `${count}` : `${count} ${unit}${count === 1 ? '' : 's'}`
  if (least !== undefined && least === most) return `exactly ${named(least)}`
  if (least !== undefined && most !== undefined) return `${least} to ${named(most)}`
  if (most !== undefined) return `at most ${named(most)}`
  return least === undefined ? undefined : `at least ${named(least)}`
}

const literal = (value: unknown): Html =>
  html`<code>${typeof value === 'string' && value !== '' ? value : JSON.stringify(value)}</code>`

const enumList = (values: readonly unknown[]): Html => {
  const codes = join(values.map(literal), ' ')
  if (values.length <= 12) return html`<div class="enum">${codes}</div>`
  return html`<details class="enum"><summary>${values.length} values</summary>${codes}</details>`
}

const ownConstraints = (schema: SchemaObject): Part[] => {
  const lines: (Part | undefined)[] = [
    span(schema.minLength, schema.maxLength, 'character'),
    span(schema.minimum, schema.maximum),
    schema.exclusiveMinimum !== undefined && `greater than ${schema.exclusiveMinimum}`,
    schema.exclusiveMaximum !== undefined && `less than ${schema.exclusiveMaximum}`,
    schema.multipleOf !== undefined && `multiple of ${schema.multipleOf}`,
    span(schema.minItems, schema.maxItems, 'item'),
    schema.uniqueItems && 'no duplicates',
    span(schema.minProperties, schema.maxProperties, 'key'),
    schema.pattern !== undefined && html`matches <code>${schema.pattern}</code>`,
    schema.const !== undefined && ['always ', literal(schema.const)],
    schema.default !== undefined && ['default ', literal(schema.default)],
  ]
  const given = lines.filter((line) => line !== undefined && line !== false)
  return [schema.enum ? enumList(schema.enum) : undefined, ...given.map((line) => html`<div>${line}</div>`)]
}

const constraints = (document: OpenApi, shape: Shape): Part[] => {
  const own = ownConstraints(shape.schema)
  const map = mapOf(shape)
  if (map?.keys !== undefined) own.push(html`<div>keys match <code>${map.keys}</code></div>`)
  if (typeOf(shape) !== 'array') return own
  const item = shapeOf(document, shape.schema.items)
  const each = item.schema.properties ? [] : ownConstraints(item.schema).filter((part) => part !== undefined)
  return each.length > 0 ? [...own, html`<div class="each">each item:</div>`, each] : own
}

const flags = (schema: SchemaObject, view: View): Part[] => [
  schema.deprecated && html`<span class="flag">deprecated</span> `,
  view.direction === undefined && schema.readOnly && html`<span class="flag">read only</span> `,
  view.direction === undefined && schema.writeOnly && html`<span class="flag">write only</span> `,
]

/** Through arrays and maps to what is worth opening: an object with fields, or a choice. */
const contentOf = (document: OpenApi, source: Schema): Shape => {
  let shape = shapeOf(document, source)
  for (let hops = 0; hops < 8; hops += 1) {
    if (shape.schema.properties || shape.alternatives.length > 0) break
    const inner = typeOf(shape) === 'array' ? shape.schema.items : mapOf(shape)?.values
    if (inner === undefined) break
    shape = shapeOf(document, inner)
  }
  return shape
}

const enter = (view: View, shape: Shape): View =>
  shape.name === undefined
    ? { ...view, depth: view.depth - 0.25 }
    : { ...view, depth: view.depth - 1, trail: [...view.trail, shape.name] }

const opens = (view: View, shape: Shape): boolean => {
  if (shape.name !== undefined && (view.depth < 1 || view.trail.includes(shape.name))) return false
  if (view.depth < 0) return false
  if (Object.keys(shape.schema.properties ?? {}).length > 0) return true
  return shape.alternatives.some((alternative) => {
    const { schema, alternatives } = contentOf(view.document, alternative)
    return schema.properties !== undefined || schema.enum !== undefined || alternatives.length > 0
  })
}

const head = (first: string): Html => html`
  <thead><tr>
    <th scope="col">${first}</th><th scope="col">Type</th><th scope="col">Required</th>
    <th scope="col">Constraints</th><th scope="col">Description</th>
  </tr></thead>`

interface Row {
  name: Part
  type: Part
  required: boolean
  constraints: Part
  description: Part
}

const row = ({ name, type, required, constraints: limits, description }: Row): Html => html`
  <tr>
    <th scope="row">${name}</th><td>${type}</td><td${required && html` class="must"`}>${required ? 'yes' : 'no'}</td>
    <td>${limits}</td><td>${description}</td>
  </tr>`

const table = (first: string, rows: Part[]): Html =>
  html`<div class="fields"><table>${head(first)}<tbody>${rows}</tbody></table></div>`

const field = (view: View, key: string, source: Schema, required: boolean): Part => {
  const { document, trail } = view
  const shape = shapeOf(document, source)
  const content = contentOf(document, source)
  const again = content.name !== undefined && trail.includes(content.name)
  const label = html`<code>${key}</code>`
  const described = [
    flags(shape.schema, view),
    inline(shape.schema.description ?? ''),
    again && html` <span class="flag">contains itself</span>`,
  ]
  const line = row({
    name: label,
    type: typeLabel(document, source),
    required,
    constraints: constraints(document, shape),
    description: described,
  })
  if (!opens(view, content)) return line
  const count = Object.keys(content.schema.properties ?? {}).length
  const what = count > 0 ? `${count} ${count === 1 ? 'field' : 'fields'} of ` : 'Alternatives for '
  return [
    line,
    html`<tr class="nested"><td colspan="5">
      <details><summary>${what}${label}</summary>${body(enter(view, content), content)}</details>
    </td></tr>`,
  ]
}

const visibleFields = (view: View, schema: SchemaObject): [string, Schema][] =>
  Object.entries(schema.properties ?? {}).filter(([, source]) => {
    const { readOnly, writeOnly } = shapeOf(view.document, source).schema
    return view.direction === 'request' ? !readOnly : view.direction === 'response' ? !writeOnly : true
  })

const alternative = (view: View, source: Schema, index: number): Html => {
  const content = contentOf(view.document, source)
  const label = (content.name === undefined ? content.schema.title : undefined) ?? typeLabel(view.document, source)
  const name = html`<span class="option">${index + 1}</span> ${label}`
  const open = opens(view, content)
  const note = shapeOf(view.document, source).schema.description
  const simple = html`${markdown(note)}${!open && constraints(view.document, content)}`
  return open
    ? html`<details><summary>${name}</summary>${simple}${body(enter(view, content), content)}</details>`
    : html`<div class="plain">${name}${simple}</div>`
}

/** The inside of a schema: its fields, its alternatives, or what a single value must be. */
const body = (view: View, shape: Shape): Part => {
  const { document } = view
  const { schema, alternatives } = shape
  const required = new Set(schema.required)
  const rows = visibleFields(view, schema).map(([key, source]) => field(view, key, source, required.has(key)))
  const map = mapOf(shape)
  if (map && rows.length > 0) rows.push(field(view, 'any other key', map.values, false))
  const choices =
    alternatives.length > 0 &&
    html`<div class="choice"><p>One of these:</p>${alternatives.map((each, index) => alternative(view, each, index))}</div>`
  if (rows.length > 0) return [table('Field', rows), choices]
  if (choices !== false) return choices
  return html`<div class="plain">${typeLabel(document, schema)} ${constraints(document, shape)}</div>`
}

interface FieldsOptions {
  direction?: Direction
  depth: number
}

/** Everything a value may hold. The type is named first unless it is the component that is being described. */
export const fields = (document: OpenApi, source: Schema, options: FieldsOptions): Part => {
  const view: View = { document, direction: options.direction, depth: options.depth, trail: [] }
  const content = contentOf(document, source)
  if (!opens({ ...view, depth: 8 }, content))
    return html`<div class="plain">${typeLabel(document, source)} ${constraints(document, shapeOf(document, source))}</div>`
  return body(enter({ ...view, depth: view.depth + 1 }, content), content)
}

/** One row per component: its own fields, with links to the other components. */
export const component = (document: OpenApi, name: string): Part => {
  const source: Schema = { $ref: `#/components/schemas/${name}` }
  const shape = shapeOf(document, source)
  return [
    markdown(shape.schema.description),
    body({ document, direction: undefined, depth: 0.9, trail: [name] }, contentOf(document, source)),
  ]
}

export const parameterTable = (document: OpenApi, parameters: readonly Parameter[]): Html => {
  const rows = parameters.map((parameter) => {
    const shape = shapeOf(document, parameter.schema)
    return row({
      name: html`<code>${parameter.name}</code><small>${parameter.in}</small>`,
      type: typeLabel(document, parameter.schema),
      required: parameter.required === true,
      constraints: constraints(document, shape),
      description: [
        parameter.deprecated && html`<span class="flag">deprecated</span> `,
        inline(parameter.description ?? shape.schema.description ?? ''),
      ],
    })
  })
  return table('Name', rows)
}
