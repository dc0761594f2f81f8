import { randomBytes } from 'node:crypto'
import { createAPIKeyPair, loadSigningKey } from '../../areas/api-key-pairs/operations.ts'
import { createMerchantAccount, merchantAccountExists } from '../../areas/merchant-accounts/operations.ts'
import { createGiftCardService } from '../../areas/gift-card-services/operations/services.ts'
import { createPaymentService } from '../../areas/payment-services/operations/change.ts'
import { createConnectors, createGiftCards } from '../../connectors/registry.ts'
import { mockGiftCardDefinition } from '../../connectors/sandbox/mock-gift-card/definition.ts'
import type { Context } from '../../context.ts'
import { connectVault } from '../../vault/client.ts'
import { commandLineContext } from '../command-line-context.ts'
import { withDatabase } from '../database-url.ts'
import { type devFiles, readIfPresent, writeSecretFile } from '../dev-folder.ts'
import { findRoleIds } from '../role-ids.ts'

type DevFiles = ReturnType<typeof devFiles>

export const merchantAccountId = 'default'

export interface DevKeyPair {
  id: string
  thumbprint: string
  privateKeyPem: string
}

/** The merchant account with a provider that takes its payments, and the kept key pair as long as this database knows it; else a new one. */
export async function prepareIdentity(apiUrl: string, vaultUrl: string, files: DevFiles): Promise<DevKeyPair> {
  return await withDatabase(apiUrl, async (db) => {
    const ctx = commandLineContext(db, 'florin dev')
    if (!(await merchantAccountExists(db, merchantAccountId))) {
      await createMerchantAccount(ctx, { id: merchantAccountId, display_name: 'Default' })
      await addPaymentServices(ctx)
      await addGiftCardService(ctx, vaultUrl)
    }
    const kept = await readKeptKeyPair(files)
    if (kept && (await loadSigningKey(db, kept.thumbprint))?.active) return kept
    return await makeKeyPair(ctx)
  })
}

/** The sandbox's providers with all they can do, so that the first payment needs no preparation. */
async function addPaymentServices(ctx: Context): Promise<void> {
  const connectors = createConnectors({ environment: 'sandbox', db: ctx.db, now: ctx.now })
  const inAccount = { ...ctx, connectors, accounts: [merchantAccountId] }
  for (const { definition } of connectors.values()) {
    await createPaymentService(inAccount, {
      display_name: definition.display_name,
      payment_service_definition_id: definition.id,
      fields: [{ key: 'merchant_id', value: 'florin-dev' }],
      accepted_currencies: [...definition.supported_currencies],
      accepted_countries: [...definition.supported_countries],
      three_d_secure_enabled: definition.supported_features.three_d_secure_hosted,
      settlement_reporting_enabled: definition.supported_features.settlement_reporting,
    })
  }
}

/** The same for gift cards; the key of its provider goes to the vault. */
async function addGiftCardService(ctx: Context, vaultUrl: string): Promise<void> {
  const giftCards = createGiftCards({ environment: 'sandbox', db: ctx.db, now: ctx.now })
  const vault = connectVault({ url: vaultUrl })
  try {
    await createGiftCardService(
      { ...ctx, giftCards, vault, accounts: [merchantAccountId] },
      {
        display_name: mockGiftCardDefinition.display_name,
        gift_card_service_definition_id: mockGiftCardDefinition.id,
        fields: [{ key: 'api_key', value: 'florin-dev' }],
      },
    )
  } finally {
    await vault.close()
  }
}

async function readKeptKeyPair(files: DevFiles): Promise<DevKeyPair | undefined> {
  const [description, privateKeyPem] = await Promise.all([
    readIfPresent(files.keyPair),
    readIfPresent(files.privateKey),
  ])
  if (description === undefined || privateKeyPem === undefined) return undefined
  return { ...(JSON.parse(description) as { id: string; thumbprint: string }), privateKeyPem }
}

async function makeKeyPair(ctx: Context): Promise<DevKeyPair> {
  const { id, thumbprint, private_key } = await createAPIKeyPair(ctx, {
    display_name: 'florin dev',
    role_ids: await findRoleIds(ctx, ['full-access']),
  })
  return { id, thumbprint, privateKeyPem: private_key ?? '' }
}

export async function keepKeyPair({ id, thumbprint, privateKeyPem }: DevKeyPair, files: DevFiles): Promise<void> {
  await writeSecretFile(files.privateKey, privateKeyPem)
  await writeSecretFile(files.keyPair, `${JSON.stringify({ id, thumbprint })}\n`)
}

/** Page cursors that clients hold stay valid over a restart. */
export async function keptCursorKeys(files: DevFiles): Promise<string> {
  const kept = await readIfPresent(files.cursorKeys)
  if (kept !== undefined) return kept.trim()
  const fresh = newCursorKeys()
  await writeSecretFile(files.cursorKeys, `${fresh}\n`)
  return fresh
}

/** Wraps the vault's keys: without it the stored cards of this folder are lost. */
export async function keepVaultKey(files: DevFiles): Promise<void> {
  if ((await readIfPresent(files.vaultKey)) === undefined) await writeSecretFile(files.vaultKey, `${newCursorKeys()}\n`)
}

export const newCursorKeys = () => randomBytes(32).toString('base64')
