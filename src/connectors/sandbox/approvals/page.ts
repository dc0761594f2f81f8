import { html, type Html, type Part } from '../../../html.ts'
import type { Approval } from './decide.ts'
import type { Decision } from './rules.ts'

/** What the buyer sees. */
export interface Shown extends Approval {
  merchantName: string
}

const questions: Record<Approval['kind'], { title: string; lead: string; approve: string }> = {
  three_d_secure: {
    title: 'Confirm that it is you',
    lead: 'Your bank asks you to confirm this payment.',
    approve: 'Approve',
  },
  redirect: {
    title: 'Approve this payment',
    lead: 'The shop has sent you here to pay.',
    approve: 'Approve',
  },
  enrolment: {
    title: 'Allow later payments',
    lead: 'The shop wants to charge you again later, without asking you each time.',
    approve: 'Allow',
  },
}

const outcomes: Record<Exclude<Approval['status'], 'open'>, { title: string; text: string }> = {
  approved: { title: 'Approved', text: 'This was approved. There is nothing left to do here.' },
  rejected: { title: 'Rejected', text: 'This was rejected. Nothing was charged.' },
  cancelled: { title: 'Cancelled', text: 'There was no answer. Nothing was charged.' },
  expired: { title: 'Too late', text: 'The time to answer is over. Nothing was charged.' },
  withdrawn: { title: 'Withdrawn', text: 'The shop has taken this back. Nothing was charged.' },
}

const scenarios = {
  Y: 'succeeds',
  N: 'fails',
  timeout: 'runs out',
}

/** The question, or what became of it. */
export const approvalPage = (approval: Shown): Html =>
  approval.status === 'open' ? questionPage(approval) : outcomePage(approval, outcomes[approval.status])

function questionPage(approval: Shown): Html {
  const { title, lead, approve } = questions[approval.kind]
  const until = new Date(approval.expires_at)
  return layout(
    title,
    html`
      <h1>${title}</h1>
      <p>${lead}</p>
      ${facts(approval)}
      ${
        approval.scenario_result &&
        html`<p class="note">A 3-D Secure scenario decides: whatever you press, this ${scenarios[approval.scenario_result]}.</p>`
      }
      <form method="post">
        ${button('approved', approve, 'primary')}
        ${button('rejected', 'Reject')}
        ${button('cancelled', 'Cancel and go back')}
        <section aria-labelledby="time">
          <h2 id="time">Do nothing</h2>
          <p>Without an answer it ends on <time datetime="${until.toISOString()}">${moment(until)}</time>. You need not wait for that.</p>
          ${button('expired', 'Let it run out now', 'quiet')}
        </section>
      </form>`,
  )
}

const outcomePage = (approval: Shown, { title, text }: { title: string; text: string }): Html =>
  layout(
    title,
    html`
      <h1>${title}</h1>
      <p>${text}</p>
      ${facts(approval)}
      <p><a class="button primary" href="${approval.return_url}">Back to the shop</a></p>`,
  )

const facts = ({ merchantName, amount, currency, card_suffix }: Shown): Html => html`
  ${amount !== null && html`<p class="amount">${money(amount, currency)}</p>`}
  <dl>
    <div><dt>Shop</dt><dd>${merchantName}</dd></div>
    ${card_suffix && html`<div><dt>Card</dt><dd><span aria-hidden="true">•••• </span>${card_suffix}</dd></div>`}
    ${amount === null && html`<div><dt>Currency</dt><dd>${currency}</dd></div>`}
  </dl>`

const button = (decision: Decision, label: string, look = ''): Html =>
  html`<button class="button ${look}" name="decision" value="${decision}">${label}</button>`

const layout = (title: string, content: Part): Html => html`<!doctype html><html lang="en"><head>
  <meta charset="utf-8"><meta name="viewport" content="width=device-width, initial-scale=1">
  <meta name="color-scheme" content="light dark"><meta name="robots" content="noindex">
  <title>${title} – Sandbox</title>
  <link rel="icon" href="/pages/icon.svg"><link rel="stylesheet" href="/pages/approval.css">
  </head><body>
  <main>${content}</main>
  <footer><p><strong>Sandbox</strong> No money moves here.</p></footer>
  </body></html>`

export const unknownPage: Html = layout(
  'Nothing here',
  html`<h1>Nothing here</h1><p>There is no question at this address. Go back to the shop and start again.</p>`,
)

/** Of an amount in the smallest unit of its currency. */
function money(amount: number, currency: string): string {
  const format = new Intl.NumberFormat('en', { style: 'currency', currency })
  const digits = format.resolvedOptions().maximumFractionDigits ?? 2
  return format.format(amount / 10 ** digits)
}

const moments = new Intl.DateTimeFormat('en-GB', { dateStyle: 'medium', timeStyle: 'short', timeZone: 'UTC' })
const moment = (date: Date) => `${moments.format(date)} UTC`
