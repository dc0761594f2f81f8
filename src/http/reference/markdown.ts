import { html, type Html, type Part } from '../../html.ts'

const inlinePattern = /`([^`]+)`|\*\*(.+?)\*\*|\[([^\]]+)\]\(([^()\s]+)\)/g
// Anything else, such as javascript:, stays text.
const safeAddress = /^(https?:\/\/|mailto:|#|\/(?!\/))/i

/** `code`, **bold** and [links](https://example.com); the rest is escaped text. */
export const inline = (text: string): Part[] => {
  const parts: Part[] = []
  let end = 0
  for (const match of text.matchAll(inlinePattern)) {
    const [whole, code, bold, label, address] = match
    parts.push(text.slice(end, match.index))
    if (code !== undefined) parts.push(html`<code>${code}</code>`)
    else if (bold !== undefined) parts.push(html`<strong>${inline(bold)}</strong>`)
    else if (label !== undefined && address !== undefined && safeAddress.test(address))
      parts.push(html`<a href="${address}">${inline(label)}</a>`)
    else parts.push(whole)
    end = match.index + whole.length
  }
  parts.push(text.slice(end))
  return parts
}

interface Block {
  list: boolean
  lines: string[]
}

const toBlocks = (text: string): Block[] => {
  const blocks: Block[] = []
  let open: Block | undefined
  for (const line of text.split(/\r?\n/)) {
    const item = /^\s*[-*]\s+(.*)$/.exec(line)?.[1]
    if (line.trim() === '') open = undefined
    else if (item !== undefined) {
      if (!open?.list) blocks.push((open = { list: true, lines: [] }))
      open.lines.push(item)
    } else if (open?.list && /^\s/.test(line)) {
      open.lines.push(`${open.lines.pop() ?? ''} ${line.trim()}`)
    } else {
      if (!open || open.list) blocks.push((open = { list: false, lines: [] }))
      open.lines.push(line.trim())
    }
  }
  return blocks
}

/** Paragraphs and bullet lists of `inline` text. */
export const markdown = (text: string | undefined): Html[] =>
  toBlocks(text ?? '').map(({ list, lines }) =>
    list
      ? html`<ul>${lines.map((line) => html`<li>${inline(line)}</li>`)}</ul>`
      : html`<p>${inline(lines.join(' '))}</p>`,
  )
