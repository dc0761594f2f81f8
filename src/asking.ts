/** When to ask the provider what became of a call: after 1 min, 5 min, 1 h, then daily. */
export function nextCheckMs(checks: number): number {
  const minute = 60_000
  return [minute, 5 * minute, 60 * minute][checks] ?? 24 * 60 * minute
}
