/** An answer that is text already: rendered when it was stored, or stored when it was first given. */
export class Rendered {
  /** Put one behind the other: a long page is not copied to put a few characters around it. */
  readonly parts: readonly string[]
  /** Where it is not the route's own. */
  readonly status: number | undefined
  readonly headers: Readonly<Record<string, string>>

  constructor(
    text: string | readonly string[],
    options: { status?: number; headers?: Readonly<Record<string, string>> } = {},
  ) {
    this.parts = typeof text === 'string' ? [text] : text
    this.status = options.status
    this.headers = options.headers ?? {}
  }

  get text(): string {
    return this.parts.join('')
  }

  /** As bytes. Of a long string Node would make a copy with the head in front, and room for thrice its length. */
  get bytes(): Buffer {
    const bytes = Buffer.allocUnsafe(this.parts.reduce((sum, part) => sum + Buffer.byteLength(part), 0))
    this.parts.reduce((at, part) => at + bytes.write(part, at), 0)
    return bytes
  }
}
