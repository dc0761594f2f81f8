import { setTimeout as sleep } from 'node:timers/promises'
import type { AntiFraudAnswer, AntiFraudConnector } from '../anti-fraud.ts'

/** What the local part of the buyer's e-mail address makes it say; docs/sandbox.md shows it. */
export const antiFraudWords = {
  accept: 'The payment goes on',
  reject: 'Declined with `suspected_fraud`; no payment service is asked',
  review: 'The payment goes on; once it is approved, `pending_review` is true until somebody has looked at it',
  error: 'The provider fails: `error`, and the payment goes on',
  timeout: 'The provider does not answer in time: `exception`, and the payment goes on',
  unavailable:
    'The provider says that it cannot decide: `skipped` with an error in the timeline, and the payment goes on',
} as const

const isWord = (text: string): text is keyof typeof antiFraudWords => Object.hasOwn(antiFraudWords, text)

/** An anti-fraud provider as another company would run it. */
export const mockAntiFraud: AntiFraudConnector = {
  id: 'mock-anti-fraud',
  isSimulated: true,
  async decide({ buyer: { emailAddress }, signal }): Promise<AntiFraudAnswer> {
    if (emailAddress === null) return { decision: 'skipped' }
    const word = emailAddress.slice(0, emailAddress.lastIndexOf('@')).toLowerCase()
    switch (isWord(word) ? word : 'accept') {
      case 'accept':
        return { decision: 'accept' }
      case 'reject':
        return { decision: 'reject' }
      case 'review':
        return { decision: 'review' }
      case 'error':
        throw new Error('the sandbox was asked to fail')
      case 'timeout':
        await sleep(longestMs, undefined, { signal, ref: false })
        return { decision: 'accept' }
      case 'unavailable':
        return { decision: 'skipped', fault: 'unavailable' }
    }
  },
}

/** Longer than anybody waits. */
const longestMs = 60_000
