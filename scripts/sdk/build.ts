import { spawnSync } from 'node:child_process'
import { copyFileSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'

/**
 * Makes packages/sdk/dist, the package as it is published: `npm publish packages/sdk/dist`. Within this repository `@florin/sdk` is its sources, which run
 * as they are, so nothing has to be built before a test or an example.
 */
const root = join(import.meta.dirname, '../..')
const sdk = join(root, 'packages/sdk')
const dist = join(sdk, 'dist')

rmSync(dist, { recursive: true, force: true })
const { status } = spawnSync(join(root, 'node_modules/.bin/tsc'), ['-p', sdk], { stdio: 'inherit' })
if (status !== 0) process.exit(status ?? 1)

interface Description {
  scripts: unknown
  /** Each way in, and its source. */
  exports: Record<string, string>
}

const { scripts: _scripts, ...description } = JSON.parse(readFileSync(join(sdk, 'package.json'), 'utf8')) as Description
const built = Object.entries(description.exports).map(([name, source]) => {
  const file = source.replace('./src/', './').replace('.ts', '')
  return [name, { types: `${file}.d.ts`, default: `${file}.js` }]
})
const published = { ...description, exports: Object.fromEntries(built) as object }
writeFileSync(join(dist, 'package.json'), `${JSON.stringify(published, null, 2)}\n`)
copyFileSync(join(sdk, 'README.md'), join(dist, 'README.md'))
copyFileSync(join(root, 'LICENSE'), join(dist, 'LICENSE'))
