/** What a page about an error code says beside what the code itself knows. */
export interface Explanation {
  /** One sentence. */
  means: string
  causes: readonly string[]
  cure: readonly string[]
  again: Again
}

/** Whether the same request, sent again, can succeed. */
export const again = {
  later: 'Yes, later. Nothing is wrong with the request.',
  sameKey: 'Yes, with the same `Idempotency-Key`: nothing then happens twice.',
  changed: 'Not as it is. Change the request first.',
  otherMethod: 'Not with the same card or method. Ask the buyer for another.',
  mended: 'Not until the setup is mended. Until then every such request fails alike.',
  never: 'No.',
} as const
export type Again = keyof typeof again

/** A command that brings the error about, and what it answers. */
export interface Attempt {
  command: string
  /** Where an error is the answer. */
  expect?: number
  answer: object
}
