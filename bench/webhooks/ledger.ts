import type { Arrivals } from '../webhook-receivers.ts'
import { type Receivers, until } from './stage.ts'

/** What has arrived where, and when for the first time. */
export class Ledger {
  readonly #receivers: Receivers
  readonly #times: Map<string, number>[]
  arrived = 0
  duplicates = 0

  private constructor(receivers: Receivers) {
    this.#receivers = receivers
    this.#times = receivers.urls.map(() => new Map())
  }

  /** Of what arrives from now on. */
  static async open(receivers: Receivers): Promise<Ledger> {
    await receivers.arrivals()
    return new Ledger(receivers)
  }

  /** Hears of what is new. */
  async update(): Promise<Arrivals> {
    const arrivals = await this.#receivers.arrivals()
    for (const [index, event] of arrivals.events.entries()) {
      const times = this.#times[arrivals.receivers[index] ?? 0]
      if (times?.has(event)) this.duplicates += 1
      else {
        times?.set(event, arrivals.times[index] ?? 0)
        this.arrived += 1
      }
    }
    return arrivals
  }

  async waitFor(count: number): Promise<void> {
    await until(
      async () => {
        await this.update()
        return this.arrived >= count
      },
      () => `${this.arrived} of ${count} deliveries have arrived`,
    )
  }

  /** Events that have arrived at each receiver. */
  counts(): number[] {
    return this.#times.map(({ size }) => size)
  }

  /** Milliseconds from commit to first attempt, of each delivery. */
  lags(committed: ReadonlyMap<string, number>): number[] {
    return this.#times.flatMap((times) => [...times].map(([event, time]) => time - (committed.get(event) ?? 0)))
  }
}
