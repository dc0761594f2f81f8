export interface Finding {
  check: string
  status: 'ok' | 'warning' | 'problem' | 'skipped'
  /** What was found. */
  message: string
  /** What it leads to when nobody mends it. */
  why?: string
  /** What to do about it. */
  fix?: string
}

export const ok = (check: string, message: string): Finding => ({ check, status: 'ok', message })
export const skipped = (check: string, message: string): Finding => ({ check, status: 'skipped', message })

interface Explanation {
  message: string
  why: string
  fix: string
}

/** Something does not work, or will not when it is needed. */
export const problem = (check: string, explanation: Explanation): Finding => ({
  check,
  status: 'problem',
  ...explanation,
})

/** It works, and somebody should look at it. */
export const warning = (check: string, explanation: Explanation): Finding => ({
  check,
  status: 'warning',
  ...explanation,
})
