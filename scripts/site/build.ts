import { existsSync, readFileSync } from 'node:fs'
import { dirname, join, normalize } from 'node:path'
import { addressOf, fileOf, groupsOf } from './contents.ts'
import { type Page, renderPage, type Section } from './layout.ts'
import { renderDocument, type Resolve } from './markdown.ts'

const root = join(import.meta.dirname, '../..')
const installation = 'http://127.0.0.1:8080'

/** Every page of the site, and what is made from all of them. `fresh` is what this run generates: it may be newer than the files. */
export function renderSite(fresh: Readonly<Record<string, string>>): Record<string, string> {
  const groups = groupsOf(Object.keys(fresh).filter((file) => file.startsWith('docs/errors/')))
  const sources = new Set(groups.flatMap(({ pages }) => pages))
  const read = (source: string): Page => {
    const text = fresh[source] ?? readFileSync(join(root, source), 'utf8')
    return { source, address: addressOf(source), ...renderDocument(text, resolver(source, sources)) }
  }
  const sections: Section[] = groups.map(({ name, pages }) => ({ name, pages: pages.map(read) }))
  const named = sections.filter(({ name }) => name !== '')
  const pages = sections.flatMap((section) => section.pages)
  return {
    ...Object.fromEntries(pages.map((page) => [fileOf(page.source), renderPage(page, named)])),
    'public/docs/search.json': searchIndex(pages),
    'public/llms.txt': renderLlms(named),
  }
}

/** Links between Markdown files work where the files are; on the site they lead to pages. */
function resolver(source: string, sources: ReadonlySet<string>): Resolve {
  return (target) => {
    if (target.startsWith('#')) return target
    if (target === installation || target.startsWith(`${installation}/`))
      return target.slice(installation.length) || '/'
    if (/^https?:\/\//.test(target)) return target
    const [path = '', hash] = target.split('#')
    const file = normalize(join(dirname(source), path))
    const end = hash === undefined ? '' : `#${hash}`
    if (sources.has(file)) return addressOf(file) + end
    // Pictures and data beside the pages are served as they are.
    return /^docs\/[^/]+\.(svg|json|http)$/.test(file) && existsSync(join(root, file)) ? `/${file}` : undefined
  }
}

/** For the search field: the address, the title and the headings of every page. */
function searchIndex(pages: readonly Page[]): string {
  const entries = pages.map(({ address, title, headings }) => ({
    address,
    title,
    // Those of error pages are all alike.
    headings: address.startsWith('/docs/errors/') ? [] : headings.map(({ id, text }) => [id, text]),
  }))
  return `${JSON.stringify(entries)}\n`
}

/** https://llmstxt.org: what a program that reads instead of a person needs to find the rest. */
function renderLlms(sections: readonly Section[]): string {
  const lists = sections.map(
    ({ name, pages }) => `## ${name}\n\n${pages.map(({ title, source }) => `- [${title}](/${source})`).join('\n')}`,
  )
  return `# Florin

> Florin is a payments service that a company runs itself: one HTTPS API in front of its card processors and gift card providers. Merchants' back ends sign their own tokens, store cards, charge them, redeem gift cards, search transactions and receive signed webhooks.

Every link below is Markdown or JSON. Amounts are integers in the smallest unit of the currency. A declined payment is answered with 201 and an \`error_code\`.

## API

- [OpenAPI 3.1 description of every operation, event and schema](/openapi.json)
- [One request for every operation, with example bodies](/docs/florin.http)
- [What the sandbox can simulate, as data](/docs/sandbox.json)

${lists.join('\n\n')}
`
}
