import { Type } from 'typebox'
import { Uuid } from '../../../schema.ts'

export const TestEventPath = Type.Object({ subscription_id: Uuid({ description: 'Id of the webhook subscription.' }) })
