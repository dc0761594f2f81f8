import { lexer, type Token, type Tokens } from 'marked'
import { html, type Html, type Part, render } from '../../src/html.ts'

export interface Heading {
  id: string
  text: string
  depth: number
}

export interface Document {
  title: string
  headings: Heading[]
  body: Html
}

/** Where a link of the page leads on the site; undefined for what is in the repository only. */
export type Resolve = (target: string) => string | undefined

const captions: Record<string, string> = {
  sh: 'Shell',
  ts: 'TypeScript',
  js: 'JavaScript',
  json: 'JSON',
  http: 'HTTP',
  html: 'HTML',
  sql: 'SQL',
  yaml: 'YAML',
}

/** As code hosts make them, so that a link to a heading works there and here. */
export const slugOf = (text: string): string =>
  text
    .toLowerCase()
    .replace(/[^\p{L}\p{N}\s_-]/gu, '')
    .replaceAll(' ', '-')

/** The text of a token and all inside it, without markup. */
const plain = (token: Token): string =>
  'tokens' in token && token.tokens ? token.tokens.map(plain).join('') : 'text' in token ? String(token.text) : ''

/** Markdown → a page. Everything is written by escaping templates: raw HTML of the source is left out. */
export function renderDocument(source: string, resolve: Resolve): Document {
  const headings: Heading[] = []
  const used = new Map<string, number>()
  let title = ''

  const inline = (tokens: readonly Token[] | undefined): Part[] => (tokens ?? []).map(inlineOf)

  const inlineOf = (token: Token): Part => {
    switch (token.type) {
      case 'strong':
        return html`<strong>${inline(token.tokens)}</strong>`
      case 'em':
        return html`<em>${inline(token.tokens)}</em>`
      case 'codespan':
        return html`<code>${(token as Tokens.Codespan).text}</code>`
      case 'br':
        return html`<br>`
      case 'link': {
        const address = resolve((token as Tokens.Link).href)
        return address === undefined ? inline(token.tokens) : html`<a href="${address}">${inline(token.tokens)}</a>`
      }
      case 'image': {
        const { href, text } = token as Tokens.Image
        return html`<img src="${resolve(href)}" alt="${text}">`
      }
      case 'html':
        return undefined
      default:
        return 'tokens' in token && token.tokens ? inline(token.tokens) : unescaped(plain(token))
    }
  }

  const heading = (token: Tokens.Heading): Part => {
    const text = plain(token)
    if (token.depth === 1) {
      title = text
      return html`<h1>${inline(token.tokens)}</h1>`
    }
    const slug = slugOf(text)
    const before = used.get(slug) ?? 0
    used.set(slug, before + 1)
    const id = before === 0 ? slug : `${slug}-${before}`
    headings.push({ id, text, depth: token.depth })
    const link = html`<a class="here" href="#${id}" aria-label="${`Link to: ${text}`}">#</a>`
    const [words, depth] = [inline(token.tokens), token.depth]
    if (depth === 2) return html`<h2 id="${id}">${words}${link}</h2>`
    return depth === 3 ? html`<h3 id="${id}">${words}${link}</h3>` : html`<h4 id="${id}">${words}${link}</h4>`
  }

  const code = ({ lang, text }: Tokens.Code): Html => {
    const language = lang?.split(' ')[0] ?? ''
    const caption = captions[language] ?? 'Text'
    return html`<figure class="code"><figcaption>${caption}</figcaption><pre tabindex="0"><code>${text}</code></pre></figure>`
  }

  // A column without a name has no heading.
  const head = ({ tokens }: Tokens.TableCell): Html =>
    tokens.length === 0 ? html`<td></td>` : html`<th scope="col">${inline(tokens)}</th>`

  const table = ({ header, rows }: Tokens.Table): Html => html`
    <div class="wide" tabindex="0"><table>
      ${header.some(({ tokens }) => tokens.length > 0) && html`<thead><tr>${header.map(head)}</tr></thead>`}
      <tbody>${rows.map((row) => html`<tr>${row.map((cell) => html`<td>${inline(cell.tokens)}</td>`)}</tr>`)}</tbody>
    </table></div>`

  const list = ({ ordered, items }: Tokens.List): Html => {
    const entries = items.map((item) => html`<li>${blocks(item.tokens)}</li>`)
    return ordered ? html`<ol>${entries}</ol>` : html`<ul>${entries}</ul>`
  }

  const blocks = (tokens: readonly Token[]): Part[] => tokens.map(blockOf)

  const blockOf = (token: Token): Part => {
    switch (token.type) {
      case 'heading':
        return heading(token as Tokens.Heading)
      case 'paragraph':
        return html`<p>${inline(token.tokens)}</p>`
      case 'code':
        return code(token as Tokens.Code)
      case 'table':
        return table(token as Tokens.Table)
      case 'list':
        return list(token as Tokens.List)
      case 'blockquote':
        return html`<blockquote>${blocks(token.tokens ?? [])}</blockquote>`
      case 'hr':
        return html`<hr>`
      case 'space':
      case 'html':
      case 'checkbox':
        return undefined
      default:
        return inlineOf(token)
    }
  }

  const body = html`${blocks(lexer(source))}`
  if (title === '') throw new Error(`a page without a title: ${render(body).slice(0, 80)}`)
  return { title, headings, body }
}

/** marked leaves entities as they are written; our templates escape what they get. */
const unescaped = (text: string) =>
  text
    .replaceAll('&lt;', '<')
    .replaceAll('&gt;', '>')
    .replaceAll('&quot;', '"')
    .replaceAll('&#39;', "'")
    .replaceAll('&amp;', '&')
