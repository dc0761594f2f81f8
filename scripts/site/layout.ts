import { anchor, html, type Html, type Part, render } from '../../src/html.ts'
import type { Heading } from './markdown.ts'

export interface Page {
  source: string
  address: string
  title: string
  headings: readonly Heading[]
  body: Html
}

export interface Section {
  name: string
  pages: readonly Page[]
}

const bar = (page: Page): Html => html`<header>
  <a class="name" href="/docs/guides">Florin</a>
  <a href="/docs/guides"${page.source.includes('/guides/') && html` aria-current="true"`}>Guides</a>
  <a href="/docs">Reference</a>
  <button type="button" id="section-theme" hidden>Theme: auto</button>
</header>`

const item = (page: Page, current: Page): Html => html`
  <li><a href="${page.address}"${page === current && html` aria-current="page"`}>${page.title}</a></li>`

/** All sections, the one of this page open. A page of an error is under the list of all codes. */
const sideBar = (sections: readonly Section[], current: Page): Html => html`<nav aria-label="Contents">
  <details class="menu" open>
    <summary>Contents</summary>
    <div class="filter" hidden>
      <label for="section-search">Search the documents</label>
      <input id="section-search" type="search" placeholder="Search" autocomplete="off" spellcheck="false"><kbd>/</kbd>
      <p role="status"></p>
      <ul class="found"></ul>
    </div>
    <div class="sections">${sections.map(
      ({ name, pages }) => html`<h2>${name}</h2><ul>${pages.map((page) => item(page, current))}</ul>`,
    )}</div>
  </details></nav>`

const onThisPage = (headings: readonly Heading[]): Part =>
  headings.length > 1 &&
  html`<aside aria-labelledby="section-here">
    <h2 id="section-here">On this page</h2>
    <ul>${headings.map(
      ({ id, text, depth }) => html`<li${depth > 2 && html` class="deeper"`}><a href="${anchor(id)}">${text}</a></li>`,
    )}</ul>
  </aside>`

const neighbours = (before: Page | undefined, after: Page | undefined): Part =>
  (before ?? after) &&
  html`<footer>
    ${before && html`<a href="${before.address}" rel="prev"><small>Before</small>${before.title}</a>`}
    ${after && html`<a href="${after.address}" rel="next"><small>Next</small>${after.title}</a>`}
  </footer>`

/** A complete page, with nothing inline: see the policy of files in src/http/static-files.ts. */
export function renderPage(page: Page, sections: readonly Section[]): string {
  const order = sections.flatMap(({ pages }) => pages)
  const place = order.indexOf(page)
  const isError = page.source.startsWith('docs/errors/') && place < 0
  const here = page.headings.filter(({ depth }) => depth < 4)
  return `${render(html`<!doctype html><html lang="en"><head>
    <meta charset="utf-8"><meta name="viewport" content="width=device-width, initial-scale=1">
    <meta name="color-scheme" content="light dark">
    <title>${page.title} · Florin</title>
    <link rel="icon" href="/pages/icon.svg"><link rel="stylesheet" href="/docs/reference.css"><link rel="stylesheet" href="/docs/guides.css">
    <link rel="alternate" type="text/markdown" href="/${page.source}">
    <script src="/docs/page.js"></script><script src="/docs/guides.js" defer></script>
    </head><body>
    <a class="skip" href="#section-content">Skip to the content</a>
    ${bar(page)}
    ${sideBar(sections, page)}
    <main id="section-content" tabindex="-1"><div class="sheet">
      <article>
        ${isError && html`<p class="up"><a href="/docs/errors">Error codes</a></p>`}
        ${page.body}
        ${place >= 0 && neighbours(order[place - 1], order[place + 1])}
        <p class="source"><a href="/${page.source}">This page as Markdown</a></p>
      </article>
      ${onThisPage(here)}
    </div></main>
    </body></html>`)}\n`
}
