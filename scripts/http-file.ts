import { exampleId } from '../src/http/openapi.ts'
import { asOpenApi, contentOf, methods, type Parameter, resolve } from '../src/http/reference/openapi.ts'
import { mediaExample } from '../src/http/reference/example.ts'
import type { Route } from '../src/http/route.ts'

/** One request for every operation, in the plain format that editors send: docs/florin.http. */
export function renderHttpFile(source: unknown, routes: readonly Pick<Route, 'id' | 'exampleQuery'>[]): string {
  const document = asOpenApi(source)
  const queries = Object.fromEntries(
    routes.map(({ id, exampleQuery }) => [id, exampleQuery && `?${new URLSearchParams(exampleQuery).toString()}`]),
  )
  const requests = Object.entries(document.paths ?? {}).flatMap(([path, item]) =>
    methods.flatMap((method) => {
      const operation = item[method]
      return operation ? [{ method, path, operation }] : []
    }),
  )
  const ids = [
    ...new Set(requests.flatMap(({ path }) => [...path.matchAll(/\{(\w+)\}/g)].map(([, name = '']) => name))),
  ]

  /** Ids in bodies are the reader's own too: `payment_service_id` is a variable, and so is each of `payment_method_ids`. */
  const withVariables = (value: unknown, name = ''): unknown => {
    if (Array.isArray(value)) return value.map((item) => withVariables(item, name.replace(/s$/, '')))
    if (typeof value === 'object' && value !== null)
      return Object.fromEntries(Object.entries(value).map(([key, item]) => [key, withVariables(item, key)]))
    return value === exampleId && ids.includes(name) ? `{{${name}}}` : value
  }

  const request = ({ method, path, operation }: (typeof requests)[number]) => {
    const content = contentOf(resolve(document, operation.requestBody))
    const isJson = content?.type.includes('json') ?? false
    const example = content && isJson ? mediaExample(document, content.media, 'request') : undefined
    const names = (operation.parameters ?? []).flatMap((given) => resolve<Parameter>(document, given)?.name ?? [])
    return [
      `### ${operation.summary}`,
      `${method.toUpperCase()} {{baseUrl}}${path.replace(/\{(\w+)\}/g, '{{$1}}')}${queries[operation.operationId ?? ''] ?? ''}`,
      ...((operation.security ?? []).length > 0 ? ['Authorization: Bearer {{token}}'] : []),
      ...(names.includes('Idempotency-Key') ? ['Idempotency-Key: {{$uuid}}'] : []),
      ...(content ? [`Content-Type: ${isJson ? content.type : 'application/json'}`] : []),
      ...(content ? ['', JSON.stringify(withVariables(example) ?? {}, null, 2)] : []),
    ].join('\n')
  }

  return `# Every operation of Florin, generated from openapi.json by \`npm run generate\`; do not edit.
# Put the token that \`npx florin token\` prints below, and the ids of your own resources where a request needs them.

@baseUrl = http://127.0.0.1:8080
@token =
${ids.map((id) => `@${id} =`).join('\n')}

${requests.map(request).join('\n\n')}
`
}
