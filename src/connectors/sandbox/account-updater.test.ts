import { expect, test } from 'vitest'
import { forcingNumbers, testNumbers } from '../../cards/test-numbers.ts'
import { sandboxAccountUpdater } from './account-updater.ts'

test('a new number is a good one: none that forces an outcome at the card processor', async () => {
  for (const { number, scheme } of [...testNumbers, ...forcingNumbers]) {
    const update = await sandboxAccountUpdater.lookUp({ number, scheme, expirationDate: '01/30' })
    if (update.result !== 'updated') continue
    expect(update.number).not.toBe(number)
    expect(testNumbers.map((entry) => entry.number)).toContain(update.number)
  }
})
