import type { Problem } from './sourcing.ts'

/** What payments and payment methods have in common whose buyers are sent away: how long they may take, and where they come back to. */

const minute = 60_000
export const usualWindowMs = 30 * minute
export const longestWindowMs = 24 * 60 * minute

const neverReturnTo = ['javascript:', 'data:', 'vbscript:', 'file:', 'blob:', 'about:']

/** An address of an app is fine; what a browser would run or open by itself is not. */
export function redirectProblems(url: string | null | undefined, pointer: string): Problem[] {
  if (!url || (URL.canParse(url) && !neverReturnTo.includes(new URL(url).protocol))) return []
  return [
    { pointer, type: 'value_error.unsupported', message: 'Must be an address that a browser or an app can go to' },
  ]
}

/** The merchant's page, told how it went. */
export function returnAddress(redirectUrl: string, told: Readonly<Record<string, string>>): string {
  const url = new URL(redirectUrl)
  for (const [name, value] of Object.entries(told)) url.searchParams.set(name, value)
  return url.href
}
