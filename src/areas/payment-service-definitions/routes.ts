import { route } from '../../http/route.ts'
import { getPaymentServiceDefinition, listPaymentServiceDefinitions } from './operations.ts'
import {
  ListPaymentServiceDefinitionsQuery,
  PaymentServiceDefinition,
  PaymentServiceDefinitionPath,
  PaymentServiceDefinitions,
} from './schema.ts'

export const paymentServiceDefinitionRoutes = [
  route({
    id: 'listPaymentServiceDefinitions',
    method: 'GET',
    path: '/payment-service-definitions',
    summary: 'List payment service definitions',
    description: 'Every provider that this instance can talk to, with what a payment service of its kind needs.',
    scope: 'payment-service-definitions.read',
    merchantAccount: 'none',
    query: ListPaymentServiceDefinitionsQuery,
    paged: true,
    returns: [200, PaymentServiceDefinitions],
    handle: (ctx, { page }) => listPaymentServiceDefinitions(ctx, page),
  }),
  route({
    id: 'getPaymentServiceDefinition',
    method: 'GET',
    path: '/payment-service-definitions/{payment_service_definition_id}',
    summary: 'Get a payment service definition',
    scope: 'payment-service-definitions.read',
    merchantAccount: 'none',
    params: PaymentServiceDefinitionPath,
    exampleParams: { payment_service_definition_id: 'mock-card' },
    returns: [200, PaymentServiceDefinition],
    handle: (ctx, { params }) => getPaymentServiceDefinition(ctx, params.payment_service_definition_id),
  }),
]
