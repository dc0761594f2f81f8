import { comment, quote, type Schema, typeOf } from './types.ts'

export interface Parameter {
  $ref?: string
  name: string
  in: 'path' | 'query' | 'header'
  required: boolean
  description?: string
  example?: string
  schema: Schema
}

export interface Operation {
  operationId: string
  'x-florin-name': string[]
  tags: string[]
  summary: string
  description: string
  security: unknown[]
  parameters: Parameter[]
  requestBody?: { required: boolean; content: Record<string, { schema: Schema }> }
  responses: Record<string, { content?: Record<string, { schema: Schema }> }>
}

export interface Described extends Operation {
  method: string
  path: string
}

export const camel = (text: string) => text.replaceAll(/[-_](\w)/g, (_match, letter: string) => letter.toUpperCase())
export const pascal = (text: string) => camel(`-${text}`)

const queryOf = ({ parameters }: Operation) => parameters.filter((parameter) => parameter.in === 'query')
const header = ({ parameters }: Operation, name: string) => parameters.find((parameter) => parameter.name === name)
const takesAccount = ({ parameters }: Operation) => parameters.some(({ $ref }) => $ref?.includes('/MerchantAccount'))
const isRaw = ({ requestBody }: Operation) => requestBody !== undefined && '*/*' in requestBody.content
const bodyOf = (operation: Operation) =>
  isRaw(operation) ? undefined : operation.requestBody?.content['application/json']?.schema

const successOf = ({ responses }: Operation) => Object.entries(responses).filter(([status]) => Number(status) < 300)
const answersOf = (operation: Operation) =>
  successOf(operation).flatMap(([, { content }]) => Object.values(content ?? {}))
const isStream = (operation: Operation) =>
  successOf(operation).some(([, { content }]) => content !== undefined && 'text/event-stream' in content)
const isList = ({ 'x-florin-name': name, method }: Described) => method === 'get' && name.at(-1) === 'list'

/** What its method speaks of. */
export const schemasOf = (operation: Operation): unknown[] => [bodyOf(operation), answersOf(operation)]

const queryName = ({ operationId }: Operation) => `${pascal(operationId)}Query`
const bodyName = ({ operationId }: Operation) => `${pascal(operationId)}Body`

/** Types that belong to one method and have no name of their own. */
export function typesOf(operation: Operation): string {
  const query = queryOf(operation)
  const body = bodyOf(operation)
  const isNamed = body === undefined || body.$ref !== undefined
  return [
    query.length === 0 ? '' : `\nexport interface ${queryName(operation)} {\n${query.map(queryLine).join('')}}\n`,
    isNamed ? '' : `\nexport type ${bodyName(operation)} = ${typeOf(body)}\n`,
  ].join('')
}

/** One value of several may stand alone. */
function queryLine({ name, required, description, schema }: Parameter): string {
  const item = schema.items && typeOf(schema.items)
  const type = item === undefined ? typeOf(schema) : `${item} | readonly ${item.includes('|') ? `(${item})` : item}[]`
  return `${comment(description === undefined ? [] : [description], '  ')}  ${name}${required ? '' : '?'}: ${type}\n`
}

interface Argument {
  name: string
  type: string
  isOptional: boolean
}

function argumentsOf(operation: Described): Argument[] {
  const path = [...operation.path.matchAll(/\{(\w+)\}/g)].map(([, name = '']) => ({
    name: camel(name),
    type: 'string',
    isOptional: false,
  }))
  const query = queryOf(operation)
  const body = bodyOf(operation)
  return [
    ...path,
    ...(isRaw(operation) ? [{ name: 'message', type: 'RawMessage', isOptional: false }] : []),
    ...(body === undefined
      ? []
      : [
          {
            name: 'body',
            type: body.$ref === undefined ? bodyName(operation) : typeOf(body),
            isOptional: !operation.requestBody?.required,
          },
        ]),
    ...(query.length === 0
      ? []
      : [{ name: 'query', type: queryName(operation), isOptional: !query.some(({ required }) => required) }]),
  ]
}

const optionsOf = (operation: Operation) =>
  header(operation, 'Idempotency-Key')
    ? 'IdempotentOptions'
    : takesAccount(operation)
      ? 'AccountOptions'
      : 'CallOptions'

/** Method of the transport, and what the generated method returns. */
function resultOf(operation: Described): [via: string, type: string] {
  if (isStream(operation)) return ['follow', 'AsyncGenerator<FlorinEvent, void, undefined>']
  const types = answersOf(operation).map(({ schema }) => typeOf(schema))
  const [type = 'void'] = types
  if (isList(operation)) return ['list', `List<${type}>`]
  const isSometimesEmpty = types.length > 0 && types.length < successOf(operation).length
  return ['ask', `Promise<${isSometimesEmpty ? `${type} | undefined` : type}>`]
}

/** A method of a class, with what its documentation says. */
export function methodOf(operation: Described): string {
  const name = camel(operation['x-florin-name'].at(-1) ?? '')
  const options = optionsOf(operation)
  const parameters = argumentsOf(operation)
  const [via, result] = resultOf(operation)
  const signature = (list: readonly Argument[], returns: string) =>
    `  ${name}(${list.map((each) => `${each.name}${each.isOptional ? '?' : ''}: ${each.type}`).join(', ')}): ${returns}`
  const optional: Argument = { name: 'options', type: options, isOptional: true }
  const notes = [operation.summary, ...(saysMore(operation) ? ['', operation.description] : [])]
  const doc = comment(notes.join('\n').split('\n'), '  ')
  const call = `{\n    return this.transport.${via}(${requestOf(operation)}, options)\n  }\n`

  const preferred = header(operation, 'Prefer')?.example?.replace('resource=', '')
  if (preferred === undefined) return `${doc}${signature([...parameters, optional], result)} ${call}`
  const [usual = '', other = ''] = result.slice('Promise<'.length, -1).split(' | ')
  const given = parameters.map((each) => ({
    ...each,
    isOptional: false,
    type: each.isOptional ? `${each.type} | undefined` : each.type,
  }))
  const wanting = { name: 'options', type: `${options} & { prefer: ${quote(preferred)} }`, isOptional: false }
  const either = { name: 'options', type: `${options} & { prefer?: ${quote(preferred)} }`, isOptional: true }
  return [
    `${doc}${signature([...parameters, optional], `Promise<${usual}>`)}\n`,
    `${signature([...given, wanting], `Promise<${other}>`)}\n`,
    `${signature([...parameters, either], result)} ${call}`,
  ].join('')
}

const saysMore = ({ summary, description }: Operation) => description !== `${summary}.`

function requestOf(operation: Described): string {
  const path = operation.path.replaceAll(/\{(\w+)\}/g, (_match, name: string) => `\${segment(${camel(name)})}`)
  return `{ ${[
    `method: ${quote(operation.method.toUpperCase())}`,
    `path: ${path === operation.path ? quote(path) : `\`${path}\``}`,
    ...(queryOf(operation).length > 0 ? ['query'] : []),
    ...(bodyOf(operation) ? ['body'] : []),
    ...(isRaw(operation) ? ['raw: message'] : []),
    ...(takesAccount(operation) ? ['account: true'] : []),
    ...(header(operation, 'Idempotency-Key') ? ['idempotent: true'] : []),
    ...(operation.security.length === 0 ? ['open: true'] : []),
  ].join(', ')} }`
}
