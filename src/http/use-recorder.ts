import type { Log } from '../platform/log.ts'

export interface UseRecorder {
  record(keyPairId: string): void
  close(): Promise<void>
}

/** Writes down that keys were used: in batches, at most once a minute for each key and process. */
export function createUseRecorder(
  write: (ids: readonly string[]) => Promise<void>,
  log: Log,
  everyMs = 60_000,
): UseRecorder {
  const writtenAt = new Map<string, number>()
  const pending = new Set<string>()

  async function flush(): Promise<void> {
    if (pending.size === 0) return
    const ids = [...pending]
    pending.clear()
    await write(ids).catch((error: unknown) => log.warn('uses of keys were not written down', { error }))
  }

  const timer = setInterval(() => void flush(), 1_000)
  timer.unref()
  return {
    record(id) {
      const now = performance.now()
      const last = writtenAt.get(id)
      if (last !== undefined && now - last < everyMs) return
      writtenAt.set(id, now)
      pending.add(id)
    },
    async close() {
      clearInterval(timer)
      await flush()
    },
  }
}
