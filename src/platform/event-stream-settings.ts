import { Type } from 'typebox'
import { secret, setting } from './setting.ts'

/** The stream of events for other systems. */
export const eventStreamSettings = {
  eventStreamUrl: secret(
    Type.Optional(
      Type.String({
        pattern: '^(nats|tls)://[^,]+(,(nats|tls)://[^,]+)*$',
        description:
          'NATS for the stream of all events that other systems of the operator read (docs/event-stream.md), as a user of an account of its own; several servers of one cluster after commas. Without it there is no such stream.',
      }),
    ),
    { env: 'FLORIN_EVENT_STREAM_URL', for: ['worker'] },
  ),
  eventStreamDays: setting(
    Type.Integer({ minimum: 1, maximum: 400, default: 7, description: 'How long the stream keeps an event.' }),
    { env: 'FLORIN_EVENT_STREAM_DAYS', for: ['worker'] },
  ),
  eventStreamMegabytes: setting(
    Type.Integer({
      minimum: 1,
      maximum: 10_000_000,
      default: 2_048,
      description: 'How much the stream keeps on each server before the oldest events go; an event takes about 1 KB.',
    }),
    { env: 'FLORIN_EVENT_STREAM_MEGABYTES', for: ['worker'] },
  ),
  eventStreamReplicas: setting(
    Type.Integer({
      minimum: 1,
      maximum: 5,
      default: 3,
      description: 'On how many servers each event is stored. 1 where there is one server only, as in development.',
    }),
    { env: 'FLORIN_EVENT_STREAM_REPLICAS', for: ['worker'] },
  ),
}
