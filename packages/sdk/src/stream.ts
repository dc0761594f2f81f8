/** Server-sent events, one line a field. The connection ends with the walk over it. */
export async function* readEvents<Event>(body: ReadableStream<Uint8Array>): AsyncGenerator<Event, void, undefined> {
  const reader = body.getReader()
  const decoder = new TextDecoder()
  let text = ''
  try {
    for (;;) {
      const { done, value } = await reader.read()
      if (done) return
      text += decoder.decode(value, { stream: true })
      const blocks = text.split('\n\n')
      text = blocks.pop() ?? ''
      for (const block of blocks) {
        // What has no data is a comment that keeps the connection alive.
        const [, data] = /^data: ?(.*)$/m.exec(block) ?? []
        if (data !== undefined) yield JSON.parse(data) as Event
      }
    }
  } finally {
    await reader.cancel().catch(() => undefined)
  }
}
