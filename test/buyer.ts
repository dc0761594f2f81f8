/** A buyer with a browser that does what it is told: the form of a page, and then wherever it leads. */

export type Decision = 'approved' | 'rejected' | 'cancelled' | 'expired'

export interface Walk {
  /** Of the page that took the answer, and of the page the provider sent the buyer back to. */
  statuses: [decided: number, returned: number]
  /** The shop's address. */
  shop: URL
}

export const press = (approvalUrl: string, decision: Decision): Promise<Response> =>
  fetch(approvalUrl, { method: 'POST', body: new URLSearchParams({ decision }), redirect: 'manual' })

export const follow = (response: Response): Promise<Response> =>
  fetch(response.headers.get('location') ?? '', { redirect: 'manual' })

export async function walk(approvalUrl: string, decision: Decision): Promise<Walk> {
  const decided = await press(approvalUrl, decision)
  const returned = await follow(decided)
  return {
    statuses: [decided.status, returned.status],
    shop: new URL(returned.headers.get('location') ?? 'about:nowhere'),
  }
}
