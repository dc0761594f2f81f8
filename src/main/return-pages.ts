import { returnFromEnrolment } from '../areas/payment-methods/enrolments/operations.ts'
import { returnFromApproval } from '../areas/transactions/operations/return.ts'
import type { Context } from '../context.ts'
import { html, type Html } from '../html.ts'
import type { PageAnswer, WebPage } from '../web-page.ts'

type Returning = Pick<Context, 'db' | 'vault' | 'connectors' | 'giftCards' | 'clocks' | 'log'>

/** Where providers send buyers back to. From here they go on to the merchant, whose address no provider needs to know. */
export function returnPages(ctx: Returning): WebPage[] {
  const page = (path: string, find: (ctx: Returning, id: string) => Promise<string | undefined>): WebPage => ({
    method: 'GET',
    path: `${path}/{id}`,
    async answer({ params }): Promise<PageAnswer> {
      const { id = '' } = params
      const location = uuid.test(id) ? await find(ctx, id) : undefined
      return location === undefined ? { status: 404, page: nothingHere } : { location }
    },
  })
  return [page('/approvals', returnFromApproval), page('/enrolments', returnFromEnrolment)]
}

const uuid = /^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/

const nothingHere: Html = html`<!doctype html><html lang="en"><head>
  <meta charset="utf-8"><meta name="viewport" content="width=device-width, initial-scale=1">
  <meta name="color-scheme" content="light dark"><meta name="robots" content="noindex">
  <title>Nothing here</title>
  <link rel="icon" href="/pages/icon.svg"><link rel="stylesheet" href="/pages/approval.css">
  </head><body><main>
  <h1>Nothing here</h1><p>There is no payment at this address. Go back to the shop and start again.</p>
  </main></body></html>`
