import type { Seen, SeenEvent } from './seen.ts'

const entities: Readonly<Record<string, string>> = {
  '&': '&amp;',
  '<': '&lt;',
  '>': '&gt;',
  '"': '&quot;',
  "'": '&#39;',
}
const escape = (text: string) => text.replaceAll(/[&<>"']/g, (character) => entities[character] ?? character)

export const page = (seen: Seen) => `<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<title>Webhooks</title>
<link rel="icon" href="data:,">
<link rel="stylesheet" href="/receiver.css">
<script src="/live.js" type="module"></script>
</head>
<body>
<header><h1>Webhooks</h1><p class="state" id="state">Connecting</p></header>
<main id="list" aria-live="polite">
${refusals(seen)}
${list(seen.newestFirst())}
</main>
</body>
</html>
`

const refusals = ({ refused: { count, reason } }: Seen) =>
  count === 0 ? '' : `<p class="refused"><strong>${count} refused.</strong> The last one: ${escape(reason)}</p>`

const list = (events: readonly SeenEvent[]) =>
  events.length === 0 ? empty : `<ol>\n${events.map(item).join('\n')}\n</ol>`

const empty = `<div class="empty"><p>Nothing has come yet. Make something happen:</p>
<pre><code>npx florin trigger transaction.captured</code></pre></div>`

const item = ({ event, times, at }: SeenEvent) => `<li>
<p class="name">${escape(event.name)}${times > 1 ? ` <span class="times">${times} times, taken once</span>` : ''}</p>
<p class="about">${escape(event.target.type)} <code>${escape(event.target.id)}</code></p>
<p class="about"><span class="verified">Verified</span> at <time datetime="${at.toISOString()}">${at.toISOString().slice(11, 19)}</time> UTC, event <code>${escape(event.id)}</code></p>
</li>`
