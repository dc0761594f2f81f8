import { createHash } from 'node:crypto'
import { readdirSync, readFileSync } from 'node:fs'
import { extname, join } from 'node:path'

export interface StaticFile {
  path: string
  content: Buffer
  headers: Record<string, string> & { etag: string }
}

const root = join(import.meta.dirname, '../..')
const contentTypes: Record<string, string> = {
  '.html': 'text/html; charset=utf-8',
  '.css': 'text/css; charset=utf-8',
  '.js': 'text/javascript; charset=utf-8',
  '.json': 'application/json; charset=utf-8',
  '.svg': 'image/svg+xml',
}

/** Nothing inline, nothing from elsewhere. */
const contentSecurityPolicy =
  "default-src 'none'; style-src 'self'; script-src 'self'; img-src 'self'; connect-src 'self'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'"

/** The few files the service serves itself, read once: the API's description, its reference page, the scheme icons, the style of pages. */
export function loadStaticFiles(): StaticFile[] {
  return [
    load('/openapi.json', 'openapi.json'),
    load('/docs', 'public/docs/index.html'),
    ...folder('/docs', 'public/docs').filter(({ path }) => path !== '/docs/index.html'),
    ...folder('/card-schemes', 'public/card-schemes'),
    ...folder('/pages', 'public/pages'),
  ]
}

const folder = (path: string, directory: string) =>
  readdirSync(join(root, directory))
    .sort()
    .map((file) => load(`${path}/${file}`, `${directory}/${file}`))

function load(path: string, file: string): StaticFile {
  const content = readFileSync(join(root, file))
  const etag = `"${createHash('sha256').update(content).digest('base64url').slice(0, 22)}"`
  return {
    path,
    content,
    headers: {
      'content-type': contentTypes[extname(file)] ?? 'application/octet-stream',
      'cache-control': 'public, max-age=300',
      'content-security-policy': contentSecurityPolicy,
      etag,
    },
  }
}
