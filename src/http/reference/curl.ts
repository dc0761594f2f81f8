import { exampleOf } from './example.ts'
import type { OpenApi, Operation, Parameter, SecurityScheme } from './openapi.ts'
import { resolve } from './openapi.ts'

const inDoubleQuotes = (text: string): string => text.replace(/[\\"$`]/g, '\\$&')
const inSingleQuotes = (text: string): string => text.replaceAll("'", "'\\''")

const valueOf = (document: OpenApi, parameter: Parameter): string => {
  const value = parameter.example ?? exampleOf(document, parameter.schema ?? {}, 'request', parameter.name)
  if (Array.isArray(value)) return value.join(',')
  return typeof value === 'string' || typeof value === 'number' || typeof value === 'boolean'
    ? `${value}`
    : parameter.name
}

const credentials = (document: OpenApi, operation: Operation): string | undefined => {
  const [requirement] = operation.security ?? document.security ?? [{ bearer: [] }]
  const [name] = Object.keys(requirement ?? {})
  if (name === undefined) return undefined
  const scheme = resolve<SecurityScheme>(document, document.components?.securitySchemes?.[name])
  if (scheme?.type === 'http' && scheme.scheme === 'basic') return '-u "$FLORIN_KEY_ID:$FLORIN_KEY_SECRET"'
  if (scheme?.type === 'apiKey' && scheme.in === 'header' && scheme.name !== undefined)
    return `-H "${inDoubleQuotes(scheme.name)}: $TOKEN"`
  return '-H "Authorization: Bearer $TOKEN"'
}

interface Call {
  method: string
  path: string
  operation: Operation
  parameters: readonly Parameter[]
  body: { type: string; example: unknown } | undefined
}

/** A command that can be pasted into a shell where BASE_URL and TOKEN are set. */
export const curl = (document: OpenApi, { method, path, operation, parameters, body }: Call): string => {
  const address = path.replace(/\{([^}]+)\}/g, (whole, name) => {
    const parameter = parameters.find((candidate) => candidate.in === 'path' && candidate.name === name)
    return parameter ? encodeURIComponent(valueOf(document, parameter)) : whole
  })
  const query = parameters
    .filter((parameter) => parameter.in === 'query' && parameter.required)
    .map(
      ({ name, ...rest }) => `${encodeURIComponent(name)}=${encodeURIComponent(valueOf(document, { name, ...rest }))}`,
    )
    .join('&')
  const headers = parameters
    .filter((parameter) => parameter.in === 'header')
    .flatMap((parameter) => {
      if (parameter.name.toLowerCase() === 'idempotency-key') return [`-H "${parameter.name}: $(uuidgen)"`]
      return parameter.required ? [`-H "${inDoubleQuotes(`${parameter.name}: ${valueOf(document, parameter)}`)}"`] : []
    })
  const url = `"$BASE_URL${inDoubleQuotes(address + (query && `?${query}`))}"`
  const lines = [`curl ${method === 'get' ? '' : `-X ${method.toUpperCase()} `}${url}`]
  const authorization = credentials(document, operation)
  if (authorization !== undefined) lines.push(authorization)
  lines.push(...headers)
  if (body) {
    lines.push(`-H "content-type: ${inDoubleQuotes(body.type)}"`)
    if (!body.type.includes('json')) lines.push('--data-binary @file')
    else if (body.example !== undefined) lines.push(`-d '${inSingleQuotes(JSON.stringify(body.example, null, 2))}'`)
  }
  return lines.join(' \\\n  ')
}
