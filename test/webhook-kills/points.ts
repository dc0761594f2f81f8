/** Where processes die between a change and the end of its deliveries. */

export const relayPoints = ['relay: not yet committed', 'relay: committed']

export const dispatchPoints = [
  ...relayPoints,
  'dispatch: claimed',
  'dispatch: not yet sent',
  'dispatch: sent',
  'dispatch: results not yet written',
  'dispatch: results written',
]

/** With the lane. */
export const lanePoints = ['lane: published', 'lane: received', 'lane: acknowledged']

/** Of the process that stands for an api. */
export const producePoints = ['produce: not yet committed', 'produce: committed']

export const anyMoment = 'any moment'

/** What is said by events that nobody may ever hear of. */
export const rolledBack = 'rolled back'
