import { type Command, Option } from 'commander'
import { loadConfig } from '../platform/config.ts'
import { findRunningDev } from './dev-folder.ts'
import { CommandError } from './output.ts'
import { readPrivateKey } from './private-key.ts'
import { signToken } from './sign-token.ts'

export interface ApiOptions {
  api?: string
  key?: string
  account?: string
}

export const addApiOptions = (command: Command): Command =>
  command
    .addOption(
      new Option('--api <url>', 'base URL of the API (default: the "florin dev" that runs in this folder)').env(
        'FLORIN_PUBLIC_URL',
      ),
    )
    .option('--key <file>', 'private key, PEM (default: the one "florin dev" made)')
    .option('--account <id>', 'the merchant account (default: the first one the key reaches)')

/** The API said no; `status` is 0 when it said nothing. */
export class ApiRefusal extends CommandError {
  readonly status: number

  constructor(message: string, status: number) {
    super(message)
    this.status = status
  }
}

export interface ApiClient {
  readonly headerPrefix: string
  ask<Body>(method: string, path: string, body?: object): Promise<Body>
  /** The same client for all merchant accounts that the key reaches. */
  everywhere(): ApiClient
  /** The answer as it comes. */
  open(path: string, signal: AbortSignal): Promise<AsyncIterable<Uint8Array>>
}

/** The API as a merchant's back end uses it. */
export async function createApiClient(options: ApiOptions): Promise<ApiClient> {
  const baseUrl = options.api ?? (await findRunningDev())?.base_url
  if (baseUrl === undefined) {
    throw new CommandError(
      'No API is known: no "florin dev" runs in this folder. Start one in another terminal, or name an API with --api URL.',
    )
  }
  const privateKeyPem = await readPrivateKey(options.key)
  const { FLORIN_HEADER_PREFIX } = process.env
  const { headerPrefix } = loadConfig('api', ['headerPrefix'], { FLORIN_HEADER_PREFIX })
  return clientOf({ baseUrl, privateKeyPem, headerPrefix, account: options.account })
}

interface Access {
  baseUrl: string
  privateKeyPem: string
  headerPrefix: string
  account: string | undefined
}

const clientOf = (access: Access): ApiClient => ({
  headerPrefix: access.headerPrefix,
  everywhere: () => clientOf({ ...access, account: '*' }),
  async ask<Body>(method: string, path: string, body?: object) {
    const response = await send(access, method, path, { ...(body && { body }) })
    return (response.status === 204 ? undefined : await response.json()) as Body
  },
  async open(path, signal) {
    const { body } = await send(access, 'GET', path, { signal })
    if (!body) throw new Error('an answer without a body')
    return body
  },
})

async function send(
  { baseUrl, privateKeyPem, headerPrefix, account }: Access,
  method: string,
  path: string,
  { body, signal }: { body?: object; signal?: AbortSignal },
): Promise<Response> {
  const headers = {
    authorization: `Bearer ${await signToken({ privateKeyPem })}`,
    ...(account !== undefined && { [`${headerPrefix}Merchant-Account-ID`]: account }),
    ...(body && { 'content-type': 'application/json' }),
  }
  const response = await fetch(baseUrl + path, {
    method,
    headers,
    ...(body && { body: JSON.stringify(body) }),
    ...(signal && { signal }),
  }).catch((error: unknown) => {
    if (signal?.aborted) throw error
    throw new ApiRefusal(`${baseUrl} does not answer (${causeOf(error)}). Is it running?`, 0)
  })
  if (!response.ok) throw new ApiRefusal(`${method} ${path}: ${await reasonOf(response)}`, response.status)
  return response
}

/** What a request that got no answer failed with. */
export const causeOf = (error: unknown): string => {
  const { cause, name } = error as { cause?: { code?: string; message?: string }; name?: string }
  return cause?.code ?? cause?.message ?? (name === 'TimeoutError' ? 'timeout' : String(error))
}

async function reasonOf(response: Response): Promise<string> {
  const text = await response.text()
  try {
    const { message, details = [] } = JSON.parse(text) as {
      message: string
      details?: { pointer: string; message: string }[]
    }
    return [`${response.status} ${message}`, ...details.map((detail) => `  ${detail.pointer}: ${detail.message}`)].join(
      '\n',
    )
  } catch {
    return `${response.status} ${text.slice(0, 200)}`
  }
}
