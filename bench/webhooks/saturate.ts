import { setTimeout as delay } from 'node:timers/promises'
import type { Ledger } from './ledger.ts'
import type { Source } from './stage.ts'

const mostTogether = 200

export interface Saturated {
  /** Deliveries that were watched and have arrived within the time. */
  arrived: number
  seconds: number
  /** Deliveries that are watched and still to come, or arrived since. */
  expected: number
}

/**
 * Events for the accounts in turn, as many as keep a number of deliveries on their way: as fast as the sender is, and no faster. `copies` of an event
 * of a watched account arrive in the ledger.
 */
export async function saturate(
  source: Source,
  ledger: Ledger,
  {
    accounts,
    isWatched = () => true,
    copies = 1,
    onTheirWay,
    seconds,
  }: {
    accounts: readonly string[]
    isWatched?: (account: string) => boolean
    copies?: number
    onTheirWay: number
    seconds: number
  },
): Promise<Saturated> {
  const before = ledger.arrived
  const start = performance.now()
  let [turn, expected] = [0, 0]
  while (performance.now() - start < seconds * 1000) {
    await ledger.update()
    const room = Math.floor((onTheirWay - (expected - (ledger.arrived - before))) / copies)
    if (room < 1) {
      await delay(2)
      continue
    }
    const batch = Array.from({ length: Math.min(room, mostTogether) }, () => accounts[turn++ % accounts.length] ?? '')
    await source.commit(batch)
    expected += batch.filter(isWatched).length * copies
  }
  await ledger.update()
  return { arrived: ledger.arrived - before, seconds: (performance.now() - start) / 1000, expected }
}
