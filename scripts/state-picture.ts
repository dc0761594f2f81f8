/** Draws a state machine from the table that the code goes by: columns by how far a state is from the first, an arrow a move. */

const box = { width: 228, height: 40, gapX: 96, gapY: 26 }
const margin = 24
const headroom = 72

interface Place {
  state: string
  column: number
  x: number
  y: number
}

export function drawStates(moves: Readonly<Record<string, readonly string[]>>, title: string): string {
  const places = placesOf(moves)
  const edges = Object.entries(moves).flatMap(([from, targets]) => targets.map((to) => [from, to] as const))
  const width = Math.max(...[...places.values()].map(({ x }) => x)) + box.width + margin
  const height = Math.max(...[...places.values()].map(({ y }) => y)) + box.height + headroom
  const lines = edges.flatMap(([from, to]) => {
    const [start, end] = [places.get(from), places.get(to)]
    return start && end ? [`<path d="${pathOf(start, end)}"><title>${from} to ${to}</title></path>`] : []
  })
  const boxes = [...places.values()].map(
    ({ state, x, y }) => `<g class="${classOf(state, moves)}">
<rect x="${x}" y="${y}" width="${box.width}" height="${box.height}" rx="8"/>
<text x="${x + box.width / 2}" y="${y + box.height / 2 + 5}">${state}</text></g>`,
  )
  return `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 ${width} ${height}" width="${width}" height="${height}" role="img" aria-label="${title}">
<title>${title}</title>
<style>${style}</style>
<defs><marker id="tip" viewBox="0 0 8 8" refX="7" refY="4" markerWidth="8" markerHeight="8" orient="auto"><path d="M0 0L8 4L0 8Z"/></marker></defs>
<rect class="ground" width="${width}" height="${height}"/>
<g class="moves">
${lines.join('\n')}
</g>
${boxes.join('\n')}
</svg>
`
}

const style = `
text{font:13px ui-monospace,SFMono-Regular,Menlo,Consolas,monospace;text-anchor:middle;fill:#1b1f24}
.ground{fill:#fff}.moves path{fill:none;stroke:#6b7684;stroke-width:1.4;marker-end:url(#tip)}marker path{fill:#6b7684;stroke:none}
rect{fill:#eef1f4;stroke:#8c96a3}.good rect{fill:#e3f4e8;stroke:#2f8f4e}.bad rect{fill:#fbe9e7;stroke:#c0453a}
@media(prefers-color-scheme:dark){text{fill:#e6e9ed}.ground{fill:#14171a}rect{fill:#262b31;stroke:#5c6672}.good rect{fill:#16331f;stroke:#4fb06f}
.bad rect{fill:#3b1a17;stroke:#d9655a}.moves path{stroke:#8d97a4}marker path{fill:#8d97a4}}`

function placesOf(moves: Readonly<Record<string, readonly string[]>>): Map<string, Place> {
  const columns = columnsOf(moves)
  const most = Math.max(...columns.map(({ length }) => length))
  const places = columns.flatMap((states, column) => {
    const top = ((most - states.length) * (box.height + box.gapY)) / 2
    return states.map((state, row) => ({
      state,
      column,
      x: margin + column * (box.width + box.gapX),
      y: headroom + top + row * (box.height + box.gapY),
    }))
  })
  return new Map(places.map((place) => [place.state, place]))
}

/** By the most moves from the first, not counting those that lead back; in each column in the order of the table. */
function columnsOf(moves: Readonly<Record<string, readonly string[]>>): string[][] {
  const depths = new Map<string, number>()
  const visit = (state: string, depth: number, before: readonly string[]) => {
    if (before.includes(state) || depth < (depths.get(state) ?? 0)) return
    depths.set(state, depth)
    for (const next of moves[state] ?? []) if (!isWayBack(state, next)) visit(next, depth + 1, [...before, state])
  }
  const states = Object.keys(moves)
  // The table lists states in the order in which a payment meets them.
  const isWayBack = (from: string, to: string) => states.indexOf(to) < states.indexOf(from)
  visit(states[0] ?? '', 0, [])
  const deepest = Math.max(...depths.values())
  return Array.from({ length: deepest + 1 }, (_, depth) => states.filter((state) => depths.get(state) === depth))
}

function pathOf(start: Place, end: Place): string {
  const middle = box.height / 2
  const span = end.column - start.column
  if (span < 0) {
    const [fromX, toX] = [start.x, end.x + box.width]
    return `M${fromX} ${start.y + middle + 11}C${fromX - 44} ${start.y + middle + 20} ${toX + 44} ${end.y + middle + 20} ${toX} ${end.y + middle + 11}`
  }
  const [fromX, toX] = [start.x + box.width, end.x]
  if (span === 1) {
    const bend = (toX - fromX) / 2
    return `M${fromX} ${start.y + middle}C${fromX + bend} ${start.y + middle} ${toX - bend} ${end.y + middle} ${toX} ${end.y + middle}`
  }
  // Over the columns between, or under them, and the farther the wider.
  const isUnder = end.y >= start.y
  const edge = isUnder ? box.height : 0
  const bend = isUnder ? Math.max(start.y, end.y) + box.height + 26 * span : Math.min(start.y, end.y) - 34 * span
  const [startX, endX] = [start.x + box.width / 2, end.x + box.width / 2]
  return `M${startX} ${start.y + edge}C${startX + 40} ${bend} ${endX - 40} ${bend} ${endX} ${end.y + edge}`
}

const classOf = (state: string, moves: Readonly<Record<string, readonly string[]>>) =>
  /declined|failed$/.test(state)
    ? 'bad'
    : /succeeded/.test(state)
      ? 'good'
      : moves[state]?.length === 0
        ? 'end'
        : 'open'
