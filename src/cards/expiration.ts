/**
 * The moment after which a card with this date (`MM/YY`) is no longer good: the end of its month. Undefined when there
 * is no such month. A card names no time zone and its issuer has the last word, so all of it is in UTC: every process
 * and every database gives the same answer, at most a day off from the issuer's, who declines what we let through.
 */
export function expiresAt(expirationDate: string): Date | undefined {
  const [, month = '', year = ''] = /^(0[1-9]|1[0-2])\/(\d{2})$/.exec(expirationDate) ?? []
  // Cards live for a few years and the digits say 2000 to 2099. Months count from 0 here, so this is the month after.
  return month === '' ? undefined : new Date(Date.UTC(2000 + Number(year), Number(month), 1))
}

/** A card is good through the last millisecond of its month. A date that does not exist has passed. */
export function isExpired(expirationDate: string, now: Date): boolean {
  const end = expiresAt(expirationDate)
  return end === undefined || now >= end
}
