const hourMs = 60 * 60 * 1000

/** How busy a shop is, by the hour of the day (UTC) and the day of the week, Sunday first. */
const hours = [3, 2, 1, 1, 1, 2, 4, 7, 10, 12, 13, 13, 14, 13, 12, 12, 13, 14, 16, 18, 19, 17, 12, 6]
const weekdays = [13, 9, 8, 9, 10, 11, 14]

/** When payments are made that are spread over the last days: the moment of a share, 0 at the beginning and 1 now. */
export function createRhythm(now: number, days: number): (share: number) => number {
  const start = now - days * 24 * hourMs
  const ends: number[] = []
  for (let at = start; at < now; at += hourMs) {
    const date = new Date(at + hourMs / 2)
    ends.push((ends.at(-1) ?? 0) + (hours[date.getUTCHours()] ?? 0) * (weekdays[date.getUTCDay()] ?? 0))
  }
  const total = ends.at(-1) ?? 0
  return (share) => {
    const wanted = share * total
    const index = Math.max(
      0,
      ends.findIndex((end) => end >= wanted),
    )
    const [from, to] = [ends[index - 1] ?? 0, ends[index] ?? total]
    return Math.floor(start + (index + (to > from ? (wanted - from) / (to - from) : 0)) * hourMs)
  }
}
