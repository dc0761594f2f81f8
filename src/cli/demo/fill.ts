import { createLane, type Lane, type LaneOptions } from './lane.ts'
import { type Customer, planShop, type ShopOptions, type Story } from './plan.ts'
import { startReceiver } from './receiver.ts'
import { createRhythm } from './rhythm.ts'
import { beginEnrolment, openShop } from './shop.ts'
import { register, type ShownTransaction, type StoredCustomer, tell } from './tell.ts'

export interface FillOptions extends ShopOptions, LaneOptions {
  /** Where the days end. */
  now: number
  /** How long to wait for webhooks to arrive. */
  webhookPatienceMs: number
  signal: AbortSignal
  onProgress: (done: number) => void
}

export interface Filled {
  transactions: number
  buyers: number
  paymentMethods: number
  giftCards: number
  byStatus: Record<string, number>
  byCurrency: Record<string, { captured: number; refunded: number }>
  settled: number
  disputed: number
  /** Webhooks that arrived. */
  webhooks: number
}

/** Payments at once. */
const laneCount = 8
const registerMs = 4 * 60_000
/** Webhooks are told of the last payments only: they are about today. */
const toldOf = (transactions: number) => Math.max(15, Math.round(transactions / 40))

/** The shop in its account, payment by payment. Stops early when it is asked to, and answers what is there. */
export async function fillShop(options: FillOptions): Promise<Filled> {
  const { now, days, account, signal } = options
  const stories = planShop(options)
  const timeOf = createRhythm(now, days)
  const startOf = ({ begins }: Story) => ('share' in begins ? timeOf(begins.share) : now - begins.agoMs)
  const filled = nothing()
  const real = createLane(options)
  const opening = createLane(options)
  opening.begin(startOf(stories[0] as Story) - 60 * registerMs)
  await openShop(opening.ctx, account)

  const customers = createCustomers(filled)
  const perform = (part: readonly Story[]) =>
    inLanes(part, signal, options, async (lane, story) => {
      const start = startOf(story)
      const outcome = await customers.inTurn(lane, story, start, (stored) => {
        lane.begin(start)
        return tell(lane, story, stored, { start, now })
      })
      count(filled, story, outcome)
      options.onProgress(filled.transactions)
    })
  const toldFrom = stories.length - toldOf(stories.length)
  await perform(stories.slice(0, toldFrom))
  if (signal.aborted) return filled
  const receiver = await startReceiver(real.ctx)
  try {
    await perform(stories.slice(toldFrom))
    if (signal.aborted) return filled
    await beginEnrolment(real.ctx)
    filled.paymentMethods += 1
    await receiver.settle(options.webhookPatienceMs)
  } finally {
    filled.webhooks = await receiver.close()
  }
  return filled
}

/** Several at once, begun in their order. When one fails, no other is begun. */
async function inLanes(
  stories: readonly Story[],
  signal: AbortSignal,
  options: LaneOptions,
  work: (lane: Lane, story: Story) => Promise<void>,
): Promise<void> {
  const left = stories.values()
  let isFailed = false
  const results = await Promise.allSettled(
    Array.from({ length: laneCount }, async () => {
      const lane = createLane(options)
      for (const story of left) {
        if (signal.aborted || isFailed) return
        await work(lane, story).catch((error: unknown) => {
          isFailed = true
          throw error
        })
      }
    }),
  )
  const failed = results.find((result) => result.status === 'rejected')
  if (failed) throw failed.reason
}

/** Registers people when they first order, and has one order of theirs at a time: the later one may need what the earlier one left. */
function createCustomers(filled: Filled) {
  const known = new Map<Customer, StoredCustomer>()
  const turns = new Map<Customer, Promise<unknown>>()

  async function storedOf(lane: Lane, customer: Customer, start: number): Promise<StoredCustomer> {
    const found = known.get(customer)
    if (found) return found
    lane.begin(start - registerMs)
    const stored = await register(lane, customer)
    known.set(customer, stored)
    filled.buyers += 1
    if (stored.cardId) filled.paymentMethods += 1
    if (stored.giftCardId) filled.giftCards += 1
    return stored
  }

  return {
    async inTurn<Result>(
      lane: Lane,
      { customer, isGuest }: Story,
      start: number,
      work: (stored: StoredCustomer | undefined) => Promise<Result>,
    ): Promise<Result> {
      if (isGuest) return work(undefined)
      const turn = (turns.get(customer) ?? Promise.resolve()).then(async () =>
        work(await storedOf(lane, customer, start)),
      )
      turns.set(
        customer,
        turn.catch(() => undefined),
      )
      return turn
    },
  }
}

const nothing = (): Filled => ({
  transactions: 0,
  buyers: 0,
  paymentMethods: 0,
  giftCards: 0,
  byStatus: {},
  byCurrency: {},
  settled: 0,
  disputed: 0,
  webhooks: 0,
})

function count(filled: Filled, { payment }: Story, transaction: ShownTransaction): void {
  const { status, currency, captured_amount, refunded_amount, settled, disputed } = transaction
  filled.transactions += 1
  filled.byStatus[status] = (filled.byStatus[status] ?? 0) + 1
  const sums = (filled.byCurrency[currency] ??= { captured: 0, refunded: 0 })
  sums.captured += captured_amount
  sums.refunded += refunded_amount
  if (payment.store) filled.paymentMethods += 1
  if (settled) filled.settled += 1
  if (disputed) filled.disputed += 1
}
