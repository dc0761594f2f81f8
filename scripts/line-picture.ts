/** Draws measured figures over the number of rows: a line for each series, both axes with their units. */

export interface Series {
  name: string
  points: readonly (readonly [x: number, y: number])[]
}

export interface LinePicture {
  title: string
  yLabel: string
  /** `log` where the figures are far apart. */
  scale: 'linear' | 'log'
  series: readonly Series[]
}

const size = { width: 720, height: 380 }
const plot = { left: 76, right: 180, top: 48, bottom: 58 }
const colours = 4

export function drawLines({ title, yLabel, scale, series }: LinePicture): string {
  const points = series.flatMap((one) => one.points)
  const xs = [...new Set(points.map(([x]) => x))].sort((left, right) => left - right)
  const ticks = ticksOf(Math.max(...points.map(([, y]) => y)), Math.min(...points.map(([, y]) => y)), scale)
  const toX = placing(Math.log10(xs[0] ?? 1), Math.log10(xs.at(-1) ?? 1), plot.left + 24, size.width - plot.right - 24)
  const inScale = (y: number) => (scale === 'log' ? Math.log10(y) : y)
  const [low = 0, high = 1] = [ticks[0], ticks.at(-1)]
  const toY = placing(inScale(low), inScale(high), size.height - plot.bottom, plot.top)
  const place = ([x, y]: readonly [number, number]) =>
    [toX(Math.log10(x)).toFixed(1), toY(inScale(y)).toFixed(1)] as const

  const rules = ticks.map((tick) => {
    const y = toY(inScale(tick)).toFixed(1)
    return `<path class="rule" d="M${plot.left} ${y}H${size.width - plot.right}"/><text class="y" x="${plot.left - 8}" y="${Number(y) + 4}">${shortly(tick)}</text>`
  })
  const columns = xs.map(
    (x) =>
      `<text class="x" x="${toX(Math.log10(x)).toFixed(1)}" y="${size.height - plot.bottom + 20}">${shortly(x)}</text>`,
  )
  const labels = apart(series.map((one) => toY(inScale(one.points.at(-1)?.[1] ?? low))))
  const lines = series.map(({ name, points: own }, index) => {
    const places = own.map(place)
    const dots = places.map(
      ([x, y], at) => `<circle cx="${x}" cy="${y}" r="3.5"><title>${name}: ${own[at]?.[1]}</title></circle>`,
    )
    return `<g class="s${index % colours}"><path d="M${places.map((at) => at.join(' ')).join('L')}"/>${dots.join('')}
<text x="${size.width - plot.right + 8}" y="${((labels[index] ?? 0) + 4).toFixed(1)}">${name}</text></g>`
  })
  return `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 ${size.width} ${size.height}" width="${size.width}" height="${size.height}" role="img" aria-label="${title}">
<title>${title}</title>
<style>${style}</style>
<rect class="ground" width="${size.width}" height="${size.height}"/>
<text class="title" x="${plot.left}" y="24">${title}</text>
${rules.join('\n')}
${columns.join('\n')}
<text class="x" x="${(plot.left + size.width - plot.right) / 2}" y="${size.height - 14}">transactions in the cell</text>
<text class="x" transform="translate(20 ${(plot.top + size.height - plot.bottom) / 2}) rotate(-90)">${yLabel}</text>
${lines.join('\n')}
</svg>
`
}

const style = `
text{font:13px system-ui,-apple-system,"Segoe UI",sans-serif;fill:#1b1f24}.title{font-size:15px;font-weight:600}.x{text-anchor:middle}.y{text-anchor:end}
.ground{fill:#fff}.rule{stroke:#dfe3e8}g path{fill:none;stroke-width:2}
.s0 path{stroke:#1f6feb}.s0 circle,.s0 text{fill:#1f6feb}.s1 path{stroke:#b35900}.s1 circle,.s1 text{fill:#b35900}
.s2 path{stroke:#2f8f4e}.s2 circle,.s2 text{fill:#2f8f4e}.s3 path{stroke:#8250df}.s3 circle,.s3 text{fill:#8250df}
@media(prefers-color-scheme:dark){text{fill:#e6e9ed}.ground{fill:#14171a}.rule{stroke:#2c3239}
.s0 path{stroke:#6cb0ff}.s0 circle,.s0 text{fill:#6cb0ff}.s1 path{stroke:#f0a35e}.s1 circle,.s1 text{fill:#f0a35e}
.s2 path{stroke:#5fc983}.s2 circle,.s2 text{fill:#5fc983}.s3 path{stroke:#c297ff}.s3 circle,.s3 text{fill:#c297ff}}`

/** From a span of figures to a span of the picture; a single figure stands in the middle. */
function placing(from: number, to: number, start: number, end: number): (value: number) => number {
  return (value) => (to === from ? (start + end) / 2 : start + ((value - from) / (to - from)) * (end - start))
}

function ticksOf(most: number, least: number, scale: LinePicture['scale']): number[] {
  if (scale === 'log') {
    const [low, high] = [Math.floor(Math.log10(least)), Math.max(1, Math.ceil(Math.log10(most)))]
    return Array.from({ length: high - low + 1 }, (_, index) => 10 ** (low + index))
  }
  const rough = most / 4
  const unit = 10 ** Math.floor(Math.log10(rough))
  const step = [1, 2, 2.5, 5, 10].map((factor) => factor * unit).find((one) => one >= rough) ?? rough
  return Array.from({ length: Math.ceil(most / step) + 1 }, (_, index) => index * step)
}

/** Names at the ends of lines, moved down where they would cover each other. */
function apart(wanted: readonly number[]): number[] {
  const placed = [...wanted]
  const order = wanted.map((_, index) => index).sort((left, right) => (wanted[left] ?? 0) - (wanted[right] ?? 0))
  let last = Number.NEGATIVE_INFINITY
  for (const index of order) {
    last = Math.max(last + 17, wanted[index] ?? 0)
    placed[index] = last
  }
  return placed
}

/** 1,500,000 as 1.5 M. */
function shortly(number: number): string {
  if (number >= 1_000_000) return `${Number((number / 1_000_000).toPrecision(3))} M`
  if (number >= 10_000) return `${Number((number / 1_000).toPrecision(3))} k`
  return Number(number.toPrecision(3)).toLocaleString('en-US')
}
