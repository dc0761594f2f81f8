import type { FlorinCore, FlorinError, FlorinRequest, RequestOptions } from '@florin/sdk/core'
import { type Command, Option } from 'commander'
import { defaultHeaderPrefix } from '../platform/header-prefix.ts'
import { findRunningDev } from './dev-folder.ts'
import { CommandError } from './output.ts'
import { readPrivateKey } from './private-key.ts'

export interface ApiOptions {
  api?: string
  key?: string
  account?: string
}

const addressOptions = (): Option[] => [
  new Option('--api <url>', 'base URL of the API (default: the "florin dev" that runs in this folder)').env(
    'FLORIN_PUBLIC_URL',
  ),
  new Option('--key <file>', 'private key, PEM (default: the one "florin dev" made)'),
]

export const accountOption = (description = 'the merchant account (default: the first one the key reaches)'): Option =>
  new Option('--account <id>', description)

export function addApiOptions(command: Command, account: Option | null = accountOption()): Command {
  for (const option of [...addressOptions(), ...(account ? [account] : [])]) command.addOption(option)
  return command
}

/** The API said no: `answer` is what it said. */
export class ApiRefusal extends CommandError {
  readonly answer: FlorinError

  constructor({ method, path }: ApiRequest, answer: FlorinError) {
    const { status, reason, details } = answer
    const problems = details.map(({ pointer, message }) => `  ${pointer}: ${message}`)
    super([`${method} ${path}: ${status} ${reason}`, ...problems].join('\n'))
    this.answer = answer
  }
}

export interface ApiRequest extends FlorinRequest {
  options?: RequestOptions
}

export interface ApiClient {
  readonly headerPrefix: string
  /** An answer that is not a refusal, as it comes. */
  send(request: ApiRequest): Promise<Response>
  ask<Body>(request: ApiRequest): Promise<Body>
}

/** The API as a merchant's back end uses it; without a token where the operation asks for none. */
export async function createApiClient(options: ApiOptions, { isOpen = false } = {}): Promise<ApiClient> {
  const baseUrl = options.api ?? (await findRunningDev())?.base_url
  if (baseUrl === undefined) {
    throw new CommandError(
      'No API is known: no "florin dev" runs in this folder. Start one in another terminal, or name an API with --api URL.',
    )
  }
  if (!URL.canParse(baseUrl)) throw new CommandError('--api is not a URL. An example: http://127.0.0.1:8080')
  const headerPrefix = await findHeaderPrefix()
  const { FlorinCore } = await import('@florin/sdk/core')
  const florin = new FlorinCore({
    baseUrl,
    headerPrefix,
    // Somebody waits, and is told of what does not pass at once.
    maxRetries: 1,
    ...(!isOpen && { privateKey: await readPrivateKey(options.key) }),
    ...(options.account !== undefined && { merchantAccountId: options.account }),
  })
  return {
    headerPrefix,
    send: (request) => send(florin, request),
    async ask<Body>(request: ApiRequest) {
      const text = await (await send(florin, request)).text()
      return (text === '' ? undefined : JSON.parse(text)) as Body
    },
  }
}

async function findHeaderPrefix(): Promise<string> {
  const { FLORIN_HEADER_PREFIX } = process.env
  if (FLORIN_HEADER_PREFIX === undefined) return defaultHeaderPrefix
  // Loaded when it is needed: it checks every setting there is.
  const { loadConfig } = await import('../platform/config.ts')
  return loadConfig('api', ['headerPrefix'], { FLORIN_HEADER_PREFIX }).headerPrefix
}

async function send(florin: FlorinCore, request: ApiRequest): Promise<Response> {
  const { FlorinConnectionError, FlorinError } = await import('@florin/sdk/core')
  const { options, ...sent } = request
  return await florin.request(sent, options).catch((error: unknown) => {
    if (error instanceof FlorinError) throw new ApiRefusal(request, error)
    throw error instanceof FlorinConnectionError ? new CommandError(error.message) : error
  })
}

/** What a request that got no answer failed with. */
export const causeOf = (error: unknown): string => {
  const { cause, name } = error as { cause?: { code?: string; message?: string }; name?: string }
  return cause?.code ?? cause?.message ?? (name === 'TimeoutError' ? 'timeout' : String(error))
}
