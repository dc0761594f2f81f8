import { type Static, Type } from 'typebox'
import { Body, Constant, Nullable, optional, Uuid } from '../../../schema.ts'
import { Address, AddressInput, contactFields, NewBuyer } from '../schema.ts'

export const ShippingDetails = Type.Object(
  {
    type: Constant('shipping-details'),
    id: Uuid(),
    buyer_id: Uuid({ description: 'The buyer they belong to.' }),
    ...contactFields,
    address: Nullable(Address),
  },
  { title: 'ShippingDetails' },
)
export type ShippingDetails = Static<typeof ShippingDetails>

export const ShippingDetailsList = Type.Object(
  { items: Type.Array(ShippingDetails) },
  { title: 'ShippingDetailsList', additionalProperties: false },
)

const input = optional({ ...contactFields, address: Nullable(AddressInput) })

export const NewShippingDetails = Body(input, { title: 'ShippingDetailsCreate' })
export type NewShippingDetails = Static<typeof NewShippingDetails>

export const GuestBuyer = Nullable(
  Body(
    {
      ...NewBuyer.properties,
      shipping_details: Type.Optional(Nullable({ ...NewShippingDetails, title: 'GuestShippingDetails' })),
    },
    { title: 'GuestBuyer', description: 'Somebody who is not stored as a buyer.' },
  ),
)
export type GuestBuyer = Static<typeof GuestBuyer>

export const ShippingDetailsUpdate = Body(input, { title: 'ShippingDetailsUpdate' })
export type ShippingDetailsUpdate = Static<typeof ShippingDetailsUpdate>

export const ShippingDetailsPath = Type.Object({
  buyer_id: Uuid({ description: 'Id of the buyer.' }),
  shipping_details_id: Uuid({ description: 'Id of the shipping details.' }),
})
