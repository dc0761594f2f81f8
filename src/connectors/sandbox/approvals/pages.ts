import type { PageAnswer, WebPage } from '../../../web-page.ts'
import { type ApprovalOptions, answerApproval, openApproval } from './decide.ts'
import { approvalPage, unknownPage } from './page.ts'
import { decisions } from './rules.ts'

const path = '/sandbox/approvals/{approval_id}'

const notFound: PageAnswer = { status: 404, page: unknownPage }

/** Where buyers are sent to by the sandbox's providers. */
export function approvalPages(
  options: ApprovalOptions & { merchantName: (merchantAccountId: string) => Promise<string> },
): WebPage[] {
  async function show(id: string, status: number): Promise<PageAnswer> {
    const approval = await openApproval(options, id)
    if (!approval) return notFound
    const merchantName = await options.merchantName(approval.merchant_account_id)
    return { status, page: approvalPage({ ...approval, merchantName }) }
  }
  return [
    { method: 'GET', path, answer: ({ params }) => show(params['approval_id'] ?? '', 200) },
    {
      method: 'POST',
      path,
      // Whether this answer counted or an earlier one did: the shop knows by now, or will.
      answer: async ({ params, form }) => {
        const id = params['approval_id'] ?? ''
        const decision = decisions.find((one) => one === form.get('decision'))
        if (!decision) return show(id, 400)
        const approval = await answerApproval(options, id, decision)
        return approval ? { location: approval.return_url } : notFound
      },
    },
  ]
}
