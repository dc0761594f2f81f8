/** A provider that says whether a payment looks like fraud. It is asked once a payment, before the payment goes anywhere. */
export interface AntiFraudConnector {
  /** Of its definition. */
  readonly id: string
  /** Nobody is behind it: callers of the API play the people who review payments. */
  readonly isSimulated: boolean
  /** One that throws, or does not answer before the signal is aborted, keeps no payment from going on. */
  decide(call: DecisionCall): Promise<AntiFraudAnswer>
}

export interface DecisionCall {
  merchantAccountId: string
  serviceId: string
  /** Id of the transaction. */
  reference: string
  amount: number
  currency: string
  country: string | null
  buyer: {
    firstName: string | null
    lastName: string | null
    emailAddress: string | null
    postalCode: string | null
  }
  signal: AbortSignal
}

export interface AntiFraudAnswer {
  /** `review`: it may go on, and people look at it afterwards. `skipped`: nothing was decided. */
  decision: 'accept' | 'reject' | 'review' | 'skipped'
  /** Why nothing was decided, if that is a fault of somebody. */
  fault?: string
}

/** The providers of this instance, by definition id. */
export type AntiFraudConnectors = ReadonlyMap<string, AntiFraudConnector>
