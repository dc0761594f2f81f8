import { errorId } from './errors.ts'
import { component, schemaId } from './fields.ts'
import { anchor, html, type Html, join, type Part, render } from '../../html.ts'
import { markdown } from './markdown.ts'
import { asOpenApi, methods, type OpenApi, type PathItem, resolve, type SecurityScheme } from './openapi.ts'
import { badge, type Entry, operationCard, titleOf, webhookCard } from './operation.ts'

interface Tag {
  name: string
  id: string
  description: string | undefined
  entries: Entry[]
}

const slug = (text: string): string =>
  text
    .toLowerCase()
    .replace(/[^a-z0-9]+/g, '-')
    .replace(/^-|-$/g, '')

const entriesOf = (path: string, item: PathItem): Entry[] =>
  methods.flatMap((method): Entry[] => {
    const operation = item[method]
    return operation ? [{ id: operation.operationId ?? slug(`${method} ${path}`), method, path, operation, item }] : []
  })

/** Tags in the document's order, then any it did not list; an operation appears once, under its first tag. */
const tagsOf = (document: OpenApi): Tag[] => {
  const tags = new Map<string, Tag>()
  const add = (name: string, description?: string): Tag => {
    const wished = `tag-${slug(name)}`
    const taken = [...tags.values()].some(({ id }) => id === wished)
    const tag = tags.get(name) ?? { name, id: taken ? `${wished}-${tags.size}` : wished, description, entries: [] }
    tags.set(name, tag)
    return tag
  }
  for (const { name, description } of document.tags ?? []) add(name, description)
  for (const [path, item] of Object.entries(document.paths ?? {}))
    for (const entry of entriesOf(path, item)) add(entry.operation.tags?.[0] ?? 'Other').entries.push(entry)
  return [...tags.values()].filter((tag) => tag.entries.length > 0)
}

const webhooksOf = (document: OpenApi): Entry[] =>
  Object.entries(document.webhooks ?? {}).flatMap(([name, given]) => {
    const item = resolve<PathItem>(document, given)
    return item ? entriesOf(name, item).map((entry) => ({ ...entry, id: `webhook-${name}` })) : []
  })

const code = (text: string): Html => html`<pre tabindex="0"><code>${text}</code></pre>`

const schemeLine = ([name, scheme]: [string, SecurityScheme]): Html => {
  const how: Part =
    scheme.type === 'http' && scheme.scheme === 'basic'
      ? html`the header <code>Authorization: Basic …</code> with a key's id and secret`
      : scheme.type === 'apiKey'
        ? html`the ${scheme.in ?? 'header'} <code>${scheme.name ?? name}</code>`
        : html`the header <code>Authorization: Bearer …</code>${scheme.bearerFormat !== undefined && ` (${scheme.bearerFormat})`}`
  return html`<p>Send ${how}.</p>${markdown(scheme.description)}`
}

/** The script puts the address there that the page was served from. */
const placeholder = 'https://florin.example'

const authentication = (document: OpenApi): Html => {
  const schemes = Object.entries(document.components?.securitySchemes ?? {}).flatMap(
    ([name, given]): [string, SecurityScheme][] => {
      const scheme = resolve<SecurityScheme>(document, given)
      return scheme ? [[name, scheme]] : []
    },
  )
  const server = document.servers?.find(({ url }) => /^https?:/.test(url))?.url ?? placeholder
  return html`<section class="part" id="section-authentication">
    <h2>Authentication</h2>
    ${schemes.length > 0 ? schemes.map(schemeLine) : schemeLine(['bearer', { type: 'http', scheme: 'bearer' }])}
    <p>Each operation names the scope it needs; where several are named, any one of them is enough.</p>
    <p>The examples on this page read the address and the token from the environment:</p>
    <figure class="code"><figcaption>Shell</figcaption>${code(`export BASE_URL='${server.replaceAll("'", '')}'\nexport TOKEN="$(npx florin token)"   # or one that your back end has signed`)}</figure>
  </section>`
}

const tagSection = (document: OpenApi, tag: Tag): Html => html`
  <section class="part" id="${tag.id}">
    <h2>${tag.name}</h2>
    ${markdown(tag.description)}
    ${tag.entries.map((entry) => operationCard(document, entry))}
  </section>`

const webhookSection = (document: OpenApi, webhooks: Entry[]): Part =>
  webhooks.length > 0 &&
  html`<section class="part" id="section-webhooks">
    <h2>Webhooks</h2>
    <p>Requests that Florin sends to addresses you register.</p>
    ${webhooks.map((entry) => webhookCard(document, entry))}
  </section>`

const schemaSection = (document: OpenApi, names: string[]): Part =>
  names.length > 0 &&
  html`<section class="part" id="section-schemas">
    <h2>Schemas</h2>
    ${names.map(
      (name) => html`
        <details class="op schema">
          <summary><h3><code>${name}</code></h3></summary>
          <div class="body" id="${schemaId(name)}">${component(document, name)}</div>
        </details>`,
    )}
  </section>`

const errorSection = (document: OpenApi): Part => {
  const errors = document['x-florin-errors'] ?? []
  const rows = errors.map(
    ({ status, code: name, message, meaning }, index) => html`
      <tr${errors.findIndex((error) => error.code === name) === index && html` id="${errorId(name)}"`}>
        <td><b class="status">${status}</b></td><th scope="row"><a href="/docs/errors/${name}"><code>${name}</code></a></th>
        <td>${message}</td><td>${markdown(meaning)}</td>
      </tr>`,
  )
  return (
    errors.length > 0 &&
    html`<section class="part" id="section-errors">
      <h2>Errors</h2>
      <div class="fields list"><table>
        <thead><tr>
          <th scope="col">Status</th><th scope="col">Code</th><th scope="col">Message</th><th scope="col">Meaning</th>
        </tr></thead>
        <tbody>${rows}</tbody>
      </table></div>
    </section>`
  )
}

const link = (id: string, label: Part): Html => html`<li><a href="${anchor(id)}">${label}</a></li>`

interface Group {
  id: string
  label: string
  links: Part[]
  /** Whether the section has something to read above its entries. */
  overview: boolean
  open: boolean
}

const group = ({ id, label, links, overview, open }: Group): Html => html`
  <details${open && html` open`} data-group="${id}">
    <summary>${label}<small>${links.length}</small></summary>
    <ul>${overview && html`<li class="all"><a href="${anchor(id)}">Overview</a></li>`}${links}</ul>
  </details>`

const operationLinks = (entries: Entry[]): Part[] =>
  entries.map((entry) => link(entry.id, html`${badge(entry.method)}<span>${titleOf(entry)}</span>`))

const schemaLink = (name: string): Html => link(schemaId(name), name)

interface Contents {
  tags: Tag[]
  webhooks: Entry[]
  schemas: string[]
  errors: boolean
}

const sideBar = ({ tags, webhooks, schemas, errors }: Contents): Html => {
  // A short list is shown whole; a long one starts as the list of its tags.
  const open = tags.reduce((count, tag) => count + tag.entries.length, 0) <= 24
  const groups: Group[] = [
    ...tags.map(({ id, name, description, entries }) => ({
      id,
      label: name,
      links: operationLinks(entries),
      overview: description !== undefined,
      open,
    })),
    { id: 'section-webhooks', label: 'Webhooks', links: operationLinks(webhooks), overview: true, open },
    { id: 'section-schemas', label: 'Schemas', links: schemas.map(schemaLink), overview: false, open: false },
  ]
  return html`<nav aria-label="Contents"><details class="menu" open>
    <summary>Contents</summary>
    <div class="filter" hidden>
      <label for="section-filter">Filter operations</label>
      <input id="section-filter" type="search" placeholder="Filter operations" autocomplete="off" spellcheck="false"><kbd>/</kbd>
      <p role="status"></p>
    </div>
    <ul>${link('section-introduction', 'Introduction')}${link('section-authentication', 'Authentication')}</ul>
    ${groups.filter(({ links }) => links.length > 0).map(group)}
    ${errors && html`<ul>${link('section-errors', 'Errors')}</ul>`}
  </details></nav>`
}

/** A complete static page that describes an OpenAPI 3.1 document, with nothing inline: see the policy of /docs. */
export const renderReference = (source: unknown): string => {
  const document = asOpenApi(source)
  const title = document.info?.title ?? 'API'
  const version = document.info?.version
  const tags = tagsOf(document)
  const webhooks = webhooksOf(document)
  const schemas = Object.keys(document.components?.schemas ?? {})
  const errors = (document['x-florin-errors'] ?? []).length > 0
  const servers = document.servers?.filter(({ url }) => url !== '/') ?? []
  const page = html`<!doctype html><html lang="en"><head>
    <meta charset="utf-8"><meta name="viewport" content="width=device-width, initial-scale=1">
    <meta name="color-scheme" content="light dark">
    <title>${title} reference</title>
    <link rel="icon" href="/pages/icon.svg"><link rel="stylesheet" href="/docs/reference.css"><script src="/docs/page.js"></script><script src="/docs/reference.js"></script>
    </head><body>
    <a class="skip" href="#section-content">Skip to the content</a>
    <header>
      <a class="name" href="#section-introduction">${title}${version !== undefined && html` <small>${version}</small>`}</a>
      <a href="/docs/guides">Guides</a>
      <a href="/openapi.json">openapi.json</a>
      <button type="button" id="section-theme" hidden>Theme: auto</button>
    </header>
    ${sideBar({ tags, webhooks, schemas, errors })}
    <main id="section-content" tabindex="-1">
      <section class="part" id="section-introduction">
        <h1>${title}</h1>
        ${markdown(document.info?.description)}
        ${
          servers.length > 0 &&
          html`<p>Address: ${join(
            servers.map(({ url }) => html`<code>${url}</code>`),
            ', ',
          )}</p>`
        }
      </section>
      ${authentication(document)}
      ${tags.map((tag) => tagSection(document, tag))}
      ${webhookSection(document, webhooks)}
      ${schemaSection(document, schemas)}
      ${errorSection(document)}
    </main>
    </body></html>`
  return `${render(page)}\n`
}
