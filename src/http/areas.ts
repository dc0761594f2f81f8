/** First segment of the path → heading and what the area is about. */
export const areas: Record<string, [name: string, description: string]> = {
  'account-updater': ['Account updater', 'Asks the card schemes for newer details of stored cards.'],
  'anti-fraud-services': ['Anti-fraud services', 'Who is asked about fraud before a payment goes on.'],
  'api-key-pairs': ['API key pairs', 'The keys whose private halves sign access tokens.'],
  'audit-logs': ['Audit logs', 'Who changed what, and when.'],
  buyers: ['Buyers', 'Who pays, and where their goods are sent.'],
  checkout: [
    'Checkout sessions',
    "Card data that goes from the buyer's browser to us, past the merchant's own server.",
  ],
  'card-scheme-definitions': ['Card scheme definitions', 'Card schemes with names and icons.'],
  'gift-cards': ['Gift cards', 'Cards with money of their own: looked up, stored, activated, issued.'],
  'gift-card-service-definitions': ['Gift card service definitions', 'The providers that gift cards can be with.'],
  'gift-card-services': ['Gift card services', "A merchant account's own access to a gift card provider."],
  'merchant-accounts': ['Merchant accounts', 'What every other resource belongs to.'],
  'payment-methods': ['Payment methods', 'Stored cards: charged again and again, never seen again.'],
  'payment-service-definitions': ['Payment service definitions', 'The providers that payments can go to.'],
  'payment-services': ['Payment services', "A merchant account's own access to a provider."],
  refunds: ['Refunds', 'Money given back.'],
  'simulator-rules': [
    'Simulator rules',
    'What the sandbox does instead of the usual. There is no such thing in production.',
  ],
  roles: ['Roles', 'What a key pair or a user may do.'],
  'three-ds-scenarios': ['3DS scenarios', 'What 3-D Secure says in the sandbox. Not in production.'],
  transactions: ['Transactions', 'Payments: authorized, captured, voided, refunded.'],
}
