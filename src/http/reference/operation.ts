import { curl } from './curl.ts'
import { errorList } from './errors.ts'
import { mediaExample } from './example.ts'
import { fields, parameterTable, typeLabel } from './fields.ts'
import { anchor, html, type Html, join, type Part } from '../../html.ts'
import { markdown } from './markdown.ts'
import {
  type MediaType,
  type Method,
  type OpenApi,
  type Operation,
  type Parameter,
  type PathItem,
  type RequestBody,
  resolve,
  type Response,
  contentOf,
} from './openapi.ts'
import { shapeOf } from './shape.ts'

export interface Entry {
  id: string
  method: Method
  path: string
  operation: Operation
  item: PathItem
}

export const badge = (method: string): Html => html`<b class="verb ${method}">${method}</b>`

export const titleOf = ({ operation, path }: Entry): string => operation.summary ?? operation.operationId ?? path

const parametersOf = (document: OpenApi, { operation, item }: Entry): Parameter[] => {
  const byPlace = new Map<string, Parameter>()
  for (const given of [...(item.parameters ?? []), ...(operation.parameters ?? [])]) {
    const parameter = resolve<Parameter>(document, given)
    if (parameter) byPlace.set(`${parameter.in} ${parameter.name.toLowerCase()}`, parameter)
  }
  return [...byPlace.values()]
}

const codeBlock = (label: string, code: string): Html =>
  html`<figure class="code"><figcaption>${label}</figcaption><pre tabindex="0"><code>${code}</code></pre></figure>`

const exampleBlock = (label: string, example: unknown): Part => {
  if (example === undefined) return undefined
  return codeBlock(label, typeof example === 'string' ? example : JSON.stringify(example, null, 2))
}

const fact = (name: string, value: Part): Html => html`<div><dt>${name}</dt><dd>${value}</dd></div>`

const facts = (document: OpenApi, entry: Entry, parameters: readonly Parameter[]): Html => {
  const { operation } = entry
  const scopes = operation['x-florin-scope'] ?? []
  const open = (operation.security ?? document.security)?.length === 0
  const header = (pattern: RegExp): Parameter | undefined =>
    parameters.find(({ in: place, name }) => place === 'header' && pattern.test(name))
  const asFact = (name: string, parameter: Parameter | undefined): Part =>
    parameter && fact(name, html`<code>${parameter.name}</code> ${parameter.required ? 'required' : 'optional'}`)
  return html`<dl class="facts">
    ${
      scopes.length > 0 &&
      fact(
        'Scope',
        join(
          scopes.map((scope) => html`<code>${scope}</code>`),
          ' or ',
        ),
      )
    }
    ${open && fact('Access', 'no credentials needed')}
    ${asFact('Merchant account', header(/merchant-?account/i))}
    ${asFact('Idempotency', header(/^idempotency-key$/i))}
    ${fact('Operation', html`<a href="${anchor(entry.id)}"><code>${entry.id}</code></a>`)}
  </dl>`
}

const payload = (document: OpenApi, media: MediaType, direction: 'request' | 'response'): Part =>
  media.schema !== undefined && fields(document, media.schema, { direction, depth: direction === 'request' ? 3 : 1 })

const mediaLine = (document: OpenApi, type: string, { schema }: MediaType): Html => {
  const shape = shapeOf(document, schema)
  // That a body without a name is an object is seen from its fields.
  const plain = schema === undefined || (shape.name === undefined && shape.schema.properties !== undefined)
  return html`<span class="media">${!plain && typeLabel(document, schema)} <code>${type}</code></span>`
}

const successBlock = (document: OpenApi, status: string, response: Response): Part => {
  const content = contentOf(response)
  return html`
    <h4>Response <b class="status ok">${status}</b>${content && mediaLine(document, content.type, content.media)}</h4>
    ${markdown(response.description)}
    ${
      content?.media.schema !== undefined &&
      html`<details class="answer"><summary>Fields of the response</summary>${payload(document, content.media, 'response')}</details>`
    }`
}

const requestBlock = (document: OpenApi, body: RequestBody | undefined, title: string): Part => {
  const content = contentOf(body)
  if (!content) return undefined
  return html`
    <h4>${title}${body?.required === false && ' (optional)'}${mediaLine(document, content.type, content.media)}</h4>
    ${markdown(body?.description)}
    ${payload(document, content.media, 'request')}`
}

const card = (entry: Entry, label: Part, content: Part): Html => html`
  <details class="op">
    <summary>
      ${badge(entry.method)}<h3>${titleOf(entry)}</h3>${label}${entry.operation.deprecated && html` <span class="flag">deprecated</span>`}
    </summary>
    <div class="body" id="${entry.id}">${content}</div>
  </details>`

/** `/a/{b}` with places where a narrow screen may break it. */
const pathLabel = (path: string): Html =>
  html`<code class="path">${join(
    path.split('/').map((part) => (part.startsWith('{') ? html`<i>${part}</i>` : part)),
    html`/<wbr>`,
  )}</code>`

export const operationCard = (document: OpenApi, entry: Entry): Html => {
  const { operation, method, path } = entry
  const parameters = parametersOf(document, entry)
  const requestBody = resolve<RequestBody>(document, operation.requestBody)
  const sent = contentOf(requestBody)
  const body = sent && { type: sent.type, example: mediaExample(document, sent.media, 'request') }
  const responses = Object.entries(operation.responses ?? {}).flatMap(([status, given]) => {
    const response = resolve<Response>(document, given)
    return response ? [{ status, given, response }] : []
  })
  const successes = responses.filter(({ status }) => /^[23]/.test(status))
  const errors = responses.filter(({ status }) => !/^[23]/.test(status))
  const examples = successes.map(({ status, response }) => {
    const content = contentOf(response)
    const json = content?.type.includes('json') || typeof content?.media.example === 'string'
    return json && content && exampleBlock(`Response ${status}`, mediaExample(document, content.media, 'response'))
  })
  return card(
    entry,
    pathLabel(path),
    html`
      ${markdown(operation.description)}
      ${facts(document, entry, parameters)}
      ${parameters.length > 0 && html`<h4>Parameters</h4>${parameterTable(document, parameters)}`}
      ${requestBlock(document, requestBody, 'Request body')}
      ${successes.map(({ status, response }) => successBlock(document, status, response))}
      ${errorList(document, errors)}
      <h4>Example</h4>
      <div class="examples">${codeBlock('Request', curl(document, { method, path, operation, parameters, body }))}${examples}</div>
    `,
  )
}

/** What Florin sends to the address a webhook is registered for. */
export const webhookCard = (document: OpenApi, entry: Entry): Html => {
  const requestBody = resolve<RequestBody>(document, entry.operation.requestBody)
  const parameters = parametersOf(document, entry)
  const content = contentOf(requestBody)
  return card(
    entry,
    entry.path !== titleOf(entry) && html`<code class="path">${entry.path}</code>`,
    html`
      ${markdown(entry.operation.description)}
      ${parameters.length > 0 && html`<h4>Parameters</h4>${parameterTable(document, parameters)}`}
      ${requestBlock(document, requestBody, 'Payload')}
      ${
        content &&
        html`<h4>Example</h4><div class="examples">${exampleBlock('Payload', mediaExample(document, content.media, 'response'))}</div>`
      }
    `,
  )
}
