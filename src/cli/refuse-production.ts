import { type ApiClient, ApiRefusal } from './api-client.ts'
import { CommandError } from './output.ts'

/** In production there are no simulator rules. */
export async function refuseProduction(client: ApiClient, message: string): Promise<void> {
  try {
    await client.ask({ method: 'GET', path: '/simulator-rules', query: { limit: 1 } })
  } catch (error) {
    if (!(error instanceof ApiRefusal) || error.answer.status !== 404) throw error
    throw new CommandError(message)
  }
}
