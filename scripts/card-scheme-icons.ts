// Draws public/card-schemes/<id>.svg: one family of neutral card tiles, one per card scheme.
// The motifs, letters and colours are our own on purpose: the schemes' logos are theirs to license.
// Usage: node scripts/card-scheme-icons.ts [--check]

import { mkdir, readFile, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { parseArgs } from 'node:util'

const folder = join(import.meta.dirname, '..', 'public', 'card-schemes')
const ink = '#fdfcf8'

interface Glyph {
  width: number
  path: string
}

/** A stroke font, 12 units high, only the letters in use; every path starts with an absolute move. */
const glyphs: Record<string, Glyph> = {
  A: { width: 8, path: 'M0 12 4 0 8 12M1.4 8H6.6' },
  B: { width: 7.6, path: 'M0 0V12H4.6A3.1 3.1 0 0 0 4.6 5.8H0 4.2A2.9 2.9 0 0 0 4.2 0Z' },
  C: { width: 7.6, path: 'M7.6 2.3A4 4 0 0 0 0 4V8A4 4 0 0 0 7.6 9.7' },
  D: { width: 8, path: 'M0 0V12H3A5 5 0 0 0 8 7V5A5 5 0 0 0 3 0Z' },
  E: { width: 6.6, path: 'M6.6 0H0V12H6.6M0 6H5.4' },
  F: { width: 6.4, path: 'M6.4 0H0V12M0 6H5.2' },
  H: { width: 7.8, path: 'M0 0V12M7.8 0V12M0 6H7.8' },
  I: { width: 0, path: 'M0 0V12' },
  J: { width: 6.6, path: 'M6.6 0V8.5A3.3 3.4 0 0 1 0 8.7' },
  K: { width: 7.6, path: 'M0 0V12M7.2 0 0 7.2M2.9 4.6 7.6 12' },
  L: { width: 6.2, path: 'M0 0V12H6.2' },
  M: { width: 9, path: 'M0 12V0L4.5 7 9 0V12' },
  N: { width: 8, path: 'M0 12V0L8 12V0' },
  P: { width: 7.6, path: 'M0 12V0H4.2A3.4 3.4 0 0 1 4.2 6.8H0' },
  Q: { width: 8, path: 'M4 0A4 4 0 0 1 8 4V8A4 4 0 0 1 0 8V4A4 4 0 0 1 4 0ZM5 9 8.2 12.2' },
  R: { width: 7.6, path: 'M0 12V0H4.3A3.3 3.3 0 0 1 4.3 6.6H0M4 6.6 7.6 12' },
  S: {
    width: 7.6,
    path: 'M7.2 2.2C6.7.8 5.4 0 3.8 0 1.8 0 .4 1.2.4 3 .4 7.2 7.6 4.9 7.6 9 7.6 10.8 6 12 3.9 12 2 12 .5 11.1 0 9.6',
  },
  T: { width: 8, path: 'M0 0H8M4 0V12' },
  U: { width: 8, path: 'M0 0V8A4 4 0 0 0 8 8V0' },
  V: { width: 8, path: 'M0 0 4 12 8 0' },
  X: { width: 8, path: 'M0 0 8 12M8 0 0 12' },
  Y: { width: 8, path: 'M0 0 4 6.2 8 0M4 6.2V12' },
}

const fill = (path: string, opacity = 1): string => `<path d="${path}"${opacity === 1 ? '' : ` opacity="${opacity}"`}/>`
const line = (path: string, width: number, opacity = 1): string =>
  `<path d="${path}" fill="none" stroke="ACCENT" stroke-width="${width}"${opacity === 1 ? '' : ` opacity="${opacity}"`}/>`
/** Motifs that do not run off the tile keep the same margin to its edge as the letters. */
const inset = (shapes: string): string => `<g transform="translate(-2 0)">${shapes}</g>`
const each = (count: number, draw: (index: number) => string): string =>
  Array.from({ length: count }, (_, index) => draw(index)).join('')

interface Scheme {
  name: string
  mark: string
  tile: string
  accent: string
  /** Shapes on the right of the tile (x 28 to 48), filled with the accent unless they say otherwise. */
  motif: string
}

const schemes: Record<string, Scheme> = {
  accel: {
    name: 'Accel',
    mark: 'AC',
    tile: '#205335',
    accent: '#d7cc8b',
    motif: each(3, (i) =>
      line(`M${29 + i * 6} 32A${19 - i * 6} ${19 - i * 6} 0 0 1 48 ${13 + i * 6}`, 3, 0.45 + i * 0.25),
    ),
  },
  amex: {
    name: 'American Express',
    mark: 'AX',
    tile: '#6b3b53',
    accent: '#fdb6aa',
    motif: each(3, (i) => fill(`M${32 + i * 8} 32 ${44 + i * 8} 0H${48 + i * 8}L${36 + i * 8} 32Z`, 0.4 + i * 0.3)),
  },
  bancontact: {
    name: 'Bancontact',
    mark: 'BC',
    tile: '#4e3e6a',
    accent: '#f1b5dc',
    motif: inset(each(3, (i) => fill(`M${30 + i * 6} 32V${21 - i * 6}H${34 + i * 6}V32Z`, 0.45 + i * 0.25))),
  },
  'carte-bancaire': {
    name: 'Carte Bancaire',
    mark: 'CB',
    tile: '#72422b',
    accent: '#e8c58b',
    motif: fill('M48 4A12 12 0 0 0 48 28Z', 0.45) + fill('M48 10A6 6 0 0 0 48 22Z'),
  },
  cirrus: {
    name: 'Cirrus',
    mark: 'CI',
    tile: '#3f5527',
    accent: '#99dcb8',
    motif: each(3, (i) =>
      line(`M26 ${11 + i * 7}Q31.5 ${5 + i * 7} 37 ${11 + i * 7}T48 ${11 + i * 7}`, 2.6, 0.45 + i * 0.25),
    ),
  },
  culiance: {
    name: 'Culiance',
    mark: 'CU',
    tile: '#6a3637',
    accent: '#ebb7e5',
    motif: inset(
      each(9, (i) => {
        const row = Math.floor(i / 3)
        return `<circle cx="${31 + (i % 3) * 6}" cy="${10 + row * 6}" r="${1.2 + ((i % 3) + row) * 0.3}"/>`
      }),
    ),
  },
  dankort: {
    name: 'Dankort',
    mark: 'DK',
    tile: '#005451',
    accent: '#dccb8a',
    motif: inset(each(3, (i) => line(`M${28 + i * 6} 7 ${34 + i * 6} 16 ${28 + i * 6} 25`, 2.8, 0.45 + i * 0.25))),
  },
  'diners-club': {
    name: 'Diners Club',
    mark: 'DC',
    tile: '#634c17',
    accent: '#cdd08f',
    motif: inset(fill('M38 5 48 16 38 27 28 16Z', 0.4) + fill('M38 10.5 43 16 38 21.5 33 16Z')),
  },
  discover: {
    name: 'Discover',
    mark: 'DI',
    tile: '#384570',
    accent: '#84dce0',
    motif: each(3, (i) =>
      line(`M${27 + i * 6} 0A${21 - i * 6} ${21 - i * 6} 0 0 0 48 ${21 - i * 6}`, 3, 0.4 + i * 0.3),
    ),
  },
  'eftpos-australia': {
    name: 'eftpos Australia',
    mark: 'EF',
    tile: '#4e4c7a',
    accent: '#a0cfff',
    motif: inset(fill('M28 25H38L33 16Z', 0.45) + fill('M38 25H48L43 16Z', 0.7) + fill('M33 15H43L38 6Z')),
  },
  elo: {
    name: 'Elo',
    mark: 'EL',
    tile: '#5c395e',
    accent: '#fcb4be',
    motif: inset(
      fill('M29 7H35V13H29ZM41 7H47V13H41ZM29 19H35V25H29ZM41 19H47V25H41Z', 0.5) + fill('M35 13H41V19H35Z'),
    ),
  },
  hipercard: {
    name: 'Hipercard',
    mark: 'HC',
    tile: '#0c5a4b',
    accent: '#aed9a4',
    motif: inset(
      line('M38 6 46.5 11V21L38 26 29.5 21V11Z', 2.4, 0.55) + fill('M38 11 42.5 13.5V18.5L38 21 33.5 18.5V13.5Z'),
    ),
  },
  jcb: {
    name: 'JCB',
    mark: 'JC',
    tile: '#5f3813',
    accent: '#fdb5b4',
    motif: each(4, (i) =>
      fill(`M${[36, 30, 34, 40][i]} ${6 + i * 5.5}H48V${9 + i * 5.5}H${[36, 30, 34, 40][i]}Z`, 0.4 + i * 0.2),
    ),
  },
  maestro: {
    name: 'Maestro',
    mark: 'MA',
    tile: '#50501a',
    accent: '#ebc38c',
    motif: inset(fill('M29 16A9 9 0 0 1 38 7V16Z', 0.5) + fill('M38 25V16H47A9 9 0 0 1 38 25Z')),
  },
  mastercard: {
    name: 'Mastercard',
    mark: 'MC',
    tile: '#005766',
    accent: '#91ddc2',
    motif: fill('M30 32V26H36V20H42V14H48V32Z', 0.45) + fill('M42 32V26H48V32Z'),
  },
  mir: {
    name: 'Mir',
    mark: 'MR',
    tile: '#6f3b47',
    accent: '#f4be92',
    motif: fill('M25 32 34 16 43 32Z', 0.5) + fill('M33 32 44 11 55 32Z'),
  },
  nyce: {
    name: 'NYCE',
    mark: 'NY',
    tile: '#6e4160',
    accent: '#c9c2ff',
    motif:
      fill('M28 7H36V12H28ZM40 20H48V25H40Z', 0.5) + fill('M38 7H48V12H38ZM33 13.5H43V18.5H33ZM28 20H38V25H28Z', 0.85),
  },
  other: {
    name: 'Other card',
    mark: '',
    tile: '#4f5660',
    accent: '#c4cbd7',
    motif:
      '<path d="M0 6.5H48V12H0Z" opacity=".45"/><rect x="5.5" y="17" width="8" height="6.5" rx="1.6"/>' +
      line('M29 24.5H42M29 20H37', 2.2, 0.75),
  },
  pulse: {
    name: 'Pulse',
    mark: 'PU',
    tile: '#4c4307',
    accent: '#aed9a4',
    motif: inset(
      line('M29.5 7.5H46.5V24.5H29.5Z', 2.2, 0.45) +
        line('M33.5 11.5H42.5V20.5H33.5Z', 2.2, 0.75) +
        fill('M36.6 14.6H39.4V17.4H36.6Z'),
    ),
  },
  qcard: {
    name: 'Q Card',
    mark: 'QC',
    tile: '#264d28',
    accent: '#85ddd7',
    motif: inset(
      each(3, (i) => fill(`M${30 + i * 3} ${11 + i * 7}A6 6 0 0 1 ${42 + i * 3} ${11 + i * 7}Z`, 0.45 + i * 0.25)),
    ),
  },
  rupay: {
    name: 'RuPay',
    mark: 'RU',
    tile: '#4f3660',
    accent: '#b5c9ff',
    motif: inset(
      line('M30 10H36M33 7V13M40 22H46M43 19V25', 2.2, 0.5) + line('M40 10H46M43 7V13M30 22H36M33 19V25', 2.2, 0.95),
    ),
  },
  star: {
    name: 'Star',
    mark: 'ST',
    tile: '#005f63',
    accent: '#f9bb99',
    motif:
      fill('M48 32 27 32 29.8 21.5Z', 0.4) + fill('M48 32 29.8 21.5 37.5 13.8Z', 0.7) + fill('M48 32 37.5 13.8 48 11Z'),
  },
  uatp: {
    name: 'UATP',
    mark: 'UA',
    tile: '#79443c',
    accent: '#d7cc8b',
    motif: line('M26 22 42 6M30 28 50 8M34 34 50 18', 2, 0.5) + line('M30 4 50 24M26 10 46 30', 2, 0.9),
  },
  unionpay: {
    name: 'UnionPay',
    mark: 'UP',
    tile: '#614013',
    accent: '#b8d69c',
    motif: inset(
      line('M29.5 32V17A8.5 8.5 0 0 1 46.5 17V32', 2.4, 0.5) + line('M33.7 32V17A4.3 4.3 0 0 1 42.3 17V32', 2.4),
    ),
  },
  visa: {
    name: 'Visa',
    mark: 'VI',
    tile: '#215f48',
    accent: '#e4c78a',
    motif: each(4, (i) => line(`M${27.5 + i * 5.5} 0V32`, 1.4 + i * 0.8, 0.4 + i * 0.2)),
  },
}

const scale = 0.86

const letters = (mark: string): string => {
  let x = 6
  return Array.from(mark)
    .map((letter) => {
      const glyph = glyphs[letter]
      if (!glyph) throw new Error(`no glyph for ${letter}`)
      const drawn = `<path transform="translate(${Number(x.toFixed(1))} 15.2) scale(${scale})" d="${glyph.path}"/>`
      x += (glyph.width + 3.8) * scale
      return drawn
    })
    .join('')
}

/** Sums of decimals leave tails such as 1.7999999999999998 in the paths. */
const shorten = (svg: string): string =>
  svg.replace(/\d+\.\d{2,}/g, (number) => String(Number(Number(number).toFixed(2))))

const draw = (id: string, scheme: Scheme): string => {
  const { name, mark, tile, accent } = scheme
  const sign = mark
    ? `<rect x="5" y="6" width="6" height="2.4" rx="1.2" fill="${accent}"/>` +
      `<g fill="none" stroke="${ink}" stroke-width="2.5" stroke-linecap="round" stroke-linejoin="round">${letters(mark)}</g>`
    : ''
  return `${shorten(
    [
      '<svg xmlns="http://www.w3.org/2000/svg" width="48" height="32" viewBox="0 0 48 32" role="img">',
      `<title>${name}</title>`,
      // The id carries the scheme so that two icons inlined in one page do not share a clip path.
      `<clipPath id="tile-${id}"><rect width="48" height="32" rx="5"/></clipPath>`,
      `<g clip-path="url(#tile-${id})"><rect width="48" height="32" fill="${tile}"/>`,
      `<g fill="${accent}">${scheme.motif.replaceAll('ACCENT', accent)}</g></g>`,
      sign,
      `<rect x=".5" y=".5" width="47" height="31" rx="4.5" fill="none" stroke="${ink}" stroke-opacity=".16"/>`,
      '</svg>',
    ]
      .filter(Boolean)
      .join('\n'),
  )}\n`
}

const { values } = parseArgs({ options: { check: { type: 'boolean', default: false } } })
if (!values.check) await mkdir(folder, { recursive: true })
for (const [id, scheme] of Object.entries(schemes)) {
  const file = join(folder, `${id}.svg`)
  const drawn = draw(id, scheme)
  if (!values.check) {
    await writeFile(file, drawn)
    continue
  }
  const written = await readFile(file, 'utf8').catch(() => '')
  if (written !== drawn) {
    console.error(`${id}.svg differs: run node scripts/card-scheme-icons.ts`)
    process.exitCode = 1
  }
}
