import type { GiftCardToCharge } from '../../../connectors/gift-card.ts'
import { giftCardNumberField, type SecretReference, type Vault } from '../../../vault/client.ts'
import { accountOf, type Context } from '../../../context.ts'
import { addUses, findExisting, findRows, type GiftCardRow } from '../store.ts'

export type { GiftCardRow }

const pinField = 'gift_card_pin'

/** What is known of stored cards, in whatever order. One that was archived is gone. */
export const findGiftCards = (ctx: Pick<Context, 'db' | 'accounts'>, ids: readonly string[]): Promise<GiftCardRow[]> =>
  ids.length === 0 ? Promise.resolve([]) : findRows(ctx.db, ctx.accounts, ids)

/** The card itself, for talking to its provider. Undefined when it is gone. */
export async function readGiftCard(
  { vault }: Pick<Context, 'vault'>,
  {
    merchant_account_id: merchantAccountId,
    id,
    fingerprint,
  }: Pick<GiftCardRow, 'merchant_account_id' | 'id' | 'fingerprint'>,
): Promise<GiftCardToCharge | undefined> {
  const found = await vault.readSecrets({ merchantAccountId, id }, [giftCardNumberField, pinField])
  const { [giftCardNumberField]: number, [pinField]: pin } = found
  return number === undefined || pin === undefined ? undefined : { number, pin, fingerprint }
}

/** A card as its buyer has typed it. */
export async function fingerprinted(
  { vault }: Pick<Context, 'vault'>,
  { number, pin }: { number: string; pin: string },
): Promise<GiftCardToCharge> {
  return { number, pin, fingerprint: await vault.fingerprintGiftCard(number) }
}

export const storeNumber = (
  vault: Vault,
  reference: SecretReference,
  { number, pin }: { number: string; pin: string },
): Promise<void> => vault.storeSecrets(reference, { [giftCardNumberField]: number, [pinField]: pin })

/** Which of these owners of numbers are gift cards. */
export const findOwningGiftCards = (
  ctx: Pick<Context, 'db'>,
  references: readonly SecretReference[],
): Promise<{ merchant_account_id: string; id: string }[]> => findExisting(ctx.db, references)

/** That stored cards were used in a payment. In its transaction. */
export const countUses = (
  ctx: Pick<Context, 'db' | 'accounts'>,
  ids: readonly string[],
  use: { at: Date; isMerchants: boolean },
): Promise<void> => addUses(ctx.db, accountOf(ctx), ids, use)
