import { globSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, test } from 'vitest'
import { giftCardErrorCodes } from '../src/connectors/gift-card.ts'
import { errorTable } from '../src/errors.ts'
import { findStaticFiles } from '../src/http/static-files.ts'
import { render } from '../src/html.ts'
import { outcomeCodes, paymentErrorCodes } from '../scripts/errors/pages.ts'
import { giftCardCodes } from '../scripts/errors/gift-card-codes.ts'
import { paymentCodes } from '../scripts/errors/payment-codes.ts'
import { renderDocument, slugOf } from '../scripts/site/markdown.ts'

/* The site as it is committed: whoever follows a link arrives, and every code has its page. */

const root = join(import.meta.dirname, '..')
const files = findStaticFiles()
const textOf = (path: string) => files.get(path)?.().content.toString() ?? ''
const pages = [...files.keys()].filter((path) => files.get(path)?.().headers['content-type']?.startsWith('text/html'))

const decoded = (text: string) => text.replaceAll('&amp;', '&').replaceAll('&#39;', "'").replaceAll('&quot;', '"')
const idsIn = (page: string) => [...page.matchAll(/ id="([^"]*)"/g)].map(([, id = '']) => decoded(id))
const linksIn = (page: string) => [...page.matchAll(/ (?:href|src)="([^"]*)"/g)].map(([, link = '']) => decoded(link))
const ids = new Map(pages.map((path) => [path, new Set(idsIn(textOf(path)))]))

/** Links that lead nowhere: no such path, or no such place in the page. */
function deadLinks(path: string, text: string): string[] {
  return linksIn(text).filter((link) => {
    if (/^https?:\/\//.test(link)) return false
    const [target = '', hash] = link.split('#')
    const page = target === '' ? path : target
    if (!files.has(page)) return true
    return hash !== undefined && !ids.get(page)?.has(decodeURIComponent(hash))
  })
}

describe('the site', () => {
  test('has every guide', () => {
    const guides = `quickstart authentication storing-cards payments-with-3-d-secure gift-cards browser-tokens webhooks
      testing-with-the-sandbox pagination-and-filters idempotency errors going-live`.split(/\s+/)
    expect(guides.filter((name) => !pages.includes(`/docs/guides/${name}`))).toEqual([])
    expect(pages).toEqual(expect.arrayContaining(['/docs', '/docs/guides', '/docs/errors', '/docs/sandbox']))
  })

  test.each(pages)('%s leads nowhere in vain, and no two places of it have one name', (path) => {
    const text = textOf(path)
    expect(deadLinks(path, text)).toEqual([])
    expect(idsIn(text).length).toBe(new Set(idsIn(text)).size)
  })

  test('these checks notice a dead link, a dead anchor and a dead picture', () => {
    const text =
      '<a href="/docs/nowhere"></a><a href="/docs/errors#nothing"></a><img src="/docs/no.svg"><a href="/docs">'
    expect(deadLinks('/docs', text)).toEqual(['/docs/nowhere', '/docs/errors#nothing', '/docs/no.svg'])
  })

  test('every page can be reached from the start', () => {
    const reached = new Set(['/docs/guides'])
    for (const path of reached) {
      for (const link of linksIn(textOf(path))) {
        const [target = ''] = link.split('#')
        if (pages.includes(target)) reached.add(target)
      }
    }
    expect(pages.filter((path) => !reached.has(path))).toEqual([])
  })

  test('the search finds every page and every place that it names', () => {
    const entries = JSON.parse(textOf('/docs/search.json')) as { address: string; headings: [string, string][] }[]
    expect(entries.map(({ address }) => address).toSorted()).toEqual(
      pages.filter((path) => path !== '/docs').toSorted(),
    )
    for (const { address, headings } of entries)
      for (const [id] of headings) expect(ids.get(address), `${address}#${id}`).toContain(id)
  })

  test('llms.txt leads to the sources of all guides', () => {
    const links = [...textOf('/llms.txt').matchAll(/\]\(([^)]+)\)/g)].map(([, link = '']) => link)
    expect(links.filter((link) => !files.has(link))).toEqual([])
    const guides = [...files.keys()].filter((path) => /^\/docs\/guides\/.*\.md$/.test(path))
    expect(links).toEqual(expect.arrayContaining(['/openapi.json', '/docs/florin.http', ...guides]))
  })

  test('the sources lead to each other where they are served, too', () => {
    const dead = [...files.keys()]
      .filter((path) => /^\/docs\/(guides|errors)\/.*\.md$/.test(path))
      .flatMap((path) =>
        [...textOf(path).matchAll(/\]\(([^)#\s]+\.md)/g)]
          .map(([, link = '']) => join(path, '..', link))
          .filter((target) => target.startsWith('/docs/') && !/decisions/.test(target) && !files.has(target))
          .map((target) => `${path}: ${target}`),
      )
    expect(dead).toEqual([])
  })

  test('markup of a document stays text, and nothing is inline', () => {
    const source =
      '# <b>T</b>\n\n<script>alert(1)</script>\n\na <img src=x onerror=y> `<i>` [x](javascript:alert(1)) &lt;\n\n```sh\n<u>\n```'
    const { body } = renderDocument(source, () => undefined)
    expect(render(body)).toBe(
      '<h1>T</h1><p>a  <code>&lt;i&gt;</code> x &lt;</p><figure class="code"><figcaption>Shell</figcaption><pre tabindex="0"><code>&lt;u&gt;</code></pre></figure>',
    )
    for (const path of pages) expect(textOf(path)).not.toMatch(/<script>|<style|\son\w+="|\sstyle="/)
  })

  test('anchors are those that a code host makes', () => {
    expect(slugOf('3-D Secure: what `status` says')).toBe('3-d-secure-what-status-says')
  })
})

describe('error codes', () => {
  const codes = new Set([...Object.keys(errorTable), ...outcomeCodes])
  const explained = pages.flatMap((path) => /^\/docs\/errors\/(.+)$/.exec(path)?.[1] ?? [])

  test('each has a page, and each page a code', () => {
    expect(explained.toSorted()).toEqual([...codes].toSorted())
  })

  test('nothing is explained that is no code', () => {
    expect(Object.keys(paymentCodes).filter((code) => !outcomeCodes.includes(code))).toEqual([])
    expect(Object.keys(giftCardCodes).filter((code) => paymentErrorCodes.includes(code))).toEqual([])
    expect(giftCardErrorCodes.filter((code) => !explained.includes(code))).toEqual([])
  })

  test('there is no other that the source gives to a payment or a gift card', () => {
    const given = globSync('src/**/*.ts', { cwd: root })
      .filter((file) => !file.endsWith('.test.ts'))
      .flatMap((file) => [
        ...readFileSync(join(root, file), 'utf8').matchAll(
          /\b(?:error_code|errorCode)\b[^'\n]*?(?<![=!]=)[:=?] '([a-z_]+)'/g,
        ),
      ])
      .map(([, code = '']) => code)
    expect(given).toContain('all_attempts_skipped')
    // Beside the name stand also the type of a column and a state.
    expect([...new Set(given)].filter((code) => !['text', 'succeeded'].includes(code) && !codes.has(code))).toEqual([])
  })
})
