import { setTimeout as sleep } from 'node:timers/promises'
import pg from 'pg'

export interface Listener {
  close(): Promise<void>
}

/**
 * Listens on a channel over a direct connection (a transaction pooler cannot carry LISTEN) and reconnects for ever.
 * `onGap` is called after every (re)connection: whatever was said in between was not heard.
 */
export function listen(options: {
  url: string
  applicationName: string
  channel: string
  onMessage: (payload: string) => void
  onGap: () => void
  onError: (error: Error) => void
}): Listener {
  const stop = new AbortController()
  let current: pg.Client | undefined
  // What closing cuts off is no error.
  const report = (error: Error) => {
    if (!stop.signal.aborted) options.onError(error)
  }

  async function once(): Promise<void> {
    const client = new pg.Client({
      connectionString: options.url,
      application_name: options.applicationName,
      connectionTimeoutMillis: 5_000,
      keepAlive: true,
    })
    current = client
    const ended = new Promise<void>((resolve) => client.once('end', resolve))
    client.on('error', report)
    client.on('notification', ({ payload }) => options.onMessage(payload ?? ''))
    // A client that is ended while it connects never says what became of that.
    await Promise.race([client.connect(), ended])
    if (stop.signal.aborted) return
    await client.query(`listen ${pg.escapeIdentifier(options.channel)}`)
    options.onGap()
    await ended
  }

  const running = (async () => {
    while (!stop.signal.aborted) {
      try {
        await once()
      } catch (error) {
        report(error as Error)
      }
      await sleep(500, undefined, { signal: stop.signal }).catch(() => undefined)
    }
  })()

  return {
    async close() {
      stop.abort()
      await current?.end().catch(() => undefined)
      await running
    },
  }
}
