import { Breaker } from './breaker.ts'
import type { Due, EndpointRow } from './store.ts'

/** A delivery that this process has the lease of. */
export interface Leased extends Due {
  leaseUntil: number
  /** Removes its message from the lane, where it came through that. */
  acknowledge?: () => void
}

/** Deliveries on their way to one endpoint. */
export const mostAtOnce = 16
/** Deliveries that wait for them: no more than can be sent, each within its deadline, before the lease is over. */
export const mostWaiting = 96

/** One endpoint as this process sees it: what waits for it, how much is on its way, and how it fares. */
export class Endpoint {
  row: EndpointRow
  readonly breaker = new Breaker(mostAtOnce)
  readonly waiting: Leased[] = []
  sending = 0
  /** Of deliveries that are being written down. */
  promised = 0
  /** There may be more in the database than this process has taken. */
  hasBacklog = true

  constructor(row: EndpointRow) {
    this.row = row
  }

  /** How many more this process may take. */
  room(now: number): number {
    const mine = this.sending + this.waiting.length + this.promised
    const room = this.breaker.room(now)
    return Math.max(0, (this.breaker.isOpen ? room : room + mostWaiting) - mine)
  }

  /** The next one to send, if another may be sent now. */
  next(now: number): Leased | undefined {
    const room = this.breaker.room(now)
    return (this.breaker.isOpen ? room > 0 : this.sending < room) ? this.waiting.shift() : undefined
  }

  /** Soon there is nothing to send, though there may be in the database. */
  get isRunningDry(): boolean {
    return this.hasBacklog && this.waiting.length < mostAtOnce && !this.breaker.isOpen
  }

  /** What waited, which is not for this process any more. */
  letGo(): Leased[] {
    this.hasBacklog = true
    return this.waiting.splice(0)
  }
}
