/** Every card scheme there is: the union of the specification and the contract. */
export const cardSchemes = {
  accel: 'Accel',
  amex: 'American Express',
  bancontact: 'Bancontact',
  'carte-bancaire': 'Carte Bancaire',
  cirrus: 'Cirrus',
  culiance: 'Culiance',
  dankort: 'Dankort',
  'diners-club': 'Diners Club',
  discover: 'Discover',
  'eftpos-australia': 'eftpos Australia',
  elo: 'Elo',
  hipercard: 'Hipercard',
  jcb: 'JCB',
  maestro: 'Maestro',
  mastercard: 'Mastercard',
  mir: 'Mir',
  nyce: 'NYCE',
  other: 'Other',
  pulse: 'Pulse',
  qcard: 'Q Card',
  rupay: 'RuPay',
  star: 'STAR',
  uatp: 'UATP',
  unionpay: 'UnionPay',
  visa: 'Visa',
} as const

export type CardScheme = keyof typeof cardSchemes

export const cardSchemeIds = Object.keys(cardSchemes) as [CardScheme, ...CardScheme[]]
