/** What can go wrong around the one call that a request makes to its provider. */
export const faults = [
  /** The process dies; what the request left behind is found later. */
  'crash at intent',
  'crash after answer',
  'crash after outcome',
  /** The provider never hears of it, does it unheard, or hears of it much later. */
  'call lost',
  'answer lost',
  'call late',
  /** Another provider's no, which the sandbox's does not know of: the next service is asked. */
  'refused elsewhere',
  /** The request is slow, and somebody asks the provider meanwhile. */
  'sync at intent',
  'sync after answer',
] as const

/** The call that takes a payment back never arrives, or is answered unheard; whatever else the request asks is answered. */
export const cancelFaults = ['cancel lost', 'cancel unheard'] as const
export type FaultName = (typeof faults)[number] | (typeof cancelFaults)[number]

/** `nth`: at which of the calls of the request, counted from 0. */
export interface Fault {
  name: FaultName
  nth: number
}

/** The end of a process, in a test that goes on. */
export class Crash extends Error {
  override name = 'Crash'
}
