import { testNumbers } from '../../cards/test-numbers.ts'
import type { AccountUpdate, AccountUpdater } from '../account-updater.ts'

/**
 * The sandbox's account updater answers by the month in which the card expires, so that a test can choose:
 * 01 a new number and date, 02 a new date only, 03 the account is closed, 04 the scheme fails, any other nothing new.
 */
export const sandboxAccountUpdater: AccountUpdater = {
  async lookUp({ number, expirationDate, scheme }): Promise<AccountUpdate> {
    const [month = '', year = ''] = expirationDate.split('/')
    const later = `${month}/${String((Number(year) + 4) % 100).padStart(2, '0')}`
    switch (month) {
      case '01': {
        const other = testNumbers.find((entry) => entry.scheme === scheme && entry.number !== number)
        return other ? { result: 'updated', number: other.number, expirationDate: later } : { result: 'unchanged' }
      }
      case '02':
        return { result: 'updated', expirationDate: later }
      case '03':
        return { result: 'closed' }
      case '04':
        return { result: 'failed', errorCode: 'service_error' }
      default:
        return { result: 'unchanged' }
    }
  },
}
