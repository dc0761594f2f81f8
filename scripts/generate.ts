import { globSync, mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { describeApi } from '../src/http/openapi.ts'
import { renderReference } from '../src/http/reference/page.ts'
import { routes } from '../src/http/routes.ts'
import { renderErrors } from './errors/pages.ts'
import { renderHttpFile } from './http-file.ts'
import { renderSite } from './site/build.ts'
import { renderSettings } from './configuration.ts'
import { renderEvents } from './events.ts'
import { renderManifest } from './operations-manifest.ts'
import { describeSandbox, renderSandbox } from './sandbox.ts'
import { drawCombinations, drawFilters, drawFirstPage, renderScale } from './scale.ts'
import { renderSdk } from './sdk/sdk.ts'
import { drawMethods, drawTransactions, renderStatuses } from './statuses.ts'

/** Writes everything that is generated from the code; with --check it only says what is out of date. */
const root = join(import.meta.dirname, '..')
const { version } = JSON.parse(readFileSync(join(root, 'package.json'), 'utf8')) as { version: string }
const document = describeApi(routes, { version })

const documents: Record<string, string> = {
  'openapi.json': `${JSON.stringify(document, null, 2)}\n`,
  'src/cli/operations/manifest.json': renderManifest(routes),
  'public/docs/index.html': renderReference(document),
  'docs/configuration.md': renderSettings(),
  'docs/events.md': renderEvents(),
  'docs/sandbox.md': renderSandbox(),
  'docs/sandbox.json': describeSandbox(),
  'docs/scale.md': renderScale(),
  'docs/scale-first-page.svg': drawFirstPage(),
  'docs/scale-filters.svg': drawFilters(),
  'docs/scale-combinations.svg': drawCombinations(),
  'docs/statuses.md': renderStatuses(),
  'docs/transaction-statuses.svg': drawTransactions(),
  'docs/payment-method-statuses.svg': drawMethods(),
  ...renderSdk(document),
  'docs/florin.http': renderHttpFile(document, routes),
  ...renderErrors(),
}
const generated: Record<string, string> = { ...documents, ...renderSite(documents) }

const current = (file: string) => {
  try {
    return readFileSync(join(root, file), 'utf8')
  } catch {
    return undefined
  }
}
/** Pages whose source is gone. */
const left = ['docs/errors', 'public/docs']
  .flatMap((folder) => globSync(`${folder}/**/*.{md,html}`, { cwd: root }))
  .filter((file) => !(file in generated))
const stale = [...Object.keys(generated).filter((file) => current(file) !== generated[file]), ...left]
if (!process.argv.includes('--check')) {
  for (const file of stale) write(file, generated[file])
  console.log(stale.length === 0 ? 'everything is up to date' : `wrote ${stale.join(', ')}`)
} else if (stale.length > 0) {
  console.error(`${stale.join(', ')} out of date: run \`npm run generate\` and commit the result`)
  process.exitCode = 1
}

function write(file: string, text: string | undefined): void {
  const path = join(root, file)
  if (text === undefined) return rmSync(path)
  mkdirSync(dirname(path), { recursive: true })
  writeFileSync(path, text)
}
