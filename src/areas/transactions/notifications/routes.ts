import { route } from '../../../http/route.ts'
import { PaymentServicePath } from '../../payment-services/schema.ts'
import { receiveNotification } from './operations.ts'

export const notificationRoutes = [
  route({
    id: 'receiveNotification',
    method: 'POST',
    path: '/payment-services/{payment_service_id}/notifications',
    summary: 'Receive a message of a provider',
    description:
      'For providers: the `webhook_url` of a payment service. The body is what the provider sends, byte by byte; its signature is the credential, and the connector of the service looks at it. A message only says that there is news: what the news is, the provider is asked. A message that is not believed gets the answer of a service that does not exist. One that comes again is answered as before and does nothing. Whatever is not answered with 200 should be sent again.',
    scope: 'none',
    merchantAccount: 'none',
    params: PaymentServicePath,
    raw: true,
    given: {
      payment_service_id: {
        fields: [
          { key: 'merchant_id', value: 'shop-4711' },
          { key: 'webhook_secret', value: 'a secret of the service' },
        ],
      },
    },
    changes: false,
    returns: [200],
    handle: (ctx, { params, message }) => receiveNotification(ctx, params.payment_service_id, message),
  }),
]
