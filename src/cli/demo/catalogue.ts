/** What the shop sells, and to whom. Invented; phone numbers are of ranges that belong to nobody. */

export const shopName = 'Alder Outdoor'

interface Product {
  weight: number
  sku: string
  name: string
  price: number
  category: string
}

/** Prices in minor units of any currency; no sum of them is one of the amounts that mean something to the sandbox. */
export const products: readonly Product[] = [
  { weight: 5, sku: 'AO-1001', name: 'Walking boots', price: 12_900, category: 'shoes' },
  { weight: 6, sku: 'AO-1002', name: 'Trail shoes', price: 9_990, category: 'shoes' },
  { weight: 12, sku: 'AO-1003', name: 'Merino socks', price: 1_890, category: 'clothing' },
  { weight: 7, sku: 'AO-1004', name: 'Rain jacket', price: 11_950, category: 'clothing' },
  { weight: 6, sku: 'AO-1005', name: 'Fleece pullover', price: 5_990, category: 'clothing' },
  { weight: 9, sku: 'AO-1006', name: 'Wool hat', price: 2_450, category: 'clothing' },
  { weight: 5, sku: 'AO-1007', name: 'Hiking trousers', price: 7_990, category: 'clothing' },
  { weight: 4, sku: 'AO-1008', name: 'Rucksack, 30 l', price: 8_900, category: 'bags' },
  { weight: 2, sku: 'AO-1009', name: 'Rucksack, 65 l', price: 17_900, category: 'bags' },
  { weight: 6, sku: 'AO-1010', name: 'Dry bag', price: 1_650, category: 'bags' },
  { weight: 3, sku: 'AO-1011', name: 'Tent for two', price: 18_900, category: 'camping' },
  { weight: 3, sku: 'AO-1012', name: 'Sleeping bag', price: 13_900, category: 'camping' },
  { weight: 4, sku: 'AO-1013', name: 'Sleeping mat', price: 4_990, category: 'camping' },
  { weight: 5, sku: 'AO-1014', name: 'Camping stove', price: 5_450, category: 'camping' },
  { weight: 8, sku: 'AO-1015', name: 'Gas cartridge', price: 690, category: 'camping' },
  { weight: 9, sku: 'AO-1016', name: 'Water bottle', price: 1_990, category: 'equipment' },
  { weight: 6, sku: 'AO-1017', name: 'Head torch', price: 3_450, category: 'equipment' },
  { weight: 5, sku: 'AO-1018', name: 'Trekking poles', price: 6_900, category: 'equipment' },
  { weight: 7, sku: 'AO-1019', name: 'Walking map', price: 1_290, category: 'books' },
  { weight: 4, sku: 'AO-1020', name: 'Book of huts', price: 2_490, category: 'books' },
]

export const shipping = { fee: 490, freeFrom: 10_000 }

/** Of a parcel a month, paid by the merchant's own doing. */
export const subscription = { sku: 'AO-2001', name: 'Trail snacks, monthly', price: 1_990, category: 'subscriptions' }

interface Region {
  weight: number
  country: string
  currency: string
  firstNames: readonly string[]
  lastNames: readonly string[]
  places: readonly { city: string; postalCode: string; state: string }[]
  streets: readonly string[]
  /** Two digits follow. */
  phone: string
  /** Test numbers of the sandbox, besides the usual ones. */
  cards: readonly { weight: number; number: string }[]
}

const place = (city: string, postalCode: string, state: string) => ({ city, postalCode, state })
const card = (weight: number, number: string) => ({ weight, number })

const usualCards = [
  card(30, '4111111111111111'),
  card(12, '4242424242424242'),
  card(25, '5555555555554444'),
  card(8, '2223003122003222'),
  card(8, '378282246310005'),
]

export const regions: readonly Region[] = [
  {
    weight: 45,
    country: 'DE',
    currency: 'EUR',
    firstNames: ['Anna', 'Lukas', 'Marie', 'Jonas', 'Lena', 'Felix', 'Clara', 'Paul', 'Johanna', 'Emil', 'Ida', 'Max'],
    lastNames: ['Becker', 'Vogel', 'Brandt', 'Seidel', 'Krämer', 'Busch', 'Lorenz', 'Engel', 'Böhm', 'Winter', 'Haas'],
    places: [
      place('Berlin', '10117', 'Berlin'),
      place('Hamburg', '20095', 'Hamburg'),
      place('München', '80331', 'Bayern'),
      place('Leipzig', '04109', 'Sachsen'),
      place('Freiburg', '79098', 'Baden-Württemberg'),
    ],
    streets: ['Lindenstraße', 'Am Markt', 'Gartenweg', 'Schillerstraße', 'Mühlenweg'],
    phone: '+4930231250',
    cards: [...usualCards, card(10, '4013250000000000006'), card(7, '6759649826438453')],
  },
  {
    weight: 14,
    country: 'FR',
    currency: 'EUR',
    firstNames: ['Chloé', 'Louis', 'Manon', 'Jules', 'Inès', 'Hugo', 'Léa', 'Gabriel', 'Camille', 'Arthur'],
    lastNames: ['Moreau', 'Lefèvre', 'Garnier', 'Rousseau', 'Fontaine', 'Chevalier', 'Perrin', 'Marchand'],
    places: [place('Lyon', '69002', 'Rhône'), place('Paris', '75011', 'Paris'), place('Lille', '59000', 'Nord')],
    streets: ['Rue des Lilas', 'Rue de la Gare', 'Avenue du Parc', 'Rue du Moulin'],
    phone: '+331990012',
    cards: [...usualCards, card(30, '4000002500001001'), card(20, '5555552500001001')],
  },
  {
    weight: 10,
    country: 'NL',
    currency: 'EUR',
    firstNames: ['Sanne', 'Daan', 'Lotte', 'Bram', 'Fleur', 'Sem', 'Noor', 'Thijs'],
    lastNames: ['de Vries', 'Bakker', 'Visser', 'Smit', 'Mulder', 'Bos', 'Dekker'],
    places: [place('Utrecht', '3511 AB', 'Utrecht'), place('Groningen', '9711 LM', 'Groningen')],
    streets: ['Kerkstraat', 'Dorpsweg', 'Molenlaan', 'Oudegracht'],
    phone: '+319701012',
    cards: [...usualCards, card(25, '6799990100000000019'), card(8, '370000000000002')],
  },
  {
    weight: 16,
    country: 'GB',
    currency: 'GBP',
    firstNames: ['Olivia', 'Harry', 'Amelia', 'George', 'Isla', 'Arthur', 'Freya', 'Alfie', 'Grace', 'Ada'],
    lastNames: ['Hughes', 'Turner', 'Bennett', 'Marsh', 'Fletcher', 'Whitaker', 'Dawson', 'Okafor', 'Patel'],
    places: [
      place('London', 'SW1Y 4JH', 'Greater London'),
      place('Leeds', 'LS1 4DY', 'West Yorkshire'),
      place('Bristol', 'BS1 5TR', 'Bristol'),
    ],
    streets: ['Church Lane', 'Station Road', 'Mill Street', 'Victoria Terrace'],
    phone: '+4420794601',
    cards: [...usualCards, card(15, '4012888888881881'), card(8, '6759649826438453')],
  },
  {
    weight: 15,
    country: 'US',
    currency: 'USD',
    firstNames: ['Emma', 'Noah', 'Sofia', 'Liam', 'Mia', 'Mateo', 'Zoe', 'Ethan', 'Nora', 'Caleb'],
    lastNames: ['Carter', 'Nguyen', 'Ramirez', 'Brooks', 'Sullivan', 'Hayes', 'Kim', 'Foster', 'Reyes'],
    places: [
      place('Portland', '97205', 'Oregon'),
      place('Denver', '80202', 'Colorado'),
      place('Boston', '02108', 'Massachusetts'),
    ],
    streets: ['Maple Street', 'Oak Avenue', 'Cedar Drive', 'River Road'],
    phone: '+120255501',
    cards: [
      ...usualCards,
      card(14, '4000056655665556'),
      card(10, '6011111111111117'),
      card(8, '5200828282828210'),
      card(2, '3056930009020004'),
    ],
  },
]

/** Why issuers decline, the more often the larger the weight. */
export const declines = [
  { weight: 40, code: 'insufficient_funds' },
  { weight: 24, code: 'issuer_decline' },
  { weight: 10, code: 'incorrect_cvv' },
  { weight: 8, code: 'expired_payment_method' },
  { weight: 7, code: 'refused_transaction' },
  { weight: 6, code: 'suspected_fraud' },
  { weight: 3, code: 'incorrect_billing_address' },
  { weight: 2, code: 'canceled_payment_method' },
]

export const failures = [
  { weight: 5, code: 'service_error' },
  { weight: 3, code: 'service_network_error' },
  { weight: 2, code: 'unavailable_payment_method' },
  { weight: 1, code: 'invalid_service_configuration' },
]

export const refundReasons = ['Returned goods', 'Wrong size', 'Arrived damaged', 'Ordered twice', 'Changed my mind']
export const channels = [
  { weight: 70, name: 'web' },
  { weight: 25, name: 'app' },
  { weight: 5, name: 'phone' },
]
export const campaigns = ['autumn-sale', 'newsletter', 'search', 'friends']
