import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'

export interface PrivateServer {
  url: string
  close(): Promise<void>
}

/** Health and metrics, for the operator's network only. */
export async function startPrivateServer(options: {
  host: string
  port: number
  /** What keeps the process from serving, in words; empty when it is ready. */
  problems: () => Promise<readonly string[]>
  metrics: { render(): Promise<string>; contentType: string }
}): Promise<PrivateServer> {
  const json = (status: number, body: unknown) => ({ status, type: 'application/json', body: JSON.stringify(body) })

  async function answer(path: string): Promise<{ status: number; type: string; body: string }> {
    switch (path) {
      case '/livez':
        return json(200, { status: 'ok' })
      case '/readyz': {
        const problems = await options.problems()
        return problems.length === 0 ? json(200, { status: 'ok' }) : json(503, { status: 'not ready', problems })
      }
      case '/metrics':
        return { status: 200, type: options.metrics.contentType, body: await options.metrics.render() }
      default:
        return json(404, { status: 'not found', paths: ['/livez', '/readyz', '/metrics'] })
    }
  }

  const server = createServer((request, response) => {
    const [path = ''] = (request.url ?? '').split('?')
    answer(path).then(
      ({ status, type, body }) =>
        response.writeHead(status, { 'content-type': type, ...(status === 503 && { 'retry-after': '1' }) }).end(body),
      () => response.writeHead(500).end(),
    )
  })
  await new Promise<void>((resolve, reject) => {
    server.once('error', reject)
    server.listen(options.port, options.host, resolve)
  })
  const { port } = server.address() as AddressInfo
  return {
    url: `http://${options.host}:${port}`,
    close: () =>
      new Promise((resolve) => {
        server.close(() => resolve())
        server.closeAllConnections()
      }),
  }
}
