import { laterBy, newId } from './ids.ts'
import type { Accounts } from './platform/accounts.ts'

/** The time that something goes by. */
export interface Clock {
  now: () => Date
  /** A new id whose time is that of the clock. Ids of one account ascend, however its clock is moved. */
  newId: () => string
}

/** Of logs, tokens, jobs and whatever belongs to no single account; in production of everything. */
export const realTime: Clock = { now: () => new Date(), newId }

/** In the sandbox every merchant account has a clock of its own, which can be moved ahead of real time and never back. */
export interface Clocks {
  readonly canMove: boolean
  /** The clock of one account. Of several, or of all: real time, which none of theirs is behind. */
  of(accounts: Accounts): Clock
  /** Accounts whose clock is not real time. */
  moved(): string[]
  /** To be awaited at the start of what goes by a clock: every move that is older than `followedMs` is known then. */
  refresh(): Promise<void>
  /** For the process that moves a clock, or was told of it. */
  move(account: string, aheadMs: number): void
}

/** How long after a move some process may still go by the time before it. */
export const followedMs = 1_000

export const realClocks: Clocks = {
  canMove: false,
  of: () => realTime,
  moved: () => [],
  refresh: () => Promise.resolve(),
  move: () => {
    throw new Error('there are no clocks to move')
  },
}

/** `load` tells how far each moved clock is ahead, in milliseconds. It is asked at most once in `followedMs`. */
export function createClocks(load: () => Promise<ReadonlyMap<string, number>>): Clocks {
  const aheadMs = new Map<string, number>()
  let loadedAt = -Infinity
  let loading: Promise<void> | undefined

  // What was read before a move must not undo it.
  const move = (account: string, ms: number) => void aheadMs.set(account, Math.max(ms, aheadMs.get(account) ?? 0))

  async function reload(): Promise<void> {
    const began = performance.now()
    try {
      for (const [account, ms] of await load()) move(account, ms)
      loadedAt = began
    } finally {
      loading = undefined
    }
  }

  return {
    canMove: true,
    of(accounts) {
      const [account = '', ...others] = accounts === 'all' ? [] : accounts
      if (account === '' || others.length > 0) return realTime
      // Looked up at every use: a request that takes its time must not make ids older than those of the ones after it.
      const ahead = () => aheadMs.get(account) ?? 0
      return { now: () => new Date(Date.now() + ahead()), newId: () => laterBy(newId(), ahead()) }
    },
    moved: () => [...aheadMs.keys()],
    async refresh() {
      const since = performance.now() - followedMs
      while (loadedAt < since) await (loading ??= reload())
    },
    move,
  }
}
