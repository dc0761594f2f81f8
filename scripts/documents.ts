import { execFileSync } from 'node:child_process'
import { existsSync, readFileSync } from 'node:fs'
import { dirname, join, normalize } from 'node:path'

/** Paths and links that the Markdown files name must exist, or a reader is sent nowhere. */
const root = join(import.meta.dirname, '..')
const files = execFileSync('git', ['ls-files', '--cached', '--others', '--exclude-standard', '*.md'], {
  cwd: root,
  encoding: 'utf8',
})
  .split('\n')
  .filter(Boolean)

const problems = files.flatMap((file) => {
  const text = readFileSync(join(root, file), 'utf8')
  const links = [...text.matchAll(/\]\(([^)#\s]+)(?:#[^)]*)?\)/g)].map(([, target = '']) =>
    normalize(join(dirname(file), target)),
  )
  const mentions = [
    ...text.matchAll(/`((?:src|test|docs|migrations|scripts|bench|public|bin|packages|examples|deploy)\/[\w./-]*\w)`/g),
  ].map(([, target = '']) => target)
  return [...links.filter((target) => !/^\w+:/.test(target)), ...mentions]
    .filter((target) => !/NNNN|\/dist$/.test(target) && !existsSync(join(root, target)))
    .map((target) => `${file} names ${target}, which does not exist`)
})
for (const problem of problems) console.error(problem)
process.exitCode = problems.length === 0 ? 0 : 1
