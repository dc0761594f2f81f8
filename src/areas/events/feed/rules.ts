/** Transactions that overlap commit in another order than that of their ids; most are done by then. */
export const holdBackMs = 1_000

/** An event that commits later than this after its id was made is not in the feed any more. */
export const lateMs = 10_000

export const heartbeatMs = 10_000
export const pollMs = 500

/** An event of a stream, as server-sent events are written. Its text has no line breaks. */
export const frame = ({ id, name }: { id: string; name: string }, text: string) =>
  `id: ${id}\nevent: ${name}\ndata: ${text}\n\n`

export const heartbeat = ':\n\n'
