import { FlorinError } from '@florin/sdk'

/** What the API answered to a call that must fail. */
export async function caught(work: Promise<unknown>): Promise<FlorinError> {
  const error = await work.then(
    () => undefined,
    (thrown: unknown) => thrown,
  )
  if (error instanceof FlorinError) return error
  throw new Error('no FlorinError', { cause: error })
}
