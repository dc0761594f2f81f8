/**
 * A map that forgets what was not used lately once it is full. Two generations: a hit costs one look-up and moves nothing,
 * which matters where every request makes one.
 */
export class BoundedMap<Key, Value> {
  #recent = new Map<Key, Value>()
  #older = new Map<Key, Value>()
  readonly #generation: number

  /** Holds at least half of `limit` entries and never more than `limit`. */
  constructor(limit: number) {
    this.#generation = Math.max(1, Math.floor(limit / 2))
  }

  get size(): number {
    return this.#recent.size + this.#older.size
  }

  get(key: Key): Value | undefined {
    const recent = this.#recent.get(key)
    if (recent !== undefined) return recent
    const older = this.#older.get(key)
    if (older !== undefined) this.set(key, older)
    return older
  }

  set(key: Key, value: Value): void {
    this.#older.delete(key)
    if (!this.#recent.has(key) && this.#recent.size >= this.#generation) {
      this.#older = this.#recent
      this.#recent = new Map()
    }
    this.#recent.set(key, value)
  }

  delete(key: Key): void {
    this.#recent.delete(key)
    this.#older.delete(key)
  }

  clear(): void {
    this.#recent.clear()
    this.#older.clear()
  }
}
