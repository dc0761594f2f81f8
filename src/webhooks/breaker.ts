/**
 * How much is sent to one endpoint at once. One that fails again and again is left alone and probed with a single delivery, at growing
 * intervals; one that is back is trusted step by step. No clock of its own.
 */
export class Breaker {
  readonly #most: number
  #limit: number
  #failures = 0
  #pauses = 0
  #closedUntil = 0
  #isProbing = false

  constructor(most: number) {
    this.#most = most
    this.#limit = most
  }

  /** How many may be on their way. */
  room(now: number): number {
    if (this.#pauses === 0) return this.#limit
    return now >= this.#closedUntil && !this.#isProbing ? 1 : 0
  }

  get isOpen(): boolean {
    return this.#pauses > 0
  }

  begin(): void {
    if (this.#pauses > 0) this.#isProbing = true
  }

  succeed(): void {
    this.#failures = 0
    this.#isProbing = false
    this.#limit = this.#pauses > 0 ? 1 : Math.min(this.#most, this.#limit * 2)
    this.#pauses = 0
  }

  fail(now: number): void {
    // Of those that were on their way when it was left alone.
    if (this.#pauses > 0 && now < this.#closedUntil) return
    this.#failures += 1
    this.#isProbing = false
    if (this.#failures < failuresBeforePause) return
    this.#pauses += 1
    this.#closedUntil = now + Math.min(longestPauseMs, firstPauseMs * 2 ** (this.#pauses - 1))
  }
}

const failuresBeforePause = 5
const firstPauseMs = 5_000
const longestPauseMs = 300_000
