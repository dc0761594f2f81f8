import type { AntiFraudConnectors } from './anti-fraud.ts'
import type { GiftCardConnectors } from './gift-card.ts'
import type { Connectors, PaymentConnector } from './payment.ts'
import { mockAntiFraud } from './sandbox/mock-anti-fraud.ts'
import { createMockCard, type ProcessorOptions } from './sandbox/mock-card/connector.ts'
import { createMockGiftCard } from './sandbox/mock-gift-card/connector.ts'
import { type LoadScenarios, noScenarios } from './sandbox/mock-card/three-d-secure.ts'
import { noRules } from './simulator.ts'
import { createMockRedirect } from './sandbox/mock-redirect/connector.ts'

export interface ConnectorOptions extends Omit<ProcessorOptions, 'pageUrl'> {
  environment: 'sandbox' | 'production'
  /** Where the pages of the sandbox are: the address of the api. This and the next are for who makes payments. */
  baseUrl?: () => string
  /** What 3-D Secure says in the sandbox, by rules of a user's own. */
  scenarios?: LoadScenarios
}

/** The providers of this instance. The sandbox's own are there in the sandbox only: nobody is ever paid by them. */
export function createConnectors({
  environment,
  db,
  now,
  baseUrl = () => '',
  scenarios = noScenarios,
  rules = noRules,
}: ConnectorOptions): Connectors {
  const sandbox = { db, now, scenarios, rules, pageUrl: (id: string) => `${baseUrl()}/sandbox/approvals/${id}` }
  const connectors: PaymentConnector[] =
    environment === 'sandbox' ? [createMockCard(sandbox), createMockRedirect(sandbox)] : []
  return new Map(connectors.map((connector) => [connector.definition.id, connector]))
}

/** The same of those who are asked about fraud. */
export const createAntiFraud = ({ environment }: Pick<ConnectorOptions, 'environment'>): AntiFraudConnectors =>
  new Map((environment === 'sandbox' ? [mockAntiFraud] : []).map((connector) => [connector.id, connector]))

/** And of those who have gift cards. */
export function createGiftCards({
  environment,
  db,
  now,
}: Pick<ConnectorOptions, 'environment' | 'db' | 'now'>): GiftCardConnectors {
  const connectors = environment === 'sandbox' ? [createMockGiftCard({ db, now })] : []
  return new Map(connectors.map((connector) => [connector.definition.id, connector]))
}
