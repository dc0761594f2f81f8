/** An event of the feed: its id, and the text that is signed and sent. */
export interface StreamedEvent {
  id: string
  name: string
  data: string
}

/** Server-sent events, as the feed writes them: one line a field, no field twice. */
export async function* readEventStream({ body }: Response): AsyncGenerator<StreamedEvent> {
  const decoder = new TextDecoder()
  let text = ''
  for await (const chunk of body ?? []) {
    text += decoder.decode(chunk, { stream: true })
    const blocks = text.split('\n\n')
    text = blocks.pop() ?? ''
    for (const block of blocks) {
      const fields = new Map(block.split('\n').map((line) => fieldOf(line)))
      const [id, name, data] = [fields.get('id'), fields.get('event'), fields.get('data')]
      // The others are comments that keep the connection alive.
      if (id !== undefined && name !== undefined && data !== undefined) yield { id, name, data }
    }
  }
}

function fieldOf(line: string): [name: string, value: string] {
  const [, name = '', value = ''] = /^([^:]*): ?(.*)$/s.exec(line) ?? []
  return [name, value]
}
