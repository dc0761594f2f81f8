import { type Static, Type } from 'typebox'
import { Body, DateTime, Enum, Nullable, optional } from './schema.ts'

/** What is bought, as a merchant may tell it of a payment or of a checkout session. Kept as it was given. */

const text = (maxLength: number, minLength = 1) => Nullable(Type.String({ minLength, maxLength }))
const count = (options: object = {}) => Nullable(Type.Integer({ minimum: 0, maximum: 99_999_999, ...options }))
const flag = () => Nullable(Type.Boolean())
const country = () => Nullable(Type.String({ pattern: '^[A-Z]{2}$' }))
const phone = () => Nullable(Type.String({ pattern: '^\\+[1-9]\\d{1,14}$' }))
const moment = () => Nullable(DateTime())
const date = () => Nullable(Type.String({ pattern: '^\\d{4}-(0[1-9]|1[0-2])-(0[1-9]|[12]\\d|3[01])$' }))

export const amountLimit = 99_999_999
export const Amount = (options: object = {}) =>
  Type.Integer({ minimum: 0, maximum: amountLimit, description: 'In the smallest unit of the currency.', ...options })

export const productTypes = [
  'physical',
  'discount',
  'shipping_fee',
  'sales_tax',
  'digital',
  'gift_card',
  'store_credit',
  'surcharge',
] as const

export const CartItem = Body(
  {
    name: Type.String({ minLength: 1, maxLength: 255, example: 'Walking boots' }),
    quantity: Type.Integer({ minimum: 1, maximum: amountLimit, example: 1 }),
    unit_amount: Type.Integer({ minimum: 0, maximum: amountLimit, example: 1299 }),
    ...optional({
      discount_amount: count({ default: 0 }),
      tax_amount: count({ default: 0 }),
      external_identifier: text(200),
      sku: text(200),
      upc: text(50),
      product_url: text(5000),
      image_url: text(5000),
      categories: Nullable(Type.Array(Type.String({ minLength: 1, maxLength: 50 }), { maxItems: 100 })),
      product_type: Nullable(Enum(productTypes)),
      seller_country: country(),
      tax_exempt: flag(),
      unit_of_measure: text(50),
      commodity_code: text(50),
      description: text(255),
      duty_amount: count(),
      shipping_amount: count(),
    }),
  },
  { title: 'CartItem' },
)
export type CartItem = Static<typeof CartItem>
export const CartItems = Nullable(Type.Array(CartItem, { maxItems: 249 }))

const AirlineLeg = Body(
  optional({
    arrival_airport: text(3, 3),
    arrival_at: moment(),
    arrival_city: text(100),
    arrival_country: country(),
    carrier_code: text(3, 2),
    carrier_name: text(255),
    iata_designator: text(2, 2),
    icao_code: text(3, 3),
    coupon_number: text(50),
    departure_airport: text(3, 3),
    departure_at: moment(),
    departure_city: text(100),
    departure_country: country(),
    departure_tax_amount: count(),
    fare_amount: count(),
    fare_basis_code: text(8),
    fee_amount: count(),
    flight_class: text(5),
    flight_number: text(6, 3),
    route_type: Nullable(Enum(['round_trip', 'one_way'])),
    seat_class: text(5),
    stop_over: flag(),
    tax_amount: count(),
  }),
  { title: 'AirlineLeg' },
)

const AirlinePassenger = Body(
  optional({
    age_group: Nullable(Enum(['adult', 'infant'])),
    date_of_birth: date(),
    email_address: text(320),
    first_name: text(255),
    frequent_flyer_number: text(50, 5),
    last_name: text(255),
    passport_number: text(50),
    phone_number: phone(),
    ticket_number: text(50),
    title: text(50),
    country_code: country(),
  }),
  { title: 'AirlinePassenger' },
)

export const Airline = Nullable(
  Body(
    optional({
      booking_code: text(50),
      is_cardholder_traveling: flag(),
      issued_address: text(255),
      issued_at: moment(),
      issuing_carrier_code: text(3, 2),
      issuing_carrier_name: text(255),
      issuing_iata_designator: text(2, 2),
      issuing_icao_code: text(3, 3),
      legs: Nullable(Type.Array(AirlineLeg, { maxItems: 20 })),
      passenger_name_record: text(50),
      passengers: Nullable(Type.Array(AirlinePassenger, { maxItems: 20 })),
      reservation_system: text(200),
      restricted_ticket: flag(),
      ticket_delivery_method: Nullable(Enum(['electronic', 'other'])),
      ticket_number: text(50),
      travel_agency_code: text(50),
      travel_agency_invoice_number: text(50),
      travel_agency_name: text(200),
      travel_agency_plan_name: text(200),
    }),
    { title: 'Airline' },
  ),
)

export const Metadata = Nullable(
  Type.Unsafe<Record<string, string>>({
    type: 'object',
    maxProperties: 50,
    propertyNames: { minLength: 1, maxLength: 40 },
    additionalProperties: { type: 'string', maxLength: 500 },
    description: 'Your own keys and values: at most 50 keys of 1 to 40 characters, values of at most 500.',
    example: { order: '4711' },
  }),
)
