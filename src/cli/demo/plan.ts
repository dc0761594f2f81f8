import { campaigns, channels, products, regions, shipping, shopName, subscription } from './catalogue.ts'
import { type Course, day, minute, type NewPayment, type Recipe, type Step } from './course.ts'
import { ongoing } from './ongoing.ts'
import { createRandom, type Random } from './random.ts'
import { recipes } from './recipes.ts'

/** Everything is decided here, by the seed alone: what is sent afterwards, several at once, changes nothing of it. */

export interface ShopOptions {
  seed: number
  transactions: number
  days: number
}

export interface Customer {
  reference: string
  firstName: string
  lastName: string
  email: string
  phone: string
  country: string
  currency: string
  address: { city: string; country: string; postal_code: string; state: string; line1: string }
  /** The first is the one they pay with, and the stored one where there is one. */
  card: PlannedCard
  storesCard: boolean
  giftCard: { number: string; pin: string } | undefined
}

interface PlannedCard {
  number: string
  expiration_date: string
}

export interface Story {
  name: string
  /** When it begins: as the share of all days that have passed, or so long ago. */
  begins: { share: number } | { agoMs: number }
  customer: Customer
  isGuest: boolean
  payment: NewPayment
  paysStored: boolean
  /** What a gift card pays: the customer's own stored one, or a new one. */
  giftCard: { amount: number; card: { number: string; pin: string } | 'own' } | undefined
  approvalMs: number | undefined
  outcome: Course['outcome']
  steps: readonly Step[]
}

/** Fewer would not hold one of each. */
export const fewestTransactions = recipes.length + ongoing.length

export function planShop({ seed, transactions, days }: ShopOptions): Story[] {
  const customers = planCustomers(seed, Math.max(8, Math.round(transactions / 9)))
  const balances = new Map<Customer, number>()
  const recent = ongoing.flatMap((recipe) =>
    Array.from({ length: Math.max(1, Math.round(transactions / 1_000)) }, () => recipe),
  )
  const past = planRecipes(createRandom(seed, 'recipes'), transactions - recent.length)
  return [...past, ...recent].map((recipe, index) => {
    const random = createRandom(seed, `payment ${index}`)
    const share = Math.min(1, (index + random.next()) / past.length)
    // A minute apart, whatever the machine does meanwhile.
    const agoMs = index < past.length ? (1 - share) * days * day : (transactions - index + 4) * minute
    const story = planStory(random, recipe, { customers, balances, number: index + 1, agoMs })
    return { ...story, begins: index < past.length ? { share } : { agoMs } }
  })
}

/** By their weights, and one of each at least: in the first three quarters, where there is time for all that has to follow. */
function planRecipes(random: Random, count: number): Recipe[] {
  const chosen = Array.from({ length: count }, () => random.weighted(recipes))
  const places = Math.max(recipes.length, Math.floor(count * 0.75))
  const order = Array.from({ length: places }, (_, index) => index)
  recipes.forEach((recipe, index) => {
    const other = random.between(index, places - 1)
    ;[order[index], order[other]] = [order[other] ?? 0, order[index] ?? 0]
    chosen[order[index] ?? 0] = recipe
  })
  return chosen
}

function planCustomers(seed: number, count: number): Customer[] {
  return Array.from({ length: count }, (_, index) => planCustomer(createRandom(seed, `customer ${index}`), index))
}

function planCustomer(random: Random, index: number): Customer {
  const region = random.weighted(regions)
  const [firstName, lastName, place] = [
    random.pick(region.firstNames),
    random.pick(region.lastNames),
    random.pick(region.places),
  ]
  return {
    reference: `customer-${1001 + index}`,
    firstName,
    lastName,
    email: `${plain(firstName)}.${plain(lastName)}${index}@example.com`,
    phone: `${region.phone}${String(random.between(0, 99)).padStart(2, '0')}`,
    country: region.country,
    currency: region.currency,
    address: {
      city: place.city,
      country: region.country,
      postal_code: place.postalCode,
      state: place.state,
      line1: `${random.pick(region.streets)} ${random.between(1, 120)}`,
    },
    card: {
      number: random.weighted(region.cards).number,
      expiration_date: `${String(random.between(1, 12)).padStart(2, '0')}/${random.between(30, 33)}`,
    },
    // One does in any shop, however small: who has no gift card either may be the customer of any story.
    storesCard: random.chance(0.6) || index === 1,
    giftCard:
      index % 7 === 0
        ? planGiftCard(random, 6_035_000_000_000_001 + index * 10, random.pick([20_000, 50_000, 80_000]))
        : undefined,
  }
}

const plain = (name: string) =>
  name
    .normalize('NFD')
    .replaceAll(/[^a-zA-Z]/g, '')
    .toLowerCase()

/** Its PIN says what is on it. Numbers that end in 1 to 8 are good ones. */
const planGiftCard = (random: Random, number: number, balance: number) => ({
  number: String(number + random.between(0, 7)),
  pin: `0${balance}`,
})

interface Draft {
  customers: readonly Customer[]
  /** What is left on the gift cards. */
  balances: Map<Customer, number>
  number: number
  agoMs: number
}

function planStory(random: Random, recipe: Recipe, draft: Draft): Omit<Story, 'begins'> {
  const isSubscribed = recipe.name === 'charged by subscription'
  const items = isSubscribed ? [{ ...subscription, quantity: 1 }] : planCart(random)
  const goods = items.reduce((sum, { price, quantity }) => sum + price * quantity, 0)
  const fee = goods < shipping.freeFrom && !isSubscribed ? shipping.fee : 0
  const amount = goods + fee
  const course = recipe.make(random, amount)
  const customer = chooseCustomer(random, draft, course, amount)
  const isGuest = course.isGuest ?? (course.storedCard === undefined && random.chance(0.2))
  const paysStored = !isGuest && !course.number && !course.asks && customer.storesCard
  const giftCard = course.giftCard && payByGiftCard(random, draft, customer, { isGuest, amount, pays: course.giftCard })
  const payment: NewPayment = {
    amount,
    currency: customer.currency,
    country: customer.country,
    intent: 'authorize',
    external_identifier: `order-${10_000 + draft.number}`,
    description: `Order ${10_000 + draft.number} of ${shopName}`,
    metadata: {
      channel: random.weighted(channels).name,
      ...(random.chance(0.3) && { campaign: random.pick(campaigns) }),
    },
    statement_descriptor: { name: shopName, url: 'shop.example.com' },
    cart_items: [
      ...items.map(({ sku, name, price, quantity, category }) => ({
        name,
        quantity,
        unit_amount: price,
        sku,
        categories: [category],
        product_type: 'physical' as const,
      })),
      ...(fee > 0 ? [{ name: 'Shipping', quantity: 1, unit_amount: fee, product_type: 'shipping_fee' as const }] : []),
    ],
    ...(fee > 0 && { shipping_amount: fee }),
    ...(isGuest ? { buyer: guestOf(customer) } : { buyer_external_identifier: customer.reference }),
    ...(course.giftCard !== 'all' && { payment_method: methodOf(customer, course) }),
    ...course.payment,
  }
  return {
    name: recipe.name,
    customer,
    isGuest,
    payment,
    paysStored,
    giftCard,
    approvalMs: course.approvalMs,
    outcome: course.outcome,
    steps: stepsBy(course.steps, draft.agoMs),
  }
}

/** Those that have had time to happen, and nothing that comes after one that has not. */
function stepsBy(steps: readonly Step[], agoMs: number): readonly Step[] {
  const first = steps.findIndex(({ after }) => after > agoMs)
  return first < 0 ? steps : steps.slice(0, first)
}

function planCart(random: Random) {
  const count = random.weighted([
    { weight: 50, count: 1 },
    { weight: 28, count: 2 },
    { weight: 14, count: 3 },
    { weight: 8, count: 4 },
  ]).count
  const chosen = new Set(Array.from({ length: count }, () => random.weighted(products)))
  return [...chosen].map((product) => ({ ...product, quantity: product.price < 3_000 ? random.between(1, 3) : 1 }))
}

/** Regulars come more often. */
function chooseCustomer(random: Random, { customers, balances }: Draft, course: Course, amount: number): Customer {
  const can = customers.filter(
    (customer) =>
      (!course.storedCard || customer.storesCard) &&
      (course.giftCard !== 'part' || !customer.giftCard || balanceOf(balances, customer) >= 500) &&
      (course.giftCard !== 'all' || !customer.giftCard || balanceOf(balances, customer) >= amount),
  )
  return random.pick(random.chance(0.4) ? can.slice(0, Math.ceil(can.length / 4)) : can)
}

const balanceOf = (balances: ReadonlyMap<Customer, number>, customer: Customer) =>
  balances.get(customer) ?? Number(customer.giftCard?.pin ?? 0)

function payByGiftCard(
  random: Random,
  { balances, number }: Draft,
  customer: Customer,
  { isGuest, amount, pays }: { isGuest: boolean; amount: number; pays: 'all' | 'part' },
): Story['giftCard'] {
  const wanted = pays === 'all' ? amount : Math.floor(amount / 200) * 100
  if (isGuest || !customer.giftCard) {
    const opening = wanted + random.pick([0, 500, 1_000])
    return { amount: wanted, card: planGiftCard(random, 6_035_100_000_000_001 + number * 10, opening) }
  }
  const left = balanceOf(balances, customer)
  const paid = Math.min(wanted, left)
  balances.set(customer, left - paid)
  return { amount: paid, card: 'own' }
}

function methodOf({ card, country, currency }: Customer, course: Course): NonNullable<NewPayment['payment_method']> {
  const back = course.asks ? { redirect_url: 'https://shop.example.com/thanks' } : {}
  if (course.asks === 'redirect') {
    return { method: 'custom_redirect', country, currency, redirect_url: 'https://shop.example.com/thanks' }
  }
  const { number, expiration_date } = course.number ? { ...card, number: course.number } : card
  return { method: 'card', number, expiration_date, security_code: number.startsWith('37') ? '1234' : '123', ...back }
}

export const contactOf = ({ firstName, lastName, email, phone, address }: Customer) => ({
  first_name: firstName,
  last_name: lastName,
  email_address: email,
  phone_number: phone,
  address,
})

function guestOf(customer: Customer): NonNullable<NewPayment['buyer']> {
  const { first_name, last_name, address } = contactOf(customer)
  return {
    display_name: `${customer.firstName} ${customer.lastName}`,
    billing_details: contactOf(customer),
    shipping_details: { first_name, last_name, address },
  }
}
