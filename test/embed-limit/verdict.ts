/** What was answered to those who are limited, and whether that keeps the promise. */

export interface Answered {
  /** In milliseconds, by the clock of whoever sent it. */
  sentAt: number
  receivedAt: number
  status: number
  retryAfter: string | undefined
}

export interface Promised {
  limit: number
  /** One more or less is forgiven. */
  slack: number
  windowMs: number
}

export interface Verdict {
  sent: number
  allowed: number
  refused: number
  /** Allowed within the first window. */
  first_window: number
  /** The most that were allowed within one window for sure: sent and answered in it. */
  most_in_a_window: number
  /** The fewest that could have been a reason for a refusal: allowed within the window before it, if anywhere. */
  fewest_before_a_refusal: number | null
  problems: string[]
}

const isRefused = ({ status }: Answered) => status === 429

export function judge(answers: readonly Answered[], { limit, slack, windowMs }: Promised): Verdict {
  const allowed = answers.filter((answer) => !isRefused(answer))
  const refused = answers.filter(isRefused)
  const start = Math.min(...answers.map(({ sentAt }) => sentAt))
  const within = (from: number) =>
    allowed.filter(({ sentAt, receivedAt }) => sentAt >= from && receivedAt <= from + windowMs).length
  const most = Math.max(0, ...allowed.map(({ sentAt }) => within(sentAt)))
  const fewest = refused.length === 0 ? null : Math.min(...refused.map((answer) => reasons(answer, allowed, windowMs)))
  const mute = refused.filter(({ retryAfter }) => !isWait(retryAfter, windowMs)).length
  const problems: string[] = []
  if (most > limit + slack) problems.push(`${most} were allowed within one window`)
  if (fewest !== null && fewest < limit - slack) problems.push(`one was refused after ${fewest}`)
  if (mute > 0) problems.push(`${mute} refusals without a Retry-After of whole seconds`)
  return {
    sent: answers.length,
    allowed: allowed.length,
    refused: refused.length,
    first_window: within(start),
    most_in_a_window: most,
    fewest_before_a_refusal: fewest,
    problems,
  }
}

const reasons = ({ sentAt, receivedAt }: Answered, allowed: readonly Answered[], windowMs: number) =>
  allowed.filter((other) => other.sentAt <= receivedAt && other.receivedAt >= sentAt - windowMs).length

const isWait = (text: string | undefined, windowMs: number) =>
  text !== undefined && /^[1-9]\d*$/.test(text) && Number(text) <= windowMs / 1000 + 1
