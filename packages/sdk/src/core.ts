export { FlorinCore, type FlorinOptions } from './client.ts'
export { FlorinConnectionError, FlorinError } from './errors.ts'
export type { ErrorCode, ErrorDetail } from './generated/errors.ts'
export { createSigner, type EmbedPins, type Sign, type TokenRequest } from './token.ts'
export type {
  AccountOptions,
  CallOptions,
  FlorinRequest,
  IdempotentOptions,
  RawMessage,
  RequestOptions,
} from './transport.ts'
