import { signToken } from '../sign-token.ts'
import { createAccount, createKeyPair } from '../api.ts'
import { type Ask, createAsk } from './compare.ts'
import { type CallerName, callers } from './queries.ts'
import { accounts } from './transactions.ts'
import type { Run } from './write.ts'

export interface World {
  ask: Ask
  run: Run
  close(): void
}

/** The merchant accounts, apart from those that are there, and who asks about them. */
export async function openWorld(options: {
  apiUrl: string
  databaseUrl: string
  existing: readonly string[]
  run: Run
}): Promise<World> {
  const { apiUrl, databaseUrl, existing, run } = options
  for (const id of Object.values(accounts)) if (!existing.includes(id)) await createAccount(databaseUrl, id)
  const tokens: Partial<Record<CallerName, string>> = {}
  for (const [name, merchantAccountIds] of Object.entries(callers)) {
    const { privateKeyPem } = await createKeyPair(databaseUrl, { merchantAccountIds: [...merchantAccountIds] })
    // Of the longest life that there is, for the long form.
    tokens[name as CallerName] = await signToken({ privateKeyPem, lifetimeSeconds: 24 * 60 * 60 })
  }
  return { ...createAsk(apiUrl, tokens as Record<CallerName, string>), run }
}
