import type { ErrorCode } from '../../src/errors.ts'
import type { Attempt, Explanation } from './explanation.ts'

const url = 'http://127.0.0.1:8080'
const token = '-H "Authorization: Bearer $(npx florin token)"'
const json = "-H 'content-type: application/json'"

type ApiExplanation = Omit<Explanation, 'means'> & { attempt?: Attempt }

/** Codes of error answers. What each means is in src/errors.ts. */
export const apiCodes: Record<ErrorCode, ApiExplanation> = {
  bad_request: {
    causes: [
      'A field is missing, unknown, of the wrong type, too long or out of range. Fields that are not in the schema are refused.',
      'A value does not fit the state of things: a refund of more than was captured, a capture of a payment that is not authorized.',
      'An `Idempotency-Key` was used for another request within the last 24 hours.',
      'A cursor belongs to another list, other filters or another key pair.',
      "A browser's token pins another value than the request has.",
      'The body is not JSON, larger than 1 MiB or nested deeper than 32 levels.',
    ],
    cure: [
      'Read `details`. It names every problem at once: `location` (body, query, path or header), `pointer` to the field, `message` for people, `type` for programs.',
      'API key pair operations answer 422 with `detail` instead; it says the same.',
    ],
    again: 'changed',
    attempt: {
      command: `curl -s ${url}/transactions ${token} \\\n  ${json} -d '{"amount": "12.99"}'`,
      expect: 400,
      answer: {
        type: 'error',
        code: 'bad_request',
        status: 400,
        message: 'Request failed validation',
        details: [
          {
            location: 'body',
            pointer: '/currency',
            message: 'This field is required',
            type: 'value_error.missing',
          },
          { location: 'body', pointer: '/amount', message: 'Must be an integer', type: 'type_error.integer' },
        ],
      },
    },
  },
  unauthorized: {
    causes: [
      'There is no `Authorization: Bearer …` header.',
      'The token has expired, or is not valid yet because a clock is wrong, or lives longer than 24 hours.',
      'The key pair was deleted, or `kid` is not its thumbprint.',
      'A claim has the wrong type, or `embed` is there without its scope.',
    ],
    cure: [
      'Sign a new token: `npx florin token`, or let the SDK do it. Compare the clock of the machine that signs.',
      "The answer never says which check failed. The operator finds the reason in the api's log, by `X-Request-Id`.",
    ],
    again: 'changed',
    attempt: {
      command: `curl -s ${url}/transactions`,
      expect: 401,
      answer: { type: 'error', code: 'unauthorized', status: 401, message: 'No valid API authentication found' },
    },
  },
  forbidden: {
    causes: [
      'The token lacks the scope of the operation. The reference names it with each operation.',
      "The roles of the key pair do not allow it. A token may do what its scopes and its key pair's roles both allow.",
      "A browser's token (scope `embed`) calls an operation that is for servers.",
    ],
    cure: [
      'Sign a token with the scope, and give the key pair a role that has it: see [Authentication](../guides/authentication.md).',
    ],
    again: 'changed',
    attempt: {
      command: `curl -s ${url}/transactions -H "Authorization: Bearer $(npx florin token --scope buyers.read)"`,
      expect: 403,
      answer: { type: 'error', code: 'forbidden', status: 403 },
    },
  },
  not_found: {
    causes: [
      'The id is wrong, or the resource was deleted.',
      'It belongs to another merchant account than the request acts upon. Without the header that names one, that is the first account of the key pair.',
      'There is no such path.',
      'A checkout session has expired or is used up.',
    ],
    cure: [
      'Compare the id, and name the merchant account in `X-Service-Merchant-Account-ID`.',
      'Another account’s resource is answered exactly like one that does not exist, so that nobody learns which ids there are.',
    ],
    again: 'changed',
    attempt: {
      command: `curl -s ${url}/transactions/0192f4a6-7e0c-7c33-b1de-3f1a2b4c5d6e ${token}`,
      expect: 404,
      answer: { type: 'error', code: 'not_found', status: 404, message: 'The resource could not be found' },
    },
  },
  method_not_allowed: {
    causes: [
      'The path exists, but not with this method: `PATCH` where it is `PUT`, or `DELETE` of what cannot be deleted.',
    ],
    cure: [
      'The header `Allow` lists the methods of the path. The reference has them all: <http://127.0.0.1:8080/docs>.',
    ],
    again: 'changed',
    attempt: {
      command: `curl -s -X DELETE ${url}/transactions ${token}`,
      expect: 405,
      answer: { type: 'error', code: 'method_not_allowed', status: 405, message: 'Method Not Allowed' },
    },
  },
  duplicate_record: {
    causes: [
      'Another resource has the value that must be unique: the id of a merchant account, the `external_identifier` of a buyer.',
      'Two requests created the same thing at once, and the other one was first.',
    ],
    cure: ['Use the resource that is there: `resource_id` names it. Or choose another value.'],
    again: 'changed',
    attempt: {
      command: `curl -s ${url}/merchant-accounts ${token} \\\n  ${json} -d '{"id": "default", "display_name": "Shop"}'`,
      expect: 409,
      answer: { type: 'error', code: 'duplicate_record', status: 409, resource_id: 'default' },
    },
  },
  concurrent_request: {
    causes: [
      'A request with the same `Idempotency-Key` has not been answered yet, for example because yours timed out and was sent again at once.',
    ],
    cure: [
      'Wait a second and send the same request with the same key. You then get the answer of the first one, with `Idempotency-Replayed: true`.',
    ],
    again: 'sameKey',
  },
  too_early: {
    causes: [
      'The request came as TLS early data (0-RTT), which somebody could record and send again. What terminates TLS says so by `Early-Data: 1`.',
    ],
    cure: ['Send it again once the handshake is complete. HTTP clients that send early data do so by themselves.'],
    again: 'later',
    attempt: {
      command: `curl -s ${url}/transactions ${token} -H 'Early-Data: 1' \\\n  ${json} -d '{"amount": 1299, "currency": "EUR"}'`,
      expect: 425,
      answer: { type: 'error', code: 'too_early', status: 425 },
    },
  },
  too_many_requests: {
    causes: [
      "A browser's token, or a checkout session, made more requests than are allowed within a minute: 50, unless the operator chose otherwise (`FLORIN_EMBED_LIMIT`).",
      'One token is used for many checkouts.',
    ],
    cure: [
      'Wait as many seconds as `Retry-After` says.',
      'Sign a new token, and make a new session, for every checkout. Tokens of servers are not limited. See [Browser tokens](../guides/browser-tokens.md).',
    ],
    again: 'later',
  },
  server_error: {
    causes: ['A fault in Florin itself. It is in the log of the api with its stack.'],
    cure: [
      'Give `X-Request-Id` to the operator, who finds the fault by it.',
      'A payment may have been made. Send the same request with the same `Idempotency-Key` to learn what became of it.',
    ],
    again: 'sameKey',
  },
  bad_gateway: {
    causes: ['A payment or gift card provider answered something that could not be understood.'],
    cure: ['Send the request again with the same `Idempotency-Key`. If it stays so, ask the provider.'],
    again: 'sameKey',
  },
  gateway_timeout: {
    causes: [
      'PostgreSQL or the vault could not be reached in time.',
      'A gift card provider did not answer where there is nothing to show without it, such as storing a card.',
    ],
    cure: [
      'Send the request again with the same `Idempotency-Key`.',
      'For operators: `/readyz` on the private port and `florin doctor` say what cannot be reached.',
    ],
    again: 'sameKey',
  },
}

/** What `type` of a detail says. */
export const detailTypes: readonly [type: string, meaning: string][] = [
  ['value_error.missing', 'The field is required.'],
  ['value_error.extra', 'There is no such field.'],
  ['type_error.…', 'It is of another type; the rest of the name says which is expected.'],
  ['value_error.pattern', 'It is not written as it must be.'],
  ['value_error.length', 'It is too long or too short.'],
  ['value_error.range', 'It is too large or too small.'],
  ['value_error.luhn', 'It is no card number: the check digit is wrong.'],
  ['value_error.unknown', 'It names something that is not there, or cannot be read.'],
  ['value_error.unsupported', 'It is right, but cannot be used here.'],
  ['value_error.conflict', 'It contradicts another field, the state of the resource or the token.'],
  ['value_error.credentials', 'The provider does not take these credentials.'],
  ['value_error.<code>', 'Of a gift card: the code is one of those of gift cards.'],
]
