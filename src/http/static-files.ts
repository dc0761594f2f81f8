import { createHash } from 'node:crypto'
import { readdirSync, readFileSync } from 'node:fs'
import { extname, join } from 'node:path'
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify'
import { ApiError } from '../errors.ts'

interface StaticFile {
  content: Buffer
  headers: Record<string, string> & { etag: string }
}

/** By path. A file is read when it is first asked for, and then kept. */
export type StaticFiles = ReadonlyMap<string, () => StaticFile>

const root = join(import.meta.dirname, '../..')
const contentTypes: Record<string, string> = {
  '.html': 'text/html; charset=utf-8',
  '.css': 'text/css; charset=utf-8',
  '.js': 'text/javascript; charset=utf-8',
  '.json': 'application/json; charset=utf-8',
  '.svg': 'image/svg+xml',
  '.md': 'text/markdown; charset=utf-8',
  '.txt': 'text/plain; charset=utf-8',
  '.http': 'text/plain; charset=utf-8',
}

/** Nothing inline, nothing from elsewhere. */
const contentSecurityPolicy =
  "default-src 'none'; style-src 'self'; script-src 'self'; img-src 'self'; connect-src 'self'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'"

/** What the service serves itself: the API's description, its documents as pages and as their sources, the scheme icons, the style of pages. */
export function findStaticFiles(): StaticFiles {
  return new Map([
    entry('/openapi.json', 'openapi.json'),
    entry('/llms.txt', 'public/llms.txt'),
    ...folder('/card-schemes', 'public/card-schemes'),
    ...folder('/pages', 'public/pages'),
    ...['/docs', '/docs/guides', '/docs/errors', '/docs/runbooks'].flatMap((path) => [
      ...folder(path, `public${path}`),
      ...folder(path, path.slice(1)),
    ]),
  ])
}

/** Pages are at clean paths: `guides/index.html` is `/docs/guides`, `guides/quickstart.html` is `/docs/guides/quickstart`. */
const pathOf = (path: string) => path.replace(/(\/index)?\.html$/, '')

const entry = (path: string, file: string): [string, () => StaticFile] => {
  let loaded: StaticFile | undefined
  return [path, () => (loaded ??= load(file))]
}

function folder(path: string, directory: string): [string, () => StaticFile][] {
  return readdirSync(join(root, directory), { withFileTypes: true })
    .filter((found) => found.isFile())
    .map(({ name }) => entry(pathOf(`${path}/${name}`), `${directory}/${name}`))
}

function load(file: string): StaticFile {
  const content = readFileSync(join(root, file))
  const etag = `"${createHash('sha256').update(content).digest('base64url').slice(0, 22)}"`
  return {
    content,
    headers: {
      'content-type': contentTypes[extname(file)] ?? 'application/octet-stream',
      'cache-control': 'public, max-age=300',
      'content-security-policy': contentSecurityPolicy,
      etag,
    },
  }
}

/** One route a folder: a route a file would cost every start of an api more than all other routes together. */
export function addFiles(app: FastifyInstance, files: StaticFiles): void {
  const serve = (path: string, { headers: asked }: FastifyRequest, reply: FastifyReply) => {
    const file = files.get(path)?.()
    const withoutSlash = path.replace(/\/$/, '')
    if (!file && files.has(withoutSlash)) return reply.redirect(withoutSlash, 308)
    if (!file) throw new ApiError('not_found')
    void reply.headers(file.headers)
    return asked['if-none-match'] === file.headers.etag ? reply.code(304).send() : reply.send(file.content)
  }
  // Where a person arrives who opens the address of the api.
  app.get('/', (_request, reply) => reply.redirect('/docs/guides'))
  const [folders, single] = [new Set<string>(), new Set<string>()]
  for (const path of files.keys()) {
    const [, folder = '', ...below] = path.split('/')
    if (below.length > 0) folders.add(`/${folder}`)
    else single.add(path)
  }
  for (const path of single) app.get(path, (request, reply) => serve(path, request, reply))
  for (const folder of folders)
    app.get<{ Params: { '*': string } }>(`${folder}/*`, (request, reply) =>
      serve(`${folder}/${request.params['*']}`, request, reply),
    )
}
