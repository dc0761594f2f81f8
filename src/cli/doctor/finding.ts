export interface Finding {
  check: string
  status: 'ok' | 'problem' | 'skipped'
  message: string
  /** What to do about a problem. */
  fix?: string
}

export const ok = (check: string, message: string): Finding => ({ check, status: 'ok', message })
export const skipped = (check: string, message: string): Finding => ({ check, status: 'skipped', message })
export const problem = (check: string, message: string, fix: string): Finding => ({
  check,
  status: 'problem',
  message,
  fix,
})
