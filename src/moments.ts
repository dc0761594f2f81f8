/** Times are kept by the millisecond, and a caller may name a moment between two of them. */

/** The last millisecond that is not after a moment in RFC 3339. */
export function floorMs(moment: string | undefined): number | undefined {
  return moment === undefined ? undefined : new Date(moment.replace(/(\.\d{3})\d+/, '$1')).getTime()
}

/** The first that is not before it. */
export function ceilMs(moment: string | undefined): number | undefined {
  const floor = floorMs(moment)
  if (moment === undefined || floor === undefined) return undefined
  return Math.max(0, floor + (/\.\d{3}\d*[1-9]/.test(moment) ? 1 : 0))
}
