import type { FastifyInstance } from 'fastify'
import type { Clocks } from '../clocks.ts'
import { render } from '../html.ts'
import type { WebPage } from '../web-page.ts'
import { urlOf } from './paths.ts'

/**
 * Nothing inline, nothing from elsewhere, no script at all, and no frame: a page that is framed can be covered and clicked. Where a form may
 * lead is not said: browsers apply that to every redirect behind it, and the last one is to an address that only the merchant knows.
 */
const contentSecurityPolicy =
  "default-src 'none'; style-src 'self'; img-src 'self'; base-uri 'none'; frame-ancestors 'none'"

const formLimitBytes = 4096

/** In a scope of their own: forms are read here and nowhere else. */
export function addWebPages(
  app: FastifyInstance,
  { pages, clocks }: { pages: readonly WebPage[]; clocks: Clocks },
): void {
  void app.register(async (scope) => {
    scope.removeAllContentTypeParsers()
    scope.addContentTypeParser(
      'application/x-www-form-urlencoded',
      { parseAs: 'string', bodyLimit: formLimitBytes },
      (_request, body, done) => done(null, new URLSearchParams(body as string)),
    )
    for (const page of pages) addWebPage(scope, page, clocks)
  })
}

function addWebPage(scope: FastifyInstance, page: WebPage, clocks: Clocks): void {
  scope.route({
    method: page.method,
    url: urlOf(page),
    handler: async (request, reply) => {
      const params = request.params as Record<string, string>
      const form = request.body instanceof URLSearchParams ? request.body : new URLSearchParams()
      await clocks.refresh()
      const answer = await page.answer({ params, form })
      void reply.header('content-security-policy', contentSecurityPolicy)
      if ('location' in answer) return reply.redirect(answer.location, 303)
      return reply.code(answer.status).type('text/html; charset=utf-8').send(render(answer.page))
    },
  })
}
