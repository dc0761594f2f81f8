import { newId } from '../src/ids.ts'

export interface Redeemed {
  gift_card_id: string | null
  last4: string
  status: 'created' | 'succeeded' | 'failed' | 'skipped'
}

/** Rows of `gift_card_redemptions` that say no more than a transaction is found by. */
export const redemptionRows = (
  transaction: { merchant_account_id: string; id: string; created_at: number },
  redemptions: readonly Redeemed[],
) =>
  redemptions.map((redemption, index) => ({
    merchant_account_id: transaction.merchant_account_id,
    transaction_id: transaction.id,
    id: newId(),
    position: index + 1,
    gift_card_service_id: '01950500-0000-7000-8000-000000000000',
    ...redemption,
    fingerprint: '',
    bin: '',
    sub_bin: '',
    amount: 1,
    reversed: false,
    created_at: new Date(transaction.created_at),
    updated_at: new Date(transaction.created_at),
  }))

type Run = (text: string, values?: unknown[]) => Promise<unknown>

/** Writes them for a payment of the account `default`. */
export async function redeem(run: Run, id: string, redemptions: readonly Redeemed[]): Promise<void> {
  const rows = redemptionRows({ merchant_account_id: 'default', id, created_at: Date.now() }, redemptions)
  await run(
    'insert into gift_card_redemptions select * from json_populate_recordset(null::gift_card_redemptions, $1::json)',
    [JSON.stringify(rows)],
  )
}
