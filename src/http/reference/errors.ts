import { anchor, html, type Html, join, type Part } from '../../html.ts'
import { inline } from './markdown.ts'
import { contentOf, type OpenApi, type Reference, resolve, type Response, type Schema } from './openapi.ts'
import { shapeOf } from './shape.ts'

export const errorId = (code: string): string => `error-${code}`

interface ErrorResponse {
  status: string
  given: Response | Reference
  response: Response
}

/** The codes an error response may carry, read from its schema (`code`, or `error.code`) and its examples. */
const codesIn = (document: OpenApi, response: Response): string[] => {
  const codes = new Set<string>()
  const fromSchema = (source: Schema | undefined, depth: number): void => {
    if (source === undefined || depth > 4) return
    const { schema, alternatives } = shapeOf(document, source)
    for (const alternative of alternatives) fromSchema(alternative, depth + 1)
    const code = schema.properties?.['code']
    const error = schema.properties?.['error']
    if (code !== undefined) {
      const found = shapeOf(document, code).schema
      for (const value of [...(found.enum ?? []), found.const]) if (typeof value === 'string') codes.add(value)
    } else fromSchema(error, depth + 1)
  }
  const fromExample = (value: unknown): void => {
    if (typeof value !== 'object' || value === null) return
    if ('code' in value && typeof value.code === 'string') codes.add(value.code)
    else if ('error' in value) fromExample(value.error)
  }
  const media = contentOf(response)?.media
  fromSchema(media?.schema, 0)
  fromExample(media?.example)
  for (const named of Object.values(media?.examples ?? {}))
    fromExample(resolve<{ value?: unknown }>(document, named)?.value)
  return [...codes]
}

/** Every error with its status and codes; what the table of errors already says about a code is not repeated. */
export const errorList = (document: OpenApi, errors: readonly ErrorResponse[]): Part => {
  if (errors.length === 0) return undefined
  const meanings = new Map(document['x-florin-errors']?.map(({ code, meaning }) => [code, meaning]))
  const codeLink = (code: string): Html =>
    meanings.has(code) ? html`<a href="${anchor(errorId(code))}"><code>${code}</code></a>` : html`<code>${code}</code>`
  const items = errors.map(({ status, given, response }) => {
    const codes = codesIn(document, response)
    // A shared response that is named after a code stands for that code.
    const named = '$ref' in given ? given.$ref.slice(given.$ref.lastIndexOf('/') + 1) : undefined
    if (codes.length === 0 && named !== undefined && meanings.has(named)) codes.push(named)
    const { description } = response
    const said = codes.some((code) => description !== undefined && meanings.get(code) === description)
    const links = join(codes.map(codeLink), ' ')
    return said
      ? html`<li><b class="status">${status}</b>${links}</li>`
      : html`<li class="said"><b class="status">${status}</b><span>${links} ${inline(description ?? '')}</span></li>`
  })
  return html`<h4>Errors</h4><ul class="errors">${items}</ul>`
}
