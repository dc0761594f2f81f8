import { createSigner, keepToken, type Sign, type TokenKeeper, type TokenRequest } from './token.ts'
import { createTransport, type FlorinRequest, Group, type RequestOptions } from './transport.ts'

export interface FlorinOptions {
  /** Where the API is, such as `http://127.0.0.1:8080`. */
  baseUrl: string
  /** Private key of an API key pair, in PEM. Tokens are signed with it; it is never sent. */
  privateKey?: string
  /** Instead of a private key: a token, or what gives one. It is asked before every request. */
  token?: string | (() => string | Promise<string>)
  /** The merchant account to act upon. Default: the first one the key pair can reach. */
  merchantAccountId?: string
  /** What the tokens may do. Default: all that the key pair may, `['*.read', '*.write']`. */
  scopes?: readonly string[]
  /** How often a request is repeated that failed for a reason that may pass. Default: 2. */
  maxRetries?: number
  /** How long one attempt may take. Default: 30 seconds. */
  timeoutMs?: number
  /** As the operator has set it. Default: `X-Service-`. */
  headerPrefix?: string
  /** Instead of the runtime's own. */
  fetch?: typeof fetch
}

/** A client of one Florin without a method for each operation: what those are made of. */
export class FlorinCore extends Group {
  readonly #sign: Sign
  readonly #usual: TokenRequest

  constructor(options: FlorinOptions) {
    if (!URL.canParse(options.baseUrl)) throw new TypeError('baseUrl must be a URL, such as http://127.0.0.1:8080')
    if (options.privateKey !== undefined && options.token !== undefined) {
      throw new TypeError('Give Florin a privateKey or a token, not both')
    }
    const usual = options.scopes ? { scopes: options.scopes } : {}
    const sign = options.privateKey === undefined ? noKey : createSigner(options.privateKey)
    super(
      createTransport({
        baseUrl: options.baseUrl.replace(/\/+$/, ''),
        token: keeperOf(options, () => sign(usual)),
        headerPrefix: options.headerPrefix ?? 'X-Service-',
        merchantAccountId: options.merchantAccountId,
        maxRetries: options.maxRetries ?? 2,
        timeoutMs: options.timeoutMs ?? 30_000,
        // Some runtimes want it called as a function of their own.
        fetch: options.fetch ?? ((input, init) => fetch(input, init)),
      }),
    )
    this.#sign = sign
    this.#usual = usual
  }

  /** A new token, for a browser above all: `{ scopes: ['embed'], embed: { amount: 1299, currency: 'EUR' } }`. */
  signToken(request: TokenRequest = {}): Promise<string> {
    return this.#sign({ ...this.#usual, ...request })
  }

  /**
   * Any request, with token, retries and errors as the methods have them, and the answer as it comes. A POST is repeated without harm
   * only if it has an `idempotencyKey` and the operation takes one.
   */
  request(request: FlorinRequest, options: RequestOptions = {}): Promise<Response> {
    // Anything else could make another host of the base URL, and that would get the token.
    if (!request.path.startsWith('/')) throw new TypeError('path must begin with /')
    const isIdempotent = options.idempotencyKey !== undefined
    return this.transport.begin({ ...request, account: true, ...(isIdempotent && { idempotent: true }) }, options)
  }
}

const noKey: Sign = () => Promise.reject(new TypeError('Signing needs a privateKey: give one to Florin'))

function keeperOf({ privateKey, token }: FlorinOptions, sign: () => Promise<string>): TokenKeeper | undefined {
  if (privateKey !== undefined) return keepToken(sign)
  if (token === undefined) return undefined
  return { get: async () => (typeof token === 'string' ? token : await token()), renew: async () => false }
}
