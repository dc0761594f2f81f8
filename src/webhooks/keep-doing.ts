import { setTimeout as sleep } from 'node:timers/promises'
import type { Log } from '../platform/log.ts'

const afterErrorMs = 500

/** Again and again, whatever happens, until it is over. */
export async function keepDoing(
  step: () => Promise<void>,
  { signal, log }: { signal: AbortSignal; log: Log },
): Promise<void> {
  while (!signal.aborted) {
    try {
      await step()
    } catch (error) {
      log.warn('webhooks could not be dispatched', { error })
      await sleep(afterErrorMs, undefined, { signal }).catch(() => undefined)
    }
  }
}
