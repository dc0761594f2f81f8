import type { TestApi } from './api.ts'

/** Days pass for the sandbox's card processor, and the statement of a payment is asked for. */
export async function afterDays(
  { database, request }: Pick<TestApi, 'database' | 'request'>,
  transactionId: string,
  days: number,
  headers: Record<string, string> = {},
): Promise<void> {
  await database.query("update sandbox_card_operations set decided_at = decided_at - $1 * interval '1 day'", [days])
  const { status, text } = await request('POST', `/transactions/${transactionId}/sync`, { headers })
  if (status !== 200) throw new Error(text)
}
