import { enableCompileCache } from 'node:module'
import { join } from 'node:path'

if (import.meta.main) {
  // Reading the sources takes longer than most commands do. Where the folder cannot be written, it just takes longer.
  enableCompileCache(join(import.meta.dirname, '../../node_modules/.cache/florin'))
  const { runCommandLine } = await import('../cli/program.ts')
  await runCommandLine(process.argv.slice(2))
}
