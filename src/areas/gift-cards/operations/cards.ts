import type { GiftCardToCharge } from '../../../connectors/gift-card.ts'
import { accountOf, type Context } from '../../../context.ts'
import { speaksFor } from '../../../embed.ts'
import type { ErrorDetail } from '../../../errors.ts'
import { giftCardNumberField, type SecretReference } from '../../../vault/client.ts'
import { partsOf, problem } from '../rules.ts'
import { addUses, findExisting, findRows, type GiftCardRow } from '../store/cards.ts'

export { type GiftCardRow, partsOf }

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

/** A card that a request names: one that is stored, or one as its buyer has typed it. */
export type NamedCard = { row: GiftCardRow; card?: never } | { row?: never; card: GiftCardToCharge }

interface CardReference {
  id?: string | undefined
  number?: string | undefined
  pin?: string | undefined
}

/** Finds the cards of a list, in its order, and what is wrong with the list. With problems some cards are missing. */
export async function nameCards(
  ctx: Pick<Context, 'db' | 'accounts' | 'vault' | 'caller' | 'maxGiftCards'>,
  items: readonly CardReference[],
  at: string,
): Promise<{ cards: NamedCard[]; problems: ErrorDetail[] }> {
  if (items.length > ctx.maxGiftCards) {
    return { cards: [], problems: [problem(at, 'length', `Must have at most ${ctx.maxGiftCards} items`)] }
  }
  const misshapen = items.flatMap((item, index) => shapeProblems(item, `${at}/${index}`))
  if (misshapen.length > 0) return { cards: [], problems: misshapen }
  const [rows, typed] = await Promise.all([
    findGiftCards(
      ctx,
      items.flatMap(({ id }) => id ?? []),
    ),
    Promise.all(
      items.map(async ({ number, pin }) => (number && pin ? await fingerprinted(ctx, { number, pin }) : undefined)),
    ),
  ])
  const problems: ErrorDetail[] = []
  const seen = new Set<string>()
  const cards = items.flatMap(({ id }, index): NamedCard[] => {
    const card = typed[index]
    // A browser's token is good for the cards of its own buyer.
    const row = rows.find((one) => one.id === id && speaksFor(ctx.caller, one.buyer_id))
    const fingerprint = (card ?? row)?.fingerprint
    const pointer = `${at}/${index}/${card ? 'number' : 'id'}`
    if (fingerprint === undefined) problems.push(problem(pointer, 'unknown', 'There is no such gift card'))
    else if (seen.has(fingerprint)) problems.push(problem(pointer, 'conflict', 'The card is in the list already'))
    else seen.add(fingerprint)
    return card ? [{ card }] : row ? [{ row }] : []
  })
  return { cards, problems }
}

function shapeProblems(item: CardReference, at: string): ErrorDetail[] {
  const typed = (['number', 'pin'] as const).filter((name) => item[name] !== undefined)
  if (item.id !== undefined) {
    return typed.map((name) => problem(`${at}/${name}`, 'conflict', 'A stored card is named by its id alone'))
  }
  if (typed.length === 0) return [problem(at, 'missing', 'Name a stored card by its id, another by number and pin')]
  return (['number', 'pin'] as const)
    .filter((name) => item[name] === undefined)
    .map((name) => problem(`${at}/${name}`, 'missing', 'This field is required'))
}

export async function fingerprinted<Pin extends string | null>(
  { vault }: Pick<Context, 'vault'>,
  { number, pin }: { number: string; pin: Pin },
): Promise<{ number: string; pin: Pin; fingerprint: string }> {
  return { number, pin, fingerprint: await vault.fingerprintGiftCard(number) }
}

export const storeNumber = (
  { vault }: Pick<Context, 'vault'>,
  reference: SecretReference,
  { number, pin }: { number: string; pin: string },
): Promise<void> => vault.storeSecrets(reference, { [giftCardNumberField]: number, [pinField]: pin })

/** What the caller asked for is done; a vault that does not answer now is cleaned up by the sweep. */
export async function forgetNumbers(
  { vault, log }: Pick<Context, 'vault' | 'log'>,
  references: readonly SecretReference[],
): Promise<void> {
  try {
    await vault.remove(references)
  } catch (error) {
    log.warn('numbers of gift cards stay in the vault until the sweep', { count: references.length, error })
  }
}

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
