/** What asks the card schemes whether a card has newer details. */
export interface AccountUpdater {
  lookUp(card: { number: string; expirationDate: string; scheme: string }): Promise<AccountUpdate>
}

export type AccountUpdate =
  | { result: 'updated'; number?: string; expirationDate?: string }
  | { result: 'unchanged' }
  /** The account exists no longer, and nothing follows it. */
  | { result: 'closed' }
  | { result: 'failed'; errorCode: string }

/** Schemes that answer such questions. */
export const updatableSchemes = ['amex', 'discover', 'mastercard', 'visa'] as const
