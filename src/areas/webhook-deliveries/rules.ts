export const deliveryStatuses = ['pending', 'succeeded', 'failed'] as const
export type DeliveryStatus = (typeof deliveryStatuses)[number]

export const deliveryOrigins = ['event', 'replay', 'test'] as const
export type DeliveryOrigin = (typeof deliveryOrigins)[number]

/** Nothing is sent later than seven days after the event, or after somebody asked for it again. */
export const expiryFrom = (since: Date) => new Date(since.getTime() + 7 * 24 * 60 * 60 * 1000)

/** Who sends puts the next attempt off for less than this. What is due sooner may be on its way at the moment. */
const longestLeaseMs = 60_000
export const leaseEndsBy = (now: Date) => new Date(now.getTime() + longestLeaseMs)

/** Whoever sends at the end of a delivery's time has written down the outcome by then. */
export const surelyExpired = (now: Date) => new Date(now.getTime() - longestLeaseMs)

/** The states that both filters let pass; undefined when neither is there. */
export function statusesWanted(filter: {
  status?: readonly DeliveryStatus[] | undefined
  undelivered?: boolean | undefined
}): readonly DeliveryStatus[] | undefined {
  const { status, undelivered } = filter
  if (undelivered === undefined) return status
  return (status ?? deliveryStatuses).filter((one) => (one !== 'succeeded') === undelivered)
}
