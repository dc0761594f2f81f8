/** An answer that goes on: server-sent events, as they come, until whoever makes them or `signal` ends it. */
export class Streamed {
  readonly chunks: (signal: AbortSignal) => AsyncIterable<string>

  constructor(chunks: (signal: AbortSignal) => AsyncIterable<string>) {
    this.chunks = chunks
  }
}
