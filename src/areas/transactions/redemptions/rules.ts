interface Paid {
  amount: number
  /** JSON, null for a payment without gift cards. */
  gift_card_redemptions: string | null
}

/** What gift cards are to pay of a payment. */
export function giftCardAmount({ gift_card_redemptions: text }: Pick<Paid, 'gift_card_redemptions'>): number {
  if (text === null) return 0
  return (JSON.parse(text) as { amount: number }[]).reduce((sum, { amount }) => sum + amount, 0)
}

/** What is left for the main method. */
export const mainAmount = (row: Paid) => row.amount - giftCardAmount(row)
