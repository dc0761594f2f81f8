import { createServer, type IncomingMessage, type RequestListener, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'

export interface TestServer extends AsyncDisposable {
  url: string
}

/** Stands in for whatever is between a client and Florin, or for a Florin that does what a real one does too seldom. */
export async function startServer(
  listener: (...args: [IncomingMessage, ServerResponse]) => unknown,
): Promise<TestServer> {
  const server = createServer(listener as RequestListener)
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  const { port } = server.address() as AddressInfo
  return {
    url: `http://127.0.0.1:${port}`,
    async [Symbol.asyncDispose]() {
      server.closeAllConnections()
      await new Promise((resolve) => server.close(resolve))
    },
  }
}
