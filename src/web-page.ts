import type { Html } from './html.ts'

/**
 * Something for a browser, beside the API: it is not in openapi.json, takes no token, and speaks HTML and forms. What is in the path is the
 * credential.
 */
export interface WebPage {
  method: 'GET' | 'POST'
  /** As in OpenAPI. */
  path: string
  answer(request: { params: Readonly<Record<string, string>>; form: URLSearchParams }): Promise<PageAnswer>
}

export type PageAnswer = { status: number; page: Html } | { location: string }
