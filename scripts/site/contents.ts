import { readdirSync } from 'node:fs'
import { join } from 'node:path'

/** What is on the site, in the order in which it is read. */
export interface Group {
  name: string
  /** Sources, as paths in the repository. */
  pages: readonly string[]
}

const root = join(import.meta.dirname, '../..')

const markdownIn = (folder: string) =>
  readdirSync(join(root, folder))
    .filter((file) => file.endsWith('.md'))
    .toSorted()
    .map((file) => `${folder}/${file}`)

/** In the order of somebody who begins. */
const guideOrder = [
  'index',
  'quickstart',
  'authentication',
  'storing-cards',
  'payments-with-3-d-secure',
  'gift-cards',
  'browser-tokens',
  'webhooks',
  'testing-with-the-sandbox',
  'pagination-and-filters',
  'idempotency',
  'errors',
  'going-live',
].map((name) => `docs/guides/${name}.md`)

const lookUp = ['cli', 'demo', 'sandbox', 'statuses', 'events', 'event-stream', 'configuration', 'scale', 'bin-file']

export function groupsOf(errorPages: readonly string[]): Group[] {
  const others = markdownIn('docs/guides').filter((file) => !guideOrder.includes(file))
  if (others.length > 0) throw new Error(`${others.join(', ')}: say in scripts/site/contents.ts where it comes`)
  return [
    { name: 'Guides', pages: guideOrder },
    { name: 'Look up', pages: ['docs/errors/index.md', ...lookUp.map((name) => `docs/${name}.md`)] },
    { name: 'Runbooks', pages: markdownIn('docs/runbooks') },
    // On the site, but not in the navigation: the list of all codes leads to each.
    { name: '', pages: errorPages.filter((file) => file !== 'docs/errors/index.md') },
  ]
}

/** docs/guides/quickstart.md → /docs/guides/quickstart */
export const addressOf = (source: string): string => `/${source.replace(/(\/(index|README))?\.md$/, '')}`

/** docs/guides/quickstart.md → public/docs/guides/quickstart.html */
export const fileOf = (source: string): string =>
  `public/${source.replace(/README\.md$/, 'index.md').replace(/\.md$/, '.html')}`
