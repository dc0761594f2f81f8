/** An answer that is text already: rendered when it was stored, or stored when it was first given. */
export class Rendered {
  readonly text: string
  /** Where it is not the route's own. */
  readonly status: number | undefined
  readonly headers: Readonly<Record<string, string>>

  constructor(text: string, options: { status?: number; headers?: Readonly<Record<string, string>> } = {}) {
    this.text = text
    this.status = options.status
    this.headers = options.headers ?? {}
  }
}
