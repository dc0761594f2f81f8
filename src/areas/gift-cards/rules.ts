/** What may be shown of a number. */
export interface NumberParts {
  bin: string
  sub_bin: string
  last4: string
}

export const partsOf = (number: string): NumberParts => ({
  bin: number.slice(0, 6),
  sub_bin: number.slice(6, 9),
  last4: number.slice(-4),
})
